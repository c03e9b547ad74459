"""The Probe page's Importance tab: every head switched off once, the gradient score, and the pruning curve."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.charts.measured_heads import layer_head_map, pruning_plot
from explorer.decoding.model_description import ModelDescription
from explorer.locale.glossary import explained
from explorer.locale.text import plain
from explorer.probing.importance import Importance, PruningCurve, measure_curve, measure_importance
from explorer.probing.sample import Measured
from explorer.screens.probe.progress import measurement_key
from explorer.web import page_parts, runtime
from explorer.web.figures import draw_table
from explorer.web.long_work import asked, known, with_progress
from model.analysis.importance import ByKind, least_first
from model.config import ATTENTION_KINDS, AttentionKind

_BY_LOSS, _BY_GRADIENT = "loss without the head", "gradient score"
_CURVE_BY = "probe_prune_by"


def known_importance(described: ModelDescription, measured: Measured) -> Importance | None:
    """The importance already measured on this sample; None if it has not been requested."""
    if measured.importance is not None:
        return measured.importance
    importance: Importance | None = known(measurement_key(described, measured.choice, "importance"))
    return importance


def draw_importance(described: ModelDescription, measured: Measured) -> None:
    """Draw the maps and the curve; what is not known yet is measured when somebody asks for it."""
    st.caption(
        plain(
            "A pattern that looks meaningful need not matter. Here every head is switched off by itself, and the "
            "gradient says how much the loss would change with it. Heads can stand in for one another: a head that "
            "matters little alone may matter much once another is gone."
        )
    )
    importance = known_importance(described, measured)
    key = measurement_key(described, measured.choice, "importance")
    by_link = _CURVE_BY in st.query_params
    if importance is None and not asked(key, f"Switch off all {_n_heads(measured)} heads, one by one", by_link=by_link):
        return
    if importance is None:
        importance = with_progress(
            key,
            lambda report: runtime.compute_in_parts(
                described.name, lambda loaded, report: measure_importance(loaded, measured.sample, report), report
            ),
            "Switching off heads one by one",
        )
    if importance is None:
        return
    _draw_maps(importance)
    draw_table(importance.rows(), "Importance of every head", file="importance", height=250)
    st.caption(explained(importance.summary()))
    _draw_curve(described, measured, importance)


def _n_heads(measured: Measured) -> int:
    return sum(item.n_layers * item.n_heads for item in measured.probe.kinds.values())


def _draw_maps(importance: Importance) -> None:
    st.markdown(f"##### Loss without the head, minus that of the whole model ({importance.ablation.loss:.3f} nats)")
    changes = importance.ablation.loss_change
    top = max(float(np.abs(values).max()) for values in changes.values()) or 1e-9
    clear = {kind: item.differs_from_zero() for kind, item in importance.ablation.loss_interval.items()}
    _maps(changes, "change of the loss", (-top, top), "loss", 3, clear)
    st.markdown("##### Gradient score (Michel et al. 2019), each layer's squares sum to 1")
    _maps(importance.by_layer, "gradient score", (0.0, 1.0), "gradient", 2)


def _maps(
    values: ByKind,
    title: str,
    span: tuple[float, float],
    key: str,
    decimals: int,
    clear: dict[AttentionKind, NDArray[np.bool_]] | None = None,
) -> None:
    for kind, column in zip(ATTENTION_KINDS, st.columns(len(ATTENTION_KINDS)), strict=True):
        with column:
            marks = None if clear is None else clear[kind]
            plot = layer_head_map(values[kind], kind, title, span=span, decimals=decimals, clear=marks)
            page_parts.draw_plot(plot, f"importance_{key}_{kind}", numbers=False)


def _draw_curve(described: ModelDescription, measured: Measured, importance: Importance) -> None:
    by = st.segmented_control(
        "Switch off the least important heads first, by",
        [_BY_LOSS, _BY_GRADIENT],
        default=_BY_LOSS,
        required=True,
        key=_CURVE_BY,
        bind=page_parts.URL,
    )
    key = measurement_key(described, measured.choice, f"curve {by}")
    if known(key) is None and not asked(key, "Measure the pruning curve", by_link=_CURVE_BY in st.query_params):
        return
    order = least_first(importance.ablation.loss_change if by == _BY_LOSS else importance.gradient)
    curve: PruningCurve | None = with_progress(
        measurement_key(described, measured.choice, f"curve {by}"),
        lambda report: runtime.compute_in_parts(
            described.name,
            lambda loaded, report: measure_curve(loaded, measured.sample, measured.task, order, report),
            report,
        ),
        "Switching heads off",
    )
    if curve is not None:
        page_parts.draw_plot(
            pruning_plot(curve.counts, curve.remaining_quality(), curve.summary(), curve.interval()), "probe_curve"
        )
