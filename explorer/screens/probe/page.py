"""The Probe page: what each head does over many sentences, how certain that is, and what happens without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import streamlit as st

from explorer.decoding.model_summary import facts
from explorer.files.tables import table_csv
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.probing.measured import Measured
from explorer.probing.report import Section, as_json, as_report, role_map_svg
from explorer.probing.tables import number_rows
from explorer.screens.probe.cross_checks import draw_cross_checks, draw_patching, measured_checks
from explorer.screens.probe.heads import ONE_HEAD, draw_card, draw_heads
from explorer.screens.probe.importance import draw_importance, measured_importance
from explorer.screens.probe.sample_choice import Subject, adopt, draw_choice, read_ahead, subject
from explorer.screens.probe.surgery import draw_surgery
from explorer.screens.probe.words import draw_grammar, draw_search
from explorer.web import address, changes_in_force, page_parts, runtime, session, sidebar
from explorer.web.downloads import download_button
from model.folder import CheckpointError

SURGERY = "Surgery"


def prepare() -> None:
    """Read ahead of the first visit what the page opens with; see :mod:`explorer.web.warm_up`."""
    read_ahead()


def draw() -> None:
    """Draw the question, the sample, then the tabs."""
    page_parts.heading(
        t("What does each head do, how sure are we, and what happens without it?"),
        t("A head is named after what it does over many sentences. Whether it matters shows when it is switched off."),
    )
    selection = sidebar.selection()
    if selection is None:
        st.info(t("There is no model to probe yet."))
        return
    try:
        described = runtime.describe(selection.model)
    except CheckpointError as broken:
        st.info(plain(str(broken)))
        return
    if not described.is_transformer:
        message = t("This page needs a Transformer; {model} is an LSTM. Choose another model.", model=described.name)
        st.info(plain(message))
        return
    if changes_in_force.adopt(selection.model, described.model_config) and "probe_tab" not in address.present():
        st.session_state["probe_tab"] = SURGERY  # a link with edits opens the tab that shows them
    for problem in (*session.problems(), adopt(selection.model)):
        if problem:
            st.warning(plain(problem))
    choice, description = st.columns([3, 8], vertical_alignment="center")
    with choice:
        draw_choice(described.name)
    caption = description.empty()
    probed = subject(described, selection.text)
    measured = probed.measured()
    if measured is not None:
        about = t(
            "Measured on {sample}. Baselines: uniform attention and {seeds} untrained models.",
            sample=measured.about,
            seeds=measured.probe.seeds,
        )
        untrained = "" if runtime.summary(described.name)["trained"] else t("This model is untrained itself.")
        caption.caption(plain(f"{about} {untrained}".rstrip()))
    _draw_tabs(probed, measured)
    here = dataclasses.replace(session.selection(), model=selection.model, text=selection.text)
    session.write_address(here)


def _nothing() -> None:
    st.caption(t("Nothing has been measured yet."))


def _draw_tabs(subject: Subject, measured: Measured | None) -> None:
    """Draw the tabs; only the content of the open one is drawn."""

    def of_sample(draw: Callable[[Subject, Measured], None]) -> Callable[[], None]:
        return _nothing if measured is None else partial(draw, subject, measured)

    has_encoder = subject.model.model_config.has_encoder  # those two tabs are about a source and its translation
    page_parts.draw_tabs(
        "probe",
        {
            "All heads": of_sample(draw_heads),
            ONE_HEAD: of_sample(draw_card),
            SURGERY: partial(draw_surgery, subject, measured),
            "Patching": partial(draw_patching, subject),
            **({"Cross-checks": partial(draw_cross_checks, subject, measured)} if has_encoder else {}),
            "Importance": of_sample(draw_importance),
            "Search": of_sample(draw_search),
            **({"Grammar": of_sample(draw_grammar)} if has_encoder else {}),
            "Export": of_sample(_draw_export),
        },
    )


def _draw_export(subject: Subject, measured: Measured) -> None:
    """Draw the download buttons for all measurements."""
    name, probe, about = subject.name, measured.probe, measured.about
    importance, sections = measured_importance(subject, measured), measured_checks(subject, measured)
    if importance is not None:
        sections.insert(0, Section(t("The importance of each head"), importance.rows(), importance.summary()))
    rows, lines = number_rows(probe), tuple(facts(runtime.summary(name)))
    st.caption(
        plain(
            t(
                "{n} number, each with its standard deviation, both baselines and the number of sentences.",
                "{n:,} numbers, each with its standard deviation, both baselines and the number of sentences.",
                n=len(rows),
            )
        )
    )
    if len(sections) < 4:
        st.caption(
            t("The report also has what has been measured in the tabs 'Importance' and 'Cross-checks' on this sample.")
        )
    files: tuple[tuple[str, str, str, Callable[[], bytes | str]], ...] = (
        (t("Table (CSV)"), "csv", "text/csv", partial(table_csv, rows)),
        (t("Everything (JSON)"), "json", "application/json", partial(as_json, probe, name, about)),
        (t("Role map (SVG)"), "svg", "image/svg+xml", partial(role_map_svg, probe, name, about)),
        (t("Report (HTML)"), "html", "text/html", partial(as_report, probe, name, about, sections, lines)),
    )
    with st.container(horizontal=True):
        for label, kind, mime, make in files:
            download_button(label, make, f"{name}-heads.{kind}", mime, key=f"probe_{kind}")
