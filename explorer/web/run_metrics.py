"""The metrics of a run, read once for all sessions that show them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from explorer.runs.lifecycle import Runs
from explorer.runs.metrics import Metrics, MetricsReader
from model.folder import METRICS


@st.cache_resource(max_entries=32, show_spinner=False)
def metrics_reader(path: str) -> MetricsReader:
    """The single reader of a metrics.jsonl file, shared by all sessions."""
    return MetricsReader(Path(path))


def metrics_of(runs: Runs, name: str) -> Metrics:
    """Everything the run has logged so far."""
    return metrics_reader(str(runs.folder(name) / METRICS)).read()
