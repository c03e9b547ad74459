"""The Probe page's importance tab: every head switched off once, the gradient score, and the pruning curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.figures.measured_heads import layer_head_map, pruning_plot
from explorer.figures.plotly_charts import Plot
from explorer.probing.edit_effect import part_of, scored
from explorer.probing.sample import Measured
from explorer.probing.tables import name_of
from explorer.screens.probe.sample_choice import at_work, chosen
from explorer.text import plain
from explorer.web import page_parts as teach
from explorer.web import runtime
from explorer.web.measurements import Key, Report, store
from model.analysis.importance import (
    Ablation,
    ByKind,
    ablate_each,
    batches_of,
    gradient_scores,
    heads_of,
    least_first,
    pruning_counts,
    pruning_curve,
)
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import ATTENTION_KINDS
from model.recorder import Head

SENTENCES = 100  # of the sample, at most
_BY_LOSS, _BY_GRADIENT = "loss without the head", "gradient score"


@dataclass(frozen=True, eq=False)
class Importance:
    """What each head is worth on part of a sample: switched off alone, and by gradient (raw and by layer)."""

    ablation: Ablation
    gradient: ByKind
    by_layer: ByKind
    sentences: int

    def words(self, head: Head) -> str:
        """One head's worth, in a sentence, with its rank among all heads."""
        kind, layer, number = head
        change = float(self.ablation.loss_change[kind][layer, number])
        order = least_first(self.ablation.loss_change)[::-1]
        right = 100 * float(self.ablation.accuracy_change[kind][layer, number])
        return (
            f"Switched off, the loss goes from {self.ablation.loss:.3f} to {self.ablation.loss + change:.3f} nats "
            f"per token ({change:+.3f}) and token accuracy by {right:+.1f} points: rank {order.index(head) + 1} of "
            f"{len(order)}. Gradient score in its layer: {self.by_layer[kind][layer, number]:.2f}. Over "
            f"{self.sentences} sentences."
        )


@dataclass(frozen=True, eq=False)
class Curve:
    """The pruning curve: how many heads are gone, and loss, exact match and BLEU then (None where not known)."""

    counts: tuple[int, ...]
    loss: tuple[float, ...]
    exact: tuple[float | None, ...]
    bleu: tuple[float | None, ...]


def _key(loaded: LoadedModel, what: str) -> Key:
    return (what, loaded.name, runtime.fingerprint(loaded.name), chosen(loaded.name).key)


def known_importance(loaded: LoadedModel, found: Measured) -> Importance | None:
    """What was measured already on this sample; None where nobody asked for it."""
    del found
    known: Importance | None = store().known(_key(loaded, "importance"))
    return known


def counting(report: Report, total: int, words: str) -> Callable[[], None]:
    """A check that reports one more of `total` parts at each call."""
    done = 0

    def check() -> None:
        nonlocal done
        report(done / max(total, 1), words)
        done += 1

    return check


def measure_importance(loaded: LoadedModel, sample: Sample, report: Report) -> Importance:
    """Ablation and gradient scores on at most `SENTENCES` of a sample."""
    part = part_of(sample, SENTENCES)
    model, pairs = loaded.transformer, part.pairs
    n_batches, n_heads = len(batches_of(pairs)), len(heads_of(model.config))
    check = counting(report, (n_heads + 1) * n_batches, f"Switching off {n_heads} heads one by one")
    ablation = ablate_each(model, pairs, check=check)
    raw = gradient_scores(model, pairs, normalise=False)
    return Importance(ablation, raw, gradient_scores(model, pairs), len(part))


def measure_curve(
    loaded: LoadedModel, found: Measured, order: list[Head], report: Report, *, sentences: int = SENTENCES
) -> Curve:
    """The pruning curve in a given order, with translations where the right ones are known."""
    part = part_of(found.sample, sentences)
    known = all(part.references)
    counts = pruning_counts(len(order))
    n_batches = len(batches_of(part.pairs))
    check = counting(
        report, len(counts) * n_batches * (2 if known else 1), "Taking heads away, the least important first"
    )
    losses, exacts, bleus = [], [], []
    target = loaded.target if known else None
    for step in pruning_curve(loaded.transformer, part.pairs, order, target, check=check):
        losses.append(step.scores.loss)
        exact, score = scored(loaded, part, found.task, step.translations) if known else (None, None)
        exacts.append(exact)
        bleus.append(score)
    return Curve(tuple(counts), tuple(losses), tuple(exacts), tuple(bleus))


def draw_importance(loaded: LoadedModel, found: Measured) -> None:
    """The maps and the curve; measured when this tab is opened."""
    st.caption(
        plain(
            "A pattern that looks meaningful need not matter. Here every head is switched off by itself, and the "
            "gradient says how much the loss would change with it. Heads can stand in for one another: what matters "
            "little alone may matter much once another is gone."
        )
    )
    found_importance = at_work(
        _key(loaded, "importance"),
        lambda report: measure_importance(loaded, found.sample, report),
        "Switching off heads one by one",
    )
    if found_importance is None:
        return
    _draw_maps(found_importance)
    _draw_table(found_importance)
    _draw_curve(loaded, found, found_importance)


def _draw_maps(importance: Importance) -> None:
    st.markdown(f"##### Loss without the head, above that of the whole model ({importance.ablation.loss:.3f} nats)")
    changes = importance.ablation.loss_change
    top = max(float(np.abs(values).max()) for values in changes.values()) or 1e-9
    _maps(changes, "change of the loss", (-top, top), "loss", 3)
    st.markdown("##### Gradient score (Michel et al. 2019), each layer's squares sum to 1")
    _maps(importance.by_layer, "gradient score", (0.0, 1.0), "gradient", 2)


def _maps(values: ByKind, title: str, span: tuple[float, float], key: str, decimals: int) -> None:
    for kind, column in zip(ATTENTION_KINDS, st.columns(len(ATTENTION_KINDS)), strict=True):
        with column:
            plot: Plot = layer_head_map(values[kind], kind, title, span=span, decimals=decimals)
            teach.draw_plot(plot, f"importance_{key}_{kind}", numbers=False)


def importance_rows(importance: Importance) -> list[dict[str, Any]]:
    """A line for each head, the most important first."""
    return [
        {
            "kind": kind,
            "head": name_of(layer, head),
            "loss change (nats)": round(float(importance.ablation.loss_change[kind][layer, head]), 4),
            "token accuracy change": round(float(importance.ablation.accuracy_change[kind][layer, head]), 4),
            "gradient score in its layer": round(float(importance.by_layer[kind][layer, head]), 4),
            "gradient (nats)": round(float(importance.gradient[kind][layer, head]), 4),
        }
        for kind, layer, head in reversed(least_first(importance.ablation.loss_change))
    ]


def _draw_table(importance: Importance) -> None:
    rows = importance_rows(importance)
    most, least = rows[0], rows[-1]
    st.dataframe(rows, hide_index=True, height=250, alt="Importance of every head")
    st.caption(
        plain(
            f"Over {importance.sentences} sentences. Without {most['kind']} {most['head']} the loss changes most "
            f"({most['loss change (nats)']:+.3f}), without {least['kind']} {least['head']} least "
            f"({least['loss change (nats)']:+.3f}; below 0 the model is better off without it)."
        )
    )


def _draw_curve(loaded: LoadedModel, found: Measured, importance: Importance) -> None:
    by = st.segmented_control(
        "Take away the least important first, by",
        [_BY_LOSS, _BY_GRADIENT],
        default=_BY_LOSS,
        required=True,
        key="probe_prune_by",
        bind=teach.URL,
    )
    order = least_first(importance.ablation.loss_change if by == _BY_LOSS else importance.gradient)
    curve = at_work(
        _key(loaded, f"curve {by}"),
        lambda report: measure_curve(loaded, found, order, report),
        "Taking heads away",
    )
    if curve is not None:
        teach.draw_plot(curve_plot(curve), "probe_curve")


def curve_plot(curve: Curve) -> Plot:
    """The quality kept: exact match and BLEU as shares of the whole model's, and e^-loss likewise."""
    series: dict[str, list[float]] = {"probability per token": kept(np.exp(-np.array(curve.loss)))}
    for name, values in (("exact match", curve.exact), ("BLEU", curve.bleu)):
        known = [value for value in values if value is not None]
        if len(known) == len(values) and known[0] > 0:
            series[name] = kept(np.array(known))
    name = list(series)[-1]
    half = next((n for n, value in zip(curve.counts, series[name], strict=True) if value < 90), None)
    ends = (
        f"{name} falls below 90 % of the whole model's with {half}"
        if half is not None
        else f"{name} stays above 90 % with any number"
    )
    caption = (
        f"{ends[0].upper()}{ends[1:]} of {curve.counts[-1]} heads switched off. 'Probability per token' is that of the "
        f"right token (geometric mean). The order comes from the whole model: it is not chosen anew as heads go."
    )
    return pruning_plot(curve.counts, series, caption)  # type: ignore[arg-type]


def kept(values: NDArray[np.float64]) -> list[float]:
    """Each value in percent of the first."""
    return [float(100 * value / values[0]) for value in values]
