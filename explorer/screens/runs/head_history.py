"""Watch heads form: a sentence's attention at every snapshot of a run, and what single heads are good at there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.attention.captions import head_caption
from explorer.attention.map_tables import head_table
from explorer.components.film import Film, Frame, Place, film_view, place_of
from explorer.figures.head_scores_over_training import head_figure, head_rows
from explorer.figures.training_curves import loss_figure
from explorer.runs.lifecycle import Entry, Runs
from explorer.text import plain
from explorer.translation.examples import examples_of
from explorer.translation.translator import InputError
from explorer.web import runtime
from explorer.web.attention_kind import choose_kind
from explorer.web.figures import draw_figure
from explorer.web.run_metrics import metrics_of
from model.checkpoint import snapshot_steps
from model.config import AttentionKind, DecodeConfig
from model.folder import CheckpointError

if TYPE_CHECKING:
    from explorer.runs.head_history import HeadScores, Moment

MAX_TEXT = 200
SCORES = {"aligned": "Looks at the right source token", "spread": "Looks widely (entropy)"}


def draw_heads(runs: Runs, entry: Entry) -> None:
    """The whole view for one run or model."""
    if entry.problem:
        st.warning(plain(entry.problem))
        return
    kept = snapshot_steps(runs.folder(entry.name))
    if len(kept) < 2:
        st.info(
            "This model has no snapshots of its weights along the way, so there is nothing to watch. A run that is "
            "trained here keeps up to 16 of them."
        )
        return
    prompts = examples_of(entry.summary)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    key = f"film_text_{entry.name}"
    if key not in st.session_state:
        st.session_state[key] = prompts[0].source if prompts else ""
    text = left.text_input("Sentence", key=key, persist_state="session", max_chars=MAX_TEXT) or ""
    with right:
        kind = choose_kind("film_kind", persist_state="session")
    try:
        moments = _moments(runs, entry.name, text, tuple(kept))
    except (InputError, CheckpointError) as unfit:
        st.info(plain(str(unfit)))
        return
    st.fragment(_film)(runs, entry.name, kind, moments)


def _film(runs: Runs, name: str, kind: AttentionKind, moments: list[Moment]) -> None:
    """The film and what goes with the place in it; moving through it runs only this part again."""
    measured = _scores(runs, name, tuple(moment.step for moment in moments))
    frames = tuple(Frame.of(moment.trace, kind, moment.step) for moment in moments)
    layers = frames[0].weights.shape[0]
    tokens = moments[-1].trace
    seq = f"{name} {kind} {' '.join(tokens.src_tokens)} {' '.join(tokens.predicted_tokens)} {len(frames)}"
    layer, head = _interesting(measured, kind) if measured else (layers, 1)
    film = Film(seq, kind, frames, frame=len(frames) - 1, layer=layer, head=head)
    key = f"film_{name}"
    film_view(film, key=key)
    place = place_of(film, key=key)
    moment, frame = moments[place.frame], frames[place.frame]
    weights = frame.weights[place.layer - 1, place.head - 1]
    st.caption(
        plain(
            f"Step {moment.step:,}, layer {place.layer}, head {place.head}. "
            f"{head_caption(weights, frame.rows, frame.columns, causal=kind == 'decoder')} "
            f"By itself the model answers at this step: {moment.own_text or '(nothing)'}."
        )
    )
    with st.expander("This head at this step as a table"):
        st.dataframe(head_table(weights, frame.rows, frame.columns, frame.predicted), hide_index=True)
    _curves(runs, name, kind, tuple(moment.step for moment in moments), measured, place)
    st.caption(
        "The rows are the final model's answer at every step, so that they can be compared. A head that looks at the "
        "right place is not yet a proof that the model uses what it finds there: switching it off would tell."
    )


def _curves(
    runs: Runs,
    name: str,
    kind: AttentionKind,
    steps: tuple[int, ...],
    measured: list[HeadScores],
    place: Place,
) -> None:
    """One score of every head over the snapshots, beside the loss."""
    left, right = st.columns(2, gap="large")
    mark = steps[place.frame]
    with left:
        if measured:
            _score_curves(kind, measured, place, mark)
        else:
            st.caption("What single heads do is measured on validation sentences, and those are not at hand here.")
    with right:
        draw_figure(loss_figure(metrics_of(runs, name), mark=mark))


def _score_curves(kind: AttentionKind, measured: list[HeadScores], place: Place, mark: int) -> None:
    figure = st.container()  # the switch stands below, so that both curves begin at one height
    options = list(SCORES) if kind == "cross" and measured[0].aligned is not None else ["spread"]
    score = st.segmented_control(
        "Score of heads",
        options,
        default=options[0],
        required=True,
        format_func=SCORES.__getitem__,
        key=f"film_score_{len(options)}",
        label_visibility="collapsed",
    )
    score = score or options[0]
    values = {found.step: _values(found, kind, score) for found in measured}
    with figure:
        draw_figure(head_figure(values, place.layer, place.head, mark, SCORES[score]))
    st.caption(_meaning(score, measured[0].n_sentences))
    with st.expander("All heads as a table"):
        st.dataframe(head_rows(values), hide_index=True)


def _interesting(measured: list[HeadScores], kind: AttentionKind) -> tuple[int, int]:
    """Layer and head, from 1, to begin with: the best aligned in the end, otherwise the most pointed."""
    last = measured[-1]
    score = last.aligned if kind == "cross" and last.aligned is not None else -last.spread[kind]
    layer, head = np.unravel_index(int(score.argmax()), score.shape)
    return int(layer) + 1, int(head) + 1


def _values(found: HeadScores, kind: AttentionKind, score: str) -> NDArray[np.float64]:
    return found.aligned if score == "aligned" and found.aligned is not None else found.spread[kind]


def _meaning(score: str, n_sentences: int) -> str:
    if score == "aligned":
        return (
            f"The weight on the source tokens that the next target token is made of (alignment score), as a mean over "
            f"{n_sentences} validation sentences with known alignment. Grey lines are the other heads."
        )
    return (
        f"0 %: every row looks at one token; 100 %: at all alike (entropy over its highest value). A mean over "
        f"{n_sentences} validation sentences, without rows that see only one token. Grey lines are the other heads."
    )


def _moments(runs: Runs, name: str, text: str, kept: tuple[int, ...]) -> list[Moment]:
    """Every snapshot at work on the sentence.

    Raises:
        InputError: there is nothing to translate. CheckpointError: the model or a snapshot cannot be opened.
    """
    from explorer.runs import head_history

    final = runtime.translate(name, text, DecodeConfig())
    folder, found = runs.folder(name), []
    bar = st.empty()
    for done, step in enumerate(kept):
        found.append(_moment(str(folder), step, head_history.stamp(folder, step), final.source.text, final.path))
        if done + 1 < len(kept):
            bar.progress((done + 1) / len(kept), text=f"Looking at snapshot {done + 1} of {len(kept)} …")
    bar.empty()
    return found


@st.cache_resource(max_entries=256, show_spinner=False)
def _moment(folder: str, step: int, stamp: str, text: str, path: tuple[int, ...]) -> Moment:
    from pathlib import Path

    from explorer.runs import head_history

    del stamp  # part of the key only
    with runtime.snapshot_turn():
        return head_history.moment(head_history.load_snapshot(Path(folder), step), step, text, path)


def _scores(runs: Runs, name: str, steps: tuple[int, ...]) -> list[HeadScores]:
    from explorer.runs import head_history

    folder = runs.folder(name)
    try:
        return _measured(str(folder), tuple(head_history.stamp(folder, step) for step in steps), steps)
    except CheckpointError:
        return []


@st.cache_resource(max_entries=32, show_spinner="Measuring every head at every snapshot …")
def _measured(folder: str, stamps: tuple[str, ...], steps: tuple[int, ...]) -> list[HeadScores]:
    from pathlib import Path

    from explorer.runs import head_history

    del stamps  # part of the key only
    found, examples = [], None
    for step in steps:
        with runtime.snapshot_turn():
            loaded = head_history.load_snapshot(Path(folder), step)
            examples = head_history.sample(loaded) if examples is None else examples
            if not examples:
                return []
            found.append(head_history.head_scores(loaded, step, examples))
    return found
