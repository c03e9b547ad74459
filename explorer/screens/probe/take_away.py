"""The Probe page's tab Take away: what was measured as a table, as data, and as a report, with what is in each file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from explorer.decoding.model_summary import facts
from explorer.files.tables import table_csv
from explorer.locale.language import current
from explorer.locale.messages import t
from explorer.locale.text import listed, plain, quoted
from explorer.probing.measured import Measured
from explorer.probing.report import Section, as_json, as_report
from explorer.probing.tables import heads, number_rows
from explorer.screens.probe.cross_checks import measured_checks
from explorer.screens.probe.importance import measured_importance
from explorer.screens.probe.notes import notes_section
from explorer.screens.probe.sample_choice import Subject
from explorer.web import runtime
from explorer.web.downloads import download_button
from explorer.web.figures import draw_table
from explorer.web.measurements import store

_FIRST = 4  # rows of the preview


def draw_take_away(subject: Subject, measured: Measured) -> None:
    """Draw a file in each column: its button, what is in it, and how to read it; then the first rows of the table."""
    name, probe, about = subject.name, measured.probe, str(measured.about)
    importance, sections = measured_importance(subject, measured), measured_checks(subject, measured)
    if importance is not None:
        about = importance.summary(len(measured.sample))
        sections.insert(0, Section(t("The importance of each head"), importance.rows(), about, "importance"))
    sections += notes_section(name)
    lines = tuple(facts(runtime.summary(name)))
    rows = store().quick(subject.key(f"numbers in {current()}"), lambda: number_rows(probe))
    in_table = t(
        "{n:,} rows of {columns} columns: each score of each head with its 95 % interval, its standard deviation, both "
        "baselines and the number of sentences.",
        n=len(rows),
        columns=len(rows[0]),
    )
    in_json = t(
        "The same numbers, and the role of each of the {heads} heads with its evidence, the rule and the sample, in "
        "English.",
        heads=len(heads(probe)),
    )
    in_report = t(
        "A page to read or print: every head with its role and scores, and all that has been measured on this sample "
        "in the tab “Effect on the answer”, with notes on heads."
    )
    if sections:
        tables = listed(quoted(section.title) for section in sections)
        in_report = f"{in_report} {t('So far: {tables}.', tables=tables)}"
    read_csv = f'import pandas as pd\npd.read_csv("{name}-heads.csv")'
    read_json = f'import json\njson.load(open("{name}-heads.json"))["numbers"]'
    files: tuple[tuple[str, str, str, str, str, Callable[[], bytes | str]], ...] = (
        (t("Table (CSV)"), "csv", "text/csv", in_table, read_csv, partial(table_csv, rows)),
        (t("Numbers (JSON)"), "json", "application/json", in_json, read_json, partial(as_json, probe, name, about)),
        (
            t("Report (HTML)"),
            "html",
            "text/html",
            in_report,
            "",
            partial(as_report, probe, name, about, sections, lines),
        ),
    )
    for (label, kind, mime, content, code, make), column in zip(files, st.columns(len(files)), strict=True):
        with column.container(border=True, height="stretch"):
            download_button(label, make, f"{name}-heads.{kind}", mime, key=f"probe_{kind}")
            st.caption(plain(content))
            if code:
                st.code(code, language="python", wrap_lines=True)
    st.markdown(t("##### The first rows of the table"))
    draw_table(rows[:_FIRST], t("The first rows of the table"))
    if sections:
        st.markdown(t("##### Also measured on this sample"))
    for section in sections:
        n_rows = t("{n} row", "{n:,} rows", n=len(section.rows))
        with st.container(horizontal=True, vertical_alignment="center"):
            file, make = f"{name}-{section.file}.csv", partial(table_csv, section.rows)
            download_button(f"{section.title} (CSV)", make, file, "text/csv", key=f"probe_{section.file}", quiet=True)
            st.caption(plain(f"{n_rows}. {section.caption}"))
