"""Watch heads form: the attention in a sentence at every snapshot of a run, and scores of single heads there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from explorer.browser.film import film_view, place_of
from explorer.browser.film_payload import Film, Frame, Place
from explorer.byte_cache import cached
from explorer.charts.head_scores_over_training import head_figure, head_rows
from explorer.charts.training_curves import loss_figure
from explorer.decoding.captions import head_caption
from explorer.decoding.examples import examples_of
from explorer.decoding.map_tables import head_table
from explorer.decoding.names import name_in_kind
from explorer.decoding.translator import InputError
from explorer.locale.text import plain, quoted
from explorer.runs.lifecycle import Entry, Runs
from explorer.web import runtime
from explorer.web.attention_kind import choose_kind
from explorer.web.faults import contained
from explorer.web.figures import draw_figure, draw_table
from explorer.web.run_metrics import metrics_of
from model.checkpoint import snapshot_steps
from model.config import AttentionKind, DecodeConfig
from model.folder import CheckpointError

if TYPE_CHECKING:
    from explorer.runs.head_history import HeadScores, Moment, ScoreName

MAX_TEXT = 200
SCORE_LABELS: dict[ScoreName, str] = {
    "aligned": "Looks at the right source token",
    "normalised_entropy": "Looks widely (entropy)",
}


def draw_heads(runs: Runs, entry: Entry) -> None:
    """The whole view for one run or model."""
    if entry.problem:
        st.warning(plain(entry.problem))
        return
    steps = snapshot_steps(runs.folder(entry.name))
    if len(steps) < 2:
        st.info(
            "This model has no snapshots from its training, so there is nothing to watch. A run that is trained here "
            "keeps up to 16 of them."
        )
        return
    examples = examples_of(entry.summary)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    key = f"film_text_{entry.name}"
    if key not in st.session_state:
        st.session_state[key] = examples[0].source if examples else ""
    text = left.text_input("Sentence", key=key, persist_state="session", max_chars=MAX_TEXT) or ""
    with right:
        kind = choose_kind("film_kind", persist_state="session")
    try:
        moments = _moments(runs, entry.name, text, tuple(steps))
    except (InputError, CheckpointError) as refused:
        st.info(plain(str(refused)))
        return
    st.fragment(contained("film")(_film))(runs, entry.name, kind, moments)


def _film(runs: Runs, name: str, kind: AttentionKind, moments: list[Moment]) -> None:
    """The film, and the texts and curves for the current place in it; moving through it reruns only this part."""
    from explorer.runs.head_history import first_head

    history = _history(runs, name, tuple(moment.step for moment in moments))
    frames = tuple(Frame.of(moment.trace, kind, moment.step) for moment in moments)
    layers = frames[0].weights.shape[0]
    tokens = moments[-1].trace
    seq = f"{name} {kind} {' '.join(tokens.src_tokens)} {' '.join(tokens.predicted_tokens)} {len(frames)}"
    layer, head = first_head(history, kind) if history else (layers, 1)
    film = Film(seq, kind, frames, frame=len(frames) - 1, layer=layer, head=head)
    key = f"film_{name}"
    film_view(film, key=key)
    place = place_of(film, key=key)
    moment, frame = moments[place.frame], frames[place.frame]
    weights = frame.weights[place.layer - 1, place.head - 1]
    st.caption(
        plain(
            f"Step {moment.step:,}, {name_in_kind(place.layer, place.head)}. "
            f"{head_caption(weights, frame.rows, frame.columns, causal=kind == 'decoder')} "
            f"The model's own answer at this step: {quoted(moment.own_text) if moment.own_text else '(nothing)'}."
        )
    )
    with st.expander("This head at this step as a table"):
        draw_table(
            head_table(weights, frame.rows, frame.columns, frame.predicted),
            "Weights of this head at this step",
            file="head",
        )
    _curves(runs, name, kind, history, place, moment.step)
    st.caption(
        "At every step, the rows are the final model's answer, so that steps can be compared. A head that looks at the "
        "right place need not matter for the answer: to find out, switch it off."
    )


def _curves(runs: Runs, name: str, kind: AttentionKind, history: list[HeadScores], place: Place, step: int) -> None:
    """One score of every head over the snapshots, beside the loss."""
    left, right = st.columns(2, gap="large")
    with left:
        if history:
            _score_curves(kind, history, place, step)
        else:
            st.caption("Scores of individual heads need the validation sentences, which are not on this machine.")
    with right:
        draw_figure(loss_figure(metrics_of(runs, name), mark=step))


def _score_curves(kind: AttentionKind, history: list[HeadScores], place: Place, step: int) -> None:
    from explorer.runs.head_history import score_caption, score_names, scores_by_step

    figure = st.container()  # the switch is below it, so that both curves start at the same height
    options = score_names(history, kind)
    chosen = st.segmented_control(
        "Score of heads",
        options,
        default=options[0],
        required=True,
        format_func=SCORE_LABELS.__getitem__,
        key=f"film_score_{len(options)}",
        label_visibility="collapsed",
    )
    score = chosen or options[0]
    values = scores_by_step(history, kind, score)
    with figure:
        draw_figure(head_figure(values, place.layer, place.head, step, SCORE_LABELS[score]))
    st.caption(score_caption(score, history[0].n_sentences))
    with st.expander("All heads as a table"):
        draw_table(head_rows(values), SCORE_LABELS[score], file="heads-over-training")


def _moments(runs: Runs, name: str, text: str, steps: tuple[int, ...]) -> list[Moment]:
    """The sentence at every snapshot.

    Raises:
        InputError: there is nothing to translate. CheckpointError: the model or a snapshot cannot be opened.
    """
    from explorer.runs.head_history import stamp

    final = runtime.translate(name, text, DecodeConfig())
    folder, moments = runs.folder(name), []
    bar = st.empty()
    for done, step in enumerate(steps, start=1):
        moments.append(_moment(str(folder), step, stamp(folder, step), final.source.text, final.path))
        if done < len(steps):
            bar.progress(done / len(steps), text=f"Computing snapshot {done} of {len(steps)} …")
    bar.empty()
    return moments


@cached
def _moment(folder: str, step: int, stamp: str, text: str, path: tuple[int, ...]) -> Moment:
    from explorer.runs.head_history import load_snapshot, moment

    del stamp  # part of the key only
    with runtime.snapshot_turn():
        return moment(load_snapshot(Path(folder), step), step, text, path)


def _history(runs: Runs, name: str, steps: tuple[int, ...]) -> list[HeadScores]:
    """The scores of all heads at every snapshot; empty where they cannot be measured."""
    from explorer.runs.head_history import stamp

    folder = runs.folder(name)
    stamps = tuple(stamp(folder, step) for step in steps)
    try:
        return _measured_history(str(folder), stamps, steps)
    except CheckpointError:
        return []


@st.cache_resource(max_entries=32, show_spinner="Measuring every head at every snapshot …")
def _measured_history(folder: str, stamps: tuple[str, ...], steps: tuple[int, ...]) -> list[HeadScores]:
    from explorer.runs.head_history import head_scores, load_snapshot, validation_examples

    del stamps  # part of the key only
    history: list[HeadScores] = []
    examples = None
    for step in steps:
        with runtime.snapshot_turn():
            loaded = load_snapshot(Path(folder), step)
            examples = validation_examples(loaded) if examples is None else examples
            if not examples:
                return []
            history.append(head_scores(loaded, step, examples))
    return history
