"""The part Importance of the Probe page: every head switched off once, gradient scores, and the pruning curve."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.charts.measured_heads import Marks, layer_head_map, pruning_plot
from explorer.locale.glossary import explained
from explorer.locale.messages import message, t
from explorer.locale.text import plain, small
from explorer.probing.alike_heads import measure_alike
from explorer.probing.importance import Importance, measure_curve, measure_importance
from explorer.probing.measured import Measured
from explorer.probing.tables import heads
from explorer.screens.probe.sample_choice import Subject
from explorer.web import address, bound, page_parts
from explorer.web.figures import draw_table
from model.analysis.importance import ByKind
from model.config import AttentionKind

_BY_LOSS, _BY_GRADIENT = message("loss without the head"), message("gradient score")
_CURVE_BY = "probe_prune_by"


def measured_importance(subject: Subject, measured: Measured) -> Importance | None:
    """The importance already measured on this sample; None if it has not been requested."""
    return measured.importance or subject.find("importance")


def draw_importance(subject: Subject, measured: Measured) -> None:
    """Draw the maps and the pruning curve; each is measured once its button has been pressed."""
    st.caption(
        plain(
            t(
                "A pattern that looks meaningful need not matter. Here every head is switched off by itself: its "
                "output becomes zero. The gradient score says how steeply the loss of a sentence changes as that "
                "output is scaled a little, beside the other heads of the layer: a head with a steep slope may still "
                "not be missed when it is off. Heads can stand in for one another: a head that matters little alone "
                "may matter much once another is gone."
            )
        )
    )
    importance, by_link = measured_importance(subject, measured), _CURVE_BY in address.present()
    if importance is None:
        label = t("Switch off all {heads} heads, one by one", heads=len(heads(measured.probe)))
        if not subject.asked("importance", label, by_link=by_link):
            return
        importance = subject.measure(
            "importance",
            t("Switching off heads one by one"),
            lambda loaded, report: measure_importance(loaded, measured.sample, report),
        )
        if importance is None:
            return
    loss, top = importance.ablation.loss, importance.largest_change
    st.markdown(t("##### Loss without the head, minus that of the whole model ({loss} nats)", loss=small(loss, 3)))
    _draw_maps(importance.ablation.loss_change, (-top, top), "loss", 3, importance.largest, importance.clear)
    st.markdown(t("##### Gradient score (Michel et al. 2019), each layer's squares sum to 1"))
    _draw_maps(importance.by_layer, (0.0, 1.0), "gradient", 2, importance.steepest, {})
    draw_table(importance.rows(), t("Importance of every head"), file="importance", height=250)
    st.caption(explained(importance.summary()))
    _draw_alike(subject, measured)
    _draw_curve(subject, measured)


def _draw_alike(subject: Subject, measured: Measured) -> None:
    st.markdown(t("##### Heads that look alike, removed in pairs"))
    if not subject.asked("alike", t("Switch off the pairs that look most alike")):
        return
    alike = subject.measure(
        "alike",
        t("Switching off pairs of heads"),
        lambda loaded, report: measure_alike(loaded, measured.sample, measured.probe, report),
    )
    if alike is not None:
        draw_table(
            alike.rows(), t("Change of the loss in nats per token without pairs of heads that look alike"), file="pairs"
        )
        st.caption(explained(alike.summary()))


def _draw_maps(
    values: ByKind,
    span: tuple[float, float],
    key: str,
    decimals: int,
    caption: Callable[[AttentionKind], str],
    clear: dict[str, Marks],
) -> None:
    for kind, column in zip(values, st.columns(max(2, len(values))), strict=False):
        with column:
            plot = layer_head_map(
                values[kind], kind, caption=caption(kind), span=span, decimals=decimals, clear=clear.get(kind)
            )
            page_parts.draw_plot(plot, f"importance_{key}_{kind}", numbers=False)


def _draw_curve(subject: Subject, measured: Measured) -> None:
    label, ways = t("Switch off the least important heads first, by"), [_BY_LOSS, _BY_GRADIENT]
    by = bound.segmented(label, ways, key=_CURVE_BY, default=_BY_LOSS)
    if not subject.asked(f"curve {by}", t("Measure the pruning curve"), by_link=_CURVE_BY in address.present()):
        return
    curve = subject.measure(
        f"curve {by}",
        t("Switching heads off"),
        lambda loaded, report: measure_curve(
            loaded, measured.sample, measured.task, report, by_gradient=by == _BY_GRADIENT
        ),
    )
    if curve is not None:
        page_parts.draw_plot(pruning_plot(curve), "probe_curve")
