"""The findings below the importance tab: what ablation says about the heads that were named."""

from __future__ import annotations

import streamlit as st

from explorer.probing.findings import findings
from explorer.probing.importance import progress_check
from explorer.probing.sample import Measured
from explorer.screens.probe.importance import known_importance
from explorer.screens.probe.progress import measurement_key, with_progress
from explorer.text import plain
from explorer.web.measurements import Report
from model.analysis.importance import batches_of
from model.checkpoint import LoadedModel

_LABEL = "Checking the findings by ablation"


def draw_findings(loaded: LoadedModel, measured: Measured) -> None:
    """The findings as a list, once the importance of all heads is known."""
    importance = known_importance(loaded, measured)
    if importance is None:
        return

    def make(report: Report) -> tuple[str, ...]:
        check = progress_check(report, 8 * len(batches_of(measured.sample.pairs)), _LABEL)
        return findings(loaded, measured, importance, check)

    lines = with_progress(measurement_key(loaded, measured.choice, "findings"), make, _LABEL)
    if lines is not None:
        st.markdown("##### Findings, checked by ablation")
        st.markdown("\n".join(f"- {plain(line)}" for line in lines))
