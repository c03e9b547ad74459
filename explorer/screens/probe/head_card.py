"""One head's card: what it looks like, what it is called and why, its sentences, what it is worth, who is like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from explorer.figures.measured_heads import coverage_plot, head_plot
from explorer.probing.formulas import coverage
from explorer.probing.measurement import WITHOUT_SINKS, KindScores, Probe
from explorer.probing.roles import Role, role_of
from explorer.probing.sample import Measured
from explorer.probing.similarity import most_alike
from explorer.probing.tables import head_numbers, name_of, title_of
from explorer.screens.probe.importance import known_importance
from explorer.text import plain
from explorer.web import page_parts as teach
from explorer.web import session
from model.analysis.recorded_batches import Observed
from model.checkpoint import LoadedModel
from model.config import ATTENTION_KINDS, AttentionKind
from model.recorder import Head

TYPICAL = 3  # sentences on a card


@dataclass(frozen=True)
class Typical:
    """A sentence in which a head is much itself: its place in the sample, and the score there."""

    index: int
    score: float


def telling(role: Role, found: KindScores) -> str:
    """The statistic that shows a head at its most typical: its role's; without a role, its confidence."""
    if not role.clear:
        return "confidence"
    name = role.statistics[-1]
    return name + WITHOUT_SINKS if name + WITHOUT_SINKS in found.scores else name


def most_itself(found: KindScores, statistic: str, layer: int, head: int, count: int = TYPICAL) -> list[Typical]:
    """The sentences in which a score of a head (from 0) is furthest above that of uniform attention, best first.

    In a short sentence any head scores high: what it scores by chance is taken off. Equal ones stay in the sample's
    order.
    """
    values = found.sentence_scores[statistic][:, layer, head]
    gains = values - found.sentence_chance[statistic]
    order = np.argsort(-np.where(np.isfinite(gains), gains, -np.inf), kind="stable")
    return [Typical(int(i), float(values[i])) for i in order[:count] if np.isfinite(gains[i])]


def choose_head(probe: Probe, key: str) -> Head:
    """The head in view, shared with the other pages; counted from 0.

    What another page left (the mean over heads, a layer that this kind lacks) becomes the nearest.
    """
    place = session.place()
    found = probe.kinds[place.kind]
    layer, head = min(max(place.layer, 1), found.n_layers), min(max(place.head, 1), found.n_heads)
    options: dict[str, tuple[list[Any], Any]] = {
        "kind": (list(ATTENTION_KINDS), place.kind),
        "layer": (list(range(1, found.n_layers + 1)), layer),
        "head": (list(range(1, found.n_heads + 1)), head),
    }
    for (name, (choices, now)), column in zip(options.items(), st.columns(3), strict=True):
        # The place in the session is what counts: the widget says it, and its changes go there.
        st.session_state[f"{key}_{name}"] = now
        column.selectbox(name.capitalize(), choices, key=f"{key}_{name}", on_change=_moved, args=(key, name))
    return place.kind, layer - 1, head - 1


def _moved(key: str, name: str) -> None:
    session.move(**{name: st.session_state[f"{key}_{name}"]})


def draw_card(loaded: LoadedModel, found: Measured) -> None:
    """The card of the chosen head."""
    kind, layer, head = choose_head(found.probe, "card")
    scores = found.probe.kinds[kind]
    role = role_of(scores, layer, head)
    st.markdown(f"#### {plain(f'{kind.capitalize()} {name_of(layer, head)}: {role.name}')}")
    st.caption(plain(role.evidence))
    statistic = telling(role, scores)
    typical = most_itself(scores, statistic, layer, head)
    left, right = st.columns([3, 2])
    with left:
        st.markdown(f"##### {plain(f'Where it is most itself ({title_of(statistic)})')}")
        for rank, item in enumerate(typical, start=1):
            _draw_sentence(found.observed[item.index], kind, layer, head, item, rank)
        if not typical:
            st.info("No sentence of the sample shows this score.")
    with right:
        _draw_worth(loaded, found, (kind, layer, head))
        _draw_alike(scores, kind, layer, head)
    st.markdown("##### Its scores beside both baselines")
    st.dataframe(
        [
            {name: value for name, value in row.items() if name not in ("kind", "layer", "head", "untrained models")}
            for row in head_numbers(found.probe, kind, layer, head)
        ],
        hide_index=True,
        alt=f"Scores of {kind} {name_of(layer, head)}",
    )


def _draw_sentence(item: Observed, kind: AttentionKind, layer: int, head: int, typical: Typical, rank: int) -> None:
    trace = item.trace
    weights, mask = trace.weights(kind)[layer, head], trace.mask(kind)
    rows = trace.src_tokens if kind == "encoder" else trace.read_tokens
    columns = trace.read_tokens if kind == "decoder" else trace.src_tokens
    predicted = () if kind == "encoder" else trace.predicted_tokens
    text = " ".join(trace.src_tokens[:-1])
    caption = f"{typical.score:.2f} in '{text}': {looks(weights, rows, columns, predicted)}"
    with st.expander(plain(f"{rank}. {text} ({typical.score:.2f})"), expanded=rank == 1):
        plot = head_plot(weights, mask, rows, columns, kind=kind, caption=caption)
        teach.draw_plot(plot, f"card_{rank}")
        if kind == "cross":
            teach.draw_plot(coverage_plot(coverage(weights), columns, covered(weights, columns)), f"cover_{rank}")


def looks(weights: np.ndarray, rows: tuple[str, ...], columns: tuple[str, ...], predicted: tuple[str, ...]) -> str:
    """The three rows that are surest, in words."""
    best = weights.max(axis=1)
    order = [int(i) for i in np.argsort(-best, kind="stable")[:3]]
    found = []
    for i in sorted(order):
        says = f" (predicts {predicted[i]})" if predicted else ""
        j = int(weights[i].argmax())
        found.append(f"{i + 1} {rows[i]}{says} looks at {j + 1} {columns[j]} ({100 * weights[i, j]:.0f} %)")
    return "; ".join(found) + "."


def covered(weights: np.ndarray, columns: tuple[str, ...]) -> str:
    """How much of this head each source token got in the whole translation."""
    total = coverage(weights)
    most, least = int(total[:-1].argmax()), int(total[:-1].argmin())
    return (
        f"Coverage (weight that a source token gets over all rows; even would be {total.mean():.2f}): most "
        f"{most + 1} {columns[most]} ({total[most]:.2f}), least {least + 1} {columns[least]} ({total[least]:.2f}), "
        f"<eos> {total[-1]:.2f}."
    )


def _draw_worth(loaded: LoadedModel, found: Measured, head: Head) -> None:
    st.markdown("##### What it is worth")
    known = known_importance(loaded, found)
    if known is None:
        st.caption("Not measured yet: see the tab 'Importance'.")
        return
    st.caption(plain(known.words(head)))


def _draw_alike(scores: KindScores, kind: AttentionKind, layer: int, head: int) -> None:
    st.markdown("##### Heads that look alike")
    place = layer * scores.n_heads + head
    lines = []
    for other, apart in most_alike(scores.similarity, place):
        at = divmod(other, scores.n_heads)
        lines.append(f"{name_of(*at)}: {apart:.2f} bits apart, {role_of(scores, *at).name}")
    for line in lines or [f"There is no other {kind} head to compare it with."]:
        st.caption(plain(line))
