"""The list on the Runs page: every run and model with its state, scores, size and date; and curves side by side."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import streamlit as st

from explorer.figures.training_curves import MAX_CURVES, MEASURES, comparison_figure
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.status import RunStatus
from explorer.text import plain
from explorer.web.figures import draw_figure
from explorer.web.run_metrics import metrics_of

_ROWS_SHOWN = 5  # more are scrolled to, so that what is below stays on the first screen
_ROW_PIXELS = 35


def rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """A row for each run or model, as text and numbers; a column that nobody has a value for is left out."""
    found = [_row(entry) for entry in entries]
    known = [name for name in found[0] if any(row[name] is not None for row in found)] if found else []
    return [{name: row[name] for name in known} for row in found]


def _row(entry: Entry) -> dict[str, Any]:
    summary, results = entry.summary, entry.summary.get("results") or {}
    scores = results.get("test") or results.get("valid") or {}
    exact = scores.get("exact_match")
    size = summary.get("bytes")
    return {
        "name": entry.name,
        "state": state_word(entry),
        "task": summary.get("task"),
        "parameters": summary.get("parameters"),
        "exact match (%)": 100 * exact if isinstance(exact, (int, float)) else None,
        "BLEU": scores.get("bleu"),
        "loss": scores.get("loss"),
        "weights (MB)": size / 1e6 if size else None,
        "changed": datetime.fromtimestamp(entry.date) if entry.date else None,
    }


def state_word(entry: Entry) -> str:
    """How it stands, in a word or two."""
    if entry.problem:
        return "cannot be opened"
    status = entry.status
    if status is None:
        bundled = "came with Headlight" if entry.bundled else "finished"
        return bundled if entry.summary.get("trained") else "untrained"
    return _with_share(status)


def _with_share(status: RunStatus) -> str:
    return f"{status.state} ({100 * status.share:.0f} %)" if status.state in ("running", "stopped") else status.state


def draw_table(entries: Sequence[Entry]) -> None:
    """The list, with a sentence that sums it up and one for each folder that cannot be opened."""
    height = _ROW_PIXELS * (min(len(entries), _ROWS_SHOWN) + 1) + 3
    st.dataframe(
        rows(entries),
        hide_index=True,
        height=height,
        alt="Runs and models",
        column_config={
            "parameters": st.column_config.NumberColumn(format="compact"),
            "exact match (%)": st.column_config.NumberColumn(format="%.1f"),
            "BLEU": st.column_config.NumberColumn(format="%.1f"),
            "loss": st.column_config.NumberColumn(format="%.3f"),
            "weights (MB)": st.column_config.NumberColumn(format="%.1f"),
            "changed": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
        },
    )
    st.caption(plain(table_words(entries)))
    for entry in entries:
        if entry.problem:
            st.caption(plain(f"{entry.name} cannot be opened: {entry.problem}"))


def table_words(entries: Sequence[Entry]) -> str:
    """How many there are, and which at work."""
    busy = [f"{entry.name} is {entry.status.state}" for entry in entries if entry.busy and entry.status]
    count = f"{len(entries)} run{'s' if len(entries) != 1 else ''} and models" if len(entries) != 1 else "One model"
    return f"{count}; {', '.join(busy) if busy else 'none is being trained'}."


def draw_comparison(runs: Runs, entries: Sequence[Entry], name: str) -> None:
    """Curves of several runs, one measure at a time."""
    names = [entry.name for entry in entries if (runs.folder(entry.name) / "metrics.jsonl").is_file()]
    if not names:
        st.info("There is nothing to compare yet: no run here has written down its curves.")
        return
    chosen = st.multiselect(
        "Runs to compare",
        names,
        default=[name] if name in names else names[:2],
        max_selections=MAX_CURVES,
        key=f"compare_{name}",
        persist_state="session",
    )
    measure = st.segmented_control(
        "Measure",
        list(MEASURES),
        default="loss",
        required=True,
        format_func=lambda key: MEASURES[key][0],
        key="compare_measure",
        persist_state="session",
        label_visibility="collapsed",
    )
    if not chosen:
        st.info("Choose one or more runs.")
        return
    figure = comparison_figure({run: metrics_of(runs, run) for run in chosen}, measure or "loss")
    draw_figure(figure)
    with st.expander("These curves as a table"):
        st.dataframe(_wide(figure.data), hide_index=True)


def _wide(data: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """A row a step, a column a run."""
    found: dict[float, dict[str, Any]] = {}
    for step, value, curve in zip(data["step"], data["value"], data["curve"], strict=True):
        found.setdefault(step, {"step": int(step)})[curve] = round(value, 4)
    return [found[step] for step in sorted(found)]
