"""The part Importance of the Probe page: every head switched off once, and the pruning curve."""

from __future__ import annotations

import streamlit as st

from explorer.charts.measured_heads import layer_head_map, pruning_plot
from explorer.locale.glossary import explained
from explorer.locale.messages import message, t
from explorer.locale.text import fixed, plain
from explorer.probing.importance import Importance, measure_curve, measure_importance
from explorer.probing.measured import Measured
from explorer.probing.tables import heads
from explorer.screens.probe.sample_choice import Subject
from explorer.web import address, page_parts
from explorer.web.figures import draw_table, table_height

IMPORTANCE = message("Importance")  # this part
_CURVE_BY = "probe_prune_by"  # of former links, which ask for the curve


def measured_importance(subject: Subject, measured: Measured) -> Importance | None:
    """The importance already measured on this sample; None if it has not been requested."""
    return measured.importance or subject.find("importance")


def half_a_minute() -> str:
    """State how long work of this kind takes."""
    return t("With the models that come with Headlight, this takes up to half a minute on an idle machine.")


def draw_importance(subject: Subject, measured: Measured) -> None:
    """Draw the maps and the pruning curve; each is measured once its button has been pressed."""
    st.caption(
        plain(
            t(
                "A pattern that looks meaningful need not matter. Here each head is switched off by itself: its output "
                "becomes zero, or its mean over these sentences. A head may matter little alone, and much once another "
                "one is gone."
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
    loss = fixed(importance.ablation.loss, importance.decimals)
    st.markdown(t("##### Loss without the head, minus that of the whole model ({loss} nats)", loss=loss))
    st.caption(t("The colours follow the square root of the change. In brackets: cannot be told from zero."))
    changes = importance.ablation.loss_change
    for kind, (column, bar) in zip(changes, page_parts.map_columns(len(changes)), strict=False):
        with column:
            plot = layer_head_map(
                changes[kind],
                kind,
                t("change in nats"),
                span=importance.span,
                decimals=importance.decimals,
                clear=importance.clear[kind],
                interval=importance.ablation.loss_interval[kind],
                bar=bar,
            )
            page_parts.draw_plot(plot, f"importance_loss_{kind}", numbers=False, caption=False)
    st.caption(explained(importance.summary(len(measured.sample))))
    rows = importance.rows()
    columns = {t("loss, zeroed (nats)"): 200, t("loss, mean instead (nats)"): 200}
    wide = {name: st.column_config.TextColumn(width=pixels) for name, pixels in columns.items()}
    height = table_height(len(rows), most=12)
    draw_table(rows, t("Importance of every head"), file="importance", height=height, column_config=wide)
    st.caption(
        t(
            "All {n} heads, the most important first; the table scrolls. Changes of the loss in nats per token and of "
            "right tokens in percentage points, with 95 % intervals over sentences.",
            n=len(rows),
        )
    )
    _draw_curve(subject, measured)


def _draw_curve(subject: Subject, measured: Measured) -> None:
    st.markdown(t("##### Switch off the least important heads first"))
    if not subject.asked("curve", t("Measure the pruning curve"), by_link=_CURVE_BY in address.present()):
        st.caption(half_a_minute())
        return
    curve = subject.measure(
        "curve",
        t("Switching heads off"),
        lambda loaded, report: measure_curve(loaded, measured.sample, report),
    )
    if curve is not None:
        page_parts.draw_plot(pruning_plot(curve), "probe_curve")
