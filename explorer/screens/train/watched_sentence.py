"""The watched sentence of a run: the attention of all heads in it, updated at each evaluation."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from explorer.browser.film import film_view
from explorer.browser.film_payload import Film, Frame
from explorer.byte_cache import cached
from explorer.decoding.captions import head_caption
from explorer.decoding.examples import examples_of
from explorer.decoding.map_tables import head_table
from explorer.decoding.names import name_in_kind
from explorer.locale.text import plain, quoted, why
from explorer.runs.lifecycle import MAX_PROBE_TEXT, Runs
from explorer.runs.process import RunError
from explorer.web.attention_kind import choose_kind
from model.folder import PROBE_ANSWER, CheckpointError
from model.trace import AttentionTrace, TraceError

MAX_TRACE_BYTES = 64 * 1024**2
_REFUSED = "_probe_refused"


def draw_sentence(runs: Runs, name: str, *, watching: bool) -> None:
    """The field for the watched sentence, which only an active run reads."""
    st.markdown("##### What its heads look at")
    if not runs.folder(name).is_dir():
        st.caption("The heads appear here as soon as the run has started.")
        return
    key = f"probe_text_{name}"
    asked = runs.watched(name)
    if not asked and watching:
        asked = _suggestion(runs, name)
        if asked:
            _ask(runs, name, asked)
    if not watching:
        if asked:
            st.caption(plain(f"The watched sentence was: {asked}"))
        return
    seen = f"_{key}_seen"
    if key not in st.session_state or st.session_state.get(seen) != asked:
        # Another session may have chosen another sentence: the field shows the one that is drawn below.
        st.session_state[key] = asked
        st.session_state[seen] = asked
    st.text_input(
        "Sentence to watch",
        key=key,
        persist_state="session",
        max_chars=MAX_PROBE_TEXT,
        placeholder="Type a sentence and press Enter",
        help="It is translated at each evaluation, and the attention of every head is shown below.",
        on_change=_watch,
        args=(runs, name, key),
    )
    if refused := st.session_state.pop(_REFUSED, ""):
        st.error(plain(refused))


def _watch(runs: Runs, name: str, key: str) -> None:
    text = str(st.session_state[key]).strip()
    if text and runs.folder(name).is_dir():
        _ask(runs, name, text)


def _ask(runs: Runs, name: str, text: str) -> None:
    try:
        runs.watch(name, text)
    except (RunError, OSError) as refused:
        st.session_state[_REFUSED] = why(refused)


def _suggestion(runs: Runs, name: str) -> str:
    entry = runs.entry(name)
    examples = examples_of(entry.summary) if entry is not None and entry.summary.get("task") else ()
    return examples[0].source if examples else ""


def draw_heads(runs: Runs, name: str) -> None:
    """The attention of every head in the watched sentence at the last evaluation."""
    if not runs.folder(name).is_dir():
        return
    status, path = runs.peek(name), runs.folder(name) / PROBE_ANSWER
    trace = _read(path)
    if status is None or trace is None:
        st.caption("The heads appear here after the first evaluation.")
        return
    step = status.probe_step or status.step
    kind = choose_kind("probe_kind")
    frame = Frame.of(trace, kind, step)
    layers, heads = frame.weights.shape[:2]
    film = Film(f"{name} {kind} {layers} {heads}", kind, (frame,), layer=layers)
    place = film_view(film, key="probe_film")
    weights = frame.weights[place.layer - 1, place.head - 1]
    answer = translation_text(trace)
    name = name_in_kind(place.layer, place.head).capitalize()
    looks = head_caption(weights, frame.rows, frame.columns, causal=kind == "decoder")
    answer = quoted(answer) if answer else "(nothing)"
    st.caption(plain(f"At step {step:,} the model answers {answer}. {name}: {looks}"))
    table = st.expander("This head as a table", on_change="rerun", key="probe_table")
    if table.open:
        table.dataframe(head_table(weights, frame.rows, frame.columns, frame.predicted), hide_index=True)


def translation_text(trace: AttentionTrace) -> str:
    """The decoded translation as text: tokens of one word joined, words separated by spaces."""
    text, before = "", -1
    for token, word in zip(trace.predicted_tokens, (*trace.tgt_words[1:], -1), strict=True):
        if token != "<eos>":
            text += token if word == before or not text else f" {token}"
        before = word
    return text


def _read(path: Path) -> AttentionTrace | None:
    """The trace of the last evaluation; None while there is none, or it cannot be read."""
    try:
        status = path.stat()
        if status.st_size > MAX_TRACE_BYTES:
            return None
        return _trace(str(path), status.st_mtime_ns, status.st_size)
    except (OSError, TraceError, CheckpointError):
        return None


@cached
def _trace(path: str, changed: int, size: int) -> AttentionTrace:
    del changed, size  # parts of the key only
    return AttentionTrace.load_npz(path)
