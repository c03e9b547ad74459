"""The findings below the importance tab: what surgery says about the heads that were named."""

from __future__ import annotations

import streamlit as st

from explorer.probing.findings import findings
from explorer.probing.sample import Measured
from explorer.screens.probe.importance import counting, known_importance
from explorer.screens.probe.sample_choice import at_work, chosen
from explorer.text import plain
from explorer.web import runtime
from explorer.web.measurements import Report
from model.analysis.importance import batches_of
from model.checkpoint import LoadedModel


def draw_findings(loaded: LoadedModel, found: Measured) -> None:
    """The findings as a list, once the importance of all heads is known."""
    importance = known_importance(loaded, found)
    if importance is None:
        return

    def make(report: Report) -> tuple[str, ...]:
        check = counting(report, 8 * len(batches_of(found.sample.pairs)), "Checking the findings by surgery")
        return findings(loaded, found, importance, check)

    key = ("findings", loaded.name, runtime.fingerprint(loaded.name), chosen(loaded.name).key)
    lines = at_work(key, make, "Checking the findings by surgery")
    if lines is not None:
        st.markdown("##### What was found, checked by surgery")
        st.markdown("\n".join(f"- {plain(line)}" for line in lines))
