"""The part Patching of the Probe page: vectors and heads of another sentence put into this one."""

from __future__ import annotations

import streamlit as st

from explorer.charts.measured_heads import layer_head_map, mean_patch_plot, patch_plot
from explorer.decoding.head_change import MOST_OTHER, WORDS, Change, Kind
from explorer.decoding.translator import InputError, Translation
from explorer.locale.messages import t, translated
from explorer.locale.text import fixed, plain
from explorer.probing.measured import Measured
from explorer.probing.minimal_pairs import suggested_other
from explorer.probing.patching import (
    PAIRS,
    MeanPatches,
    changed_pairs,
    mean_patches,
    patched,
    row_changes,
)
from explorer.screens.probe.importance import half_a_minute
from explorer.screens.probe.one_head import choose_head
from explorer.screens.probe.sample_choice import Subject
from explorer.screens.probe.surgery import EFFECT_PART, SURGERY
from explorer.web import changes_in_force, page_parts
from explorer.web.figures import draw_table
from model.analysis.patching import PatchError

_OTHER, _PROPOSED = "patching_other", "patching_proposed"


def draw_patching(subject: Subject, measured: Measured | None) -> None:
    """Draw a pair of sentences, the row to watch, the effects of single vectors and heads, and averages over pairs."""
    translation = subject.translation()
    if translation is None:
        return
    other = _draw_pair(subject, translation)
    if other:
        _draw_one_pair(subject, translation, other)
        fold = st.expander(
            t("Translate with one head from the other sentence"), key="patching_head_fold", on_change="rerun"
        )
        if fold.open:
            with fold:
                _draw_put_in(subject, other)
    st.markdown(t("##### Over many pairs"))
    if measured is None:
        st.caption(t("There is no sample to take pairs from yet."))
        return
    st.caption(
        t("In each sentence, one token is replaced by a similar one; pairs with another answer count.")
        + " "
        + half_a_minute()
    )
    if not subject.asked("patching pairs", t("Average over {n} sentences", n=min(PAIRS, len(measured.sample)))):
        return
    try:
        means = subject.measure(
            "patching pairs",
            t("Patching pairs of sentences"),
            lambda loaded, report: mean_patches(loaded, changed_pairs(loaded, measured.sample, report), report),
        )
    except PatchError as few:
        st.info(plain(str(few)))
        return
    if means is not None:
        _draw_means(means)


def _draw_pair(subject: Subject, translation: Translation) -> str:
    """Draw both sentences; return the other one, which at first is one that changes the answer."""
    proposed = subject.compute(f"pair {translation.seq}", lambda loaded: suggested_other(loaded, translation))
    st.caption(
        t(
            "Each cell shows how the watched prediction changes if one vector comes from the other sentence and "
            "everything else stays: it changes where the vector carries the difference. An empty cell changes it by "
            "less than 0.05 nats."
        )
    )
    if st.session_state.get(_OTHER, "").strip() in ("", st.session_state.get(_PROPOSED)):  # nobody typed another one
        st.session_state[_OTHER] = st.session_state[_PROPOSED] = proposed
    return st.text_input(
        t("The other sentence, which differs in one word and has as many tokens"),
        key="patching_other",
        max_chars=MOST_OTHER,
        help=t("At first, one word is replaced by a similar one. Type any other sentence."),
    ).strip()


def _draw_one_pair(subject: Subject, translation: Translation, other: str) -> None:
    try:
        changes = subject.compute(
            f"patched rows {other} {translation.seq}", lambda loaded: row_changes(loaded, translation, other)
        )
        most, first = int(abs(changes).argmax()), translation.n_prompt
        row: int = st.selectbox(
            t("The prediction to watch"),
            range(len(changes)),
            index=most,
            format_func=lambda row: (
                f"{first + row + 1} → {translation.trace.predicted_tokens[first + row]} "
                f"({t('{n} nats', n=fixed(float(changes[row]), 2, signed=True))})"
            ),
            key=f"patching_row_{translation.seq}_{other}",
            help=t("In brackets: the change of its log-probability with all of the other sentence, in nats."),
        )
        grids = subject.compute(
            f"patching {row} {other} {translation.seq}",
            lambda loaded: patched(loaded, translation, other, row),
        )
    except (PatchError, InputError) as unfit:
        st.info(plain(str(unfit)))
        return
    st.markdown(f"**{plain(grids.summary())}**")
    for stack, column in zip(grids.columns, st.columns(len(grids.columns)), strict=True):
        with column:
            plot = patch_plot(grids, stack, bar=stack == [*grids.columns][-1])
            page_parts.draw_plot(plot, f"patching_{stack}")
    st.markdown(t("##### The output of one head from the other sentence, at all positions"))
    st.caption(plain(grids.heads_summary()))
    heads = (
        st.container() if grids.heads_matter else st.expander(t("Every head, each with under 5 % of the difference"))
    )
    title, span = t("change in nats"), (-grids.top_head, grids.top_head)
    with heads:
        for kind, (column, bar) in zip(grids.heads, page_parts.map_columns(len(grids.heads)), strict=False):
            with column:
                plot = layer_head_map(grids.head_change(kind), kind, title, span=span, bar=bar)
                page_parts.draw_plot(plot, f"patching_heads_{kind}", numbers=False, caption=False)


def _draw_means(means: MeanPatches) -> None:
    st.markdown(f"**{plain(means.caption())}**")
    for stack, column in zip(means.mean_place, st.columns(len(means.mean_place)), strict=True):
        with column:
            plot = mean_patch_plot(means, stack, bar=stack == [*means.mean_place][-1])
            page_parts.draw_plot(plot, f"patching_mean_{stack}", numbers=False)
    for kind, (column, bar) in zip(means.heads, page_parts.map_columns(len(means.heads)), strict=False):
        with column:
            item, title, span = means.heads[kind], t("share of the difference"), (-means.top, means.top)
            clear = item.differs_from_zero()
            plot = layer_head_map(item.value, kind, title, span=span, decimals=3, clear=clear, bar=bar)
            page_parts.draw_plot(plot, f"patching_mean_heads_{kind}", numbers=False)
    with st.expander(t("Every mean with its interval")):
        draw_table(means.rows(), t("Mean effect of each vector and head"), file="patching")


def _draw_put_in(subject: Subject, other: str) -> None:
    """Draw the change of one head to its pattern or output in the other sentence, which then is in force."""
    kind, layer, head = choose_head(subject.model.model_config, "patching_head")
    ops: dict[Kind, str] = {"pattern": t("pattern"), "output": t("output")}
    op: Kind | None = st.segmented_control(
        t("Take its"),
        list(ops),
        format_func=ops.__getitem__,
        default="pattern",
        required=True,
        key="patching_op",
        help=t("pattern: where the head looks; it needs the same number of tokens. output: the head's result."),
    )
    op = op or "pattern"  # one is always chosen
    st.caption(
        plain(
            t(
                "The head will be {edited}, as the model reads that sentence unchanged. The part “Surgery” opens "
                "with the translation.",
                edited=translated(WORDS[op]),
            )
        )
    )
    change = Change(kind, layer + 1, head + 1, op, other=other)
    st.button(t("Put it in"), key="patching_do", on_click=_put_in, args=(change,))


def _put_in(change: Change) -> None:
    """Put the change in force, and open the part that shows the translation with it."""
    changes_in_force.put([change])
    st.session_state[EFFECT_PART] = SURGERY
