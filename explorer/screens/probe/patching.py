"""The part Patching of the Probe page: vectors and heads of another sentence put into this one."""

from __future__ import annotations

import streamlit as st

from explorer.charts.measured_heads import layer_head_map, patch_plot
from explorer.decoding.head_change import MOST_OTHER, WORDS, Change, Kind
from explorer.decoding.translator import InputError, Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.probing.measured import Measured
from explorer.probing.patching import (
    PAIRS,
    MeanPatches,
    changed_pairs,
    mean_patches,
    most_changed_row,
    patched,
    suggested_other,
)
from explorer.screens.probe.one_head import choose_head
from explorer.screens.probe.sample_choice import Subject
from explorer.screens.probe.surgery import EFFECT_PART, SURGERY
from explorer.web import changes_in_force, page_parts
from explorer.web.figures import draw_table
from model.analysis.patching import STACKS, PatchError

LEAST_SHARE = 0.1  # of the difference: the colour scale of heads ends no earlier
_OTHER, _PROPOSED = "patching_other", "patching_proposed"


def draw_patching(subject: Subject, measured: Measured | None) -> None:
    """Draw a pair of sentences, the row to watch, the effects of single vectors, and averages over many pairs."""
    translation = subject.translation()
    if translation is None:
        return
    _draw_one_pair(subject, translation)
    fold = st.expander(
        t("Translate with one head from the other sentence"), key="patching_head_fold", on_change="rerun"
    )
    if fold.open:
        with fold:
            _draw_put_in(subject, str(st.session_state[_OTHER]).strip())
    st.markdown(t("##### Over many sentences: one token of each is replaced by a similar one"))
    if measured is None:
        st.caption(t("There is no sample to take sentences from yet."))
        return
    what, label = "mean patches", t("Patch {n} sentences", n=min(PAIRS, len(measured.sample)))
    if not subject.asked(what, label):
        return
    try:
        means = subject.measure(
            what,
            label,
            lambda loaded, report: mean_patches(loaded, changed_pairs(loaded, measured.sample, report), report),
        )
    except PatchError as nothing:
        st.info(plain(str(nothing)))
        return
    if means is not None:
        _draw_means(means)


def _draw_one_pair(subject: Subject, translation: Translation) -> None:
    """Draw the other sentence, which at first changes the answer, the row to watch, and both grids."""
    st.caption(
        t(
            "Each cell shows how the watched prediction changes if one vector comes from the other sentence and "
            "everything else stays: it changes where the vector carries the difference."
        )
    )
    proposed = subject.compute(
        f"suggested other {translation.seq}", lambda loaded: suggested_other(loaded, translation)
    )
    if st.session_state.get(_OTHER, "").strip() in ("", st.session_state.get(_PROPOSED)):  # nobody typed another one
        st.session_state[_OTHER] = st.session_state[_PROPOSED] = proposed
    left, right = st.columns([3, 2])
    other = left.text_input(
        t("The other sentence"),
        key="patching_other",
        max_chars=MOST_OTHER,
        help=t(
            "At first, one token is replaced by a similar one such that the answer changes. Type any sentence with as "
            "many tokens."
        ),
    ).strip()
    watched = subject.compute(
        f"watched row {other} {translation.seq}", lambda loaded: most_changed_row(loaded, translation, other)
    )
    row: int = right.selectbox(
        t("The prediction to watch"),
        range(len(translation.path)),
        index=watched,
        format_func=lambda row: f"{row + 1} {translation.trace.predicted_tokens[row]}",
        key=f"patching_row_{other}_{translation.seq}",
        help=t("At first, the one that changes most."),
    )
    try:
        grids = subject.compute(
            f"patching {row} {other} {translation.seq}",
            lambda loaded: patched(loaded, translation, other, row),
        )
    except (PatchError, InputError) as unfit:
        st.info(plain(str(unfit)))
        return
    for stack, column in zip(STACKS, st.columns(len(STACKS)), strict=True):
        with column:
            page_parts.draw_plot(patch_plot(grids, stack), f"patching_{stack}")


def _draw_means(means: MeanPatches) -> None:
    """Draw the mean effect of each head as maps, and of all vectors and heads as a table."""
    st.markdown(f"**{plain(means.caption())}**")
    top = max(LEAST_SHARE, *(float(item.value.max()) for item in means.heads.values()))
    for (kind, item), column in zip(means.heads.items(), st.columns(len(means.heads)), strict=True):
        with column:
            plot = layer_head_map(item.value, kind, t("share of the difference"), span=(0.0, top))
            page_parts.draw_plot(plot, f"patching_mean_{kind}", numbers=False)
    draw_table(means.rows(), means.caption(), file="patches")


def _draw_put_in(subject: Subject, other: str) -> None:
    """Draw the change of one head to its pattern or output in the other sentence, which then holds on every page."""
    kind, layer, head = choose_head(subject.model.model_config, "patching_head")
    op: Kind = st.segmented_control(
        t("Take its"),
        ["pattern", "output"],
        default="pattern",
        required=True,
        key="patching_op",
        help=t("pattern: where the head looks; it needs the same number of tokens. output: the head's result."),
    )
    st.caption(
        plain(
            t(
                "The head will be {edited}, as the model reads that sentence unchanged. The part 'Surgery' opens "
                "with the translation.",
                edited=WORDS[op],
            )
        )
    )
    change = Change(kind, layer + 1, head + 1, op, other=other)
    st.button(t("Put it in"), key="patching_do", on_click=_put_in, args=(change,))


def _put_in(change: Change) -> None:
    """Put the change in force, and open the part that shows the translation with it."""
    changes_in_force.put([change])
    st.session_state[EFFECT_PART] = SURGERY
