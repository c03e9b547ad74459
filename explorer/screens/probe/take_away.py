"""The Probe page's tab Take away: all measurements as a table, as data, and as a report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from explorer.decoding.model_summary import facts
from explorer.files.tables import table_csv
from explorer.locale.messages import t
from explorer.locale.text import listed, plain, quoted
from explorer.probing.measured import Measured
from explorer.probing.report import Section, as_json, as_report
from explorer.probing.tables import number_rows
from explorer.screens.probe.cross_checks import measured_checks
from explorer.screens.probe.importance import measured_importance
from explorer.screens.probe.notes import notes_section
from explorer.screens.probe.sample_choice import Subject
from explorer.web import runtime
from explorer.web.downloads import download_button


def draw_take_away(subject: Subject, measured: Measured) -> None:
    """Draw the download buttons for all measurements."""
    name, probe, about = subject.name, measured.probe, str(measured.about)
    importance, sections = measured_importance(subject, measured), measured_checks(subject, measured)
    if importance is not None:
        about = importance.summary(len(measured.sample))
        sections.insert(0, Section(t("The importance of each head"), importance.rows(), about))
    sections += notes_section(name)
    rows, lines = number_rows(probe), tuple(facts(runtime.summary(name)))
    st.caption(
        plain(
            t(
                "In each file: {n} number, with its standard deviation, both baselines and the number of sentences.",
                "In each file: {n:,} numbers, each with its standard deviation, both baselines and the number of "
                "sentences.",
                n=len(rows),
            )
        )
    )
    st.caption(
        t(
            "The report alone also contains what has been measured on this sample in the tab “Effect on the answer”, "
            "with its intervals, and notes on heads. So far: {sections}.",
            sections=listed(quoted(section.title) for section in sections) if sections else t("none of them"),
        )
    )
    files: tuple[tuple[str, str, str, Callable[[], bytes | str]], ...] = (
        (t("Table (CSV)"), "csv", "text/csv", partial(table_csv, rows)),
        (t("Numbers (JSON)"), "json", "application/json", partial(as_json, probe, name, about)),
        (t("Report (HTML)"), "html", "text/html", partial(as_report, probe, name, about, sections, lines)),
    )
    with st.container(horizontal=True):
        for label, kind, mime, make in files:
            download_button(label, make, f"{name}-heads.{kind}", mime, key=f"probe_{kind}")
