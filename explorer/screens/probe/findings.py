"""The findings at the end of the Importance tab: what ablation shows about the named heads."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.decoding.model_description import ModelDescription
from explorer.locale.text import plain
from explorer.probing.findings import findings
from explorer.probing.importance import progress_check
from explorer.probing.reporting import Report
from explorer.probing.sample import Measured
from explorer.screens.probe.importance import known_importance
from explorer.screens.probe.progress import measurement_key
from explorer.web import runtime
from explorer.web.long_work import asked, known, with_progress
from model.analysis.importance import batches_of
from model.checkpoint import LoadedModel

_LABEL = "Checking the findings by ablation"


def draw_findings(described: ModelDescription, measured: Measured) -> None:
    """Draw the findings as a list, once the importance of all heads is known."""
    importance = known_importance(described, measured)
    if importance is None:
        return

    def make(loaded: LoadedModel, report: Report) -> tuple[str, ...]:
        check = progress_check(report, 8 * len(batches_of(measured.sample.pairs)), _LABEL)
        return findings(loaded, measured, importance, check)

    key = measurement_key(described, measured.choice, "findings")
    if known(key) is None and not asked(key, "Check the findings by switching heads off together"):
        return
    work = partial(runtime.compute_in_parts, described.name, make)
    lines = with_progress(key, work, _LABEL)
    if lines is not None:
        st.markdown("##### Findings, checked by ablation")
        st.markdown("\n".join(f"- {plain(line)}" for line in lines))
