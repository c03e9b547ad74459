"""Probe: what each head does over many sentences, how certain that is, and what happens without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import streamlit as st

from explorer.decoding.model_description import ModelDescription
from explorer.decoding.model_summary import facts
from explorer.files.tables import table_csv
from explorer.locale.text import plain, plural
from explorer.probing.report import as_json, as_report, importance_section
from explorer.probing.role_map import role_map_svg
from explorer.probing.sample import Measured
from explorer.probing.syntax import tags_of
from explorer.probing.tables import number_rows
from explorer.screens.probe.all_heads import ONE_HEAD, draw_heads
from explorer.screens.probe.cross_checks import draw_cross_checks, known_checks
from explorer.screens.probe.findings import draw_findings
from explorer.screens.probe.grammar import draw_grammar, grammar_of
from explorer.screens.probe.head_card import draw_card
from explorer.screens.probe.importance import draw_importance, known_importance
from explorer.screens.probe.patching import draw_patching
from explorer.screens.probe.progress import observations
from explorer.screens.probe.sample_choice import adopt, draw_choice, measured, read_ahead
from explorer.screens.probe.search import draw_search
from explorer.screens.probe.surgery import draw_surgery
from explorer.web import changes_in_force, page_parts, runtime, session, sidebar
from explorer.web.downloads import download_button
from model.folder import CheckpointError

SURGERY = "Surgery"


def prepare() -> None:
    """Do ahead of the first visit what it would wait for; see :mod:`explorer.web.warm_up`."""
    read_ahead()


def draw() -> None:
    """Draw the question, the sample, then the tabs."""
    page_parts.heading(
        "What does each head do, how sure are we, and what happens without it?",
        "A head is named after what it does over many sentences. Whether it matters shows when it is switched off.",
    )
    selection = sidebar.selection()
    if selection is None:
        st.info("There is no model to probe yet.")
        return
    try:
        described = runtime.describe(selection.model)
    except CheckpointError as broken:
        st.info(plain(str(broken)))
        return
    if not described.is_transformer:
        st.info(plain(f"{described.name} is an LSTM and has nothing of what is shown here; choose a Transformer."))
        return
    if changes_in_force.adopt(selection.model, described.model_config) and "probe_tab" not in st.query_params:
        st.session_state["probe_tab"] = SURGERY  # a link with edits opens the tab that shows them
    for problem in (*session.problems(), adopt(selection.model)):
        if problem:
            st.warning(plain(problem))
    result = _sample(described)
    _tabs(described, selection.text, result)
    here = dataclasses.replace(session.selection(), model=selection.model, text=selection.text)
    page_parts.write_address(here, "step", "kind", "layer", "head", "edit")


def _sample(described: ModelDescription) -> Measured | None:
    choice, description = st.columns([3, 8], vertical_alignment="center")
    with choice:
        draw_choice(described.name)
    caption = description.empty()
    result = measured(described)
    if result is not None:
        trained = runtime.summary(described.name)["trained"]
        caption.caption(
            plain(
                f"Measured on {result.about}. Baselines: uniform attention and {result.probe.seeds} untrained models."
                + ("" if trained else " This model is untrained itself.")
            )
        )
    return result


def _tabs(described: ModelDescription, text: str, result: Measured | None) -> None:
    """Draw the tabs; only the content of the open one is drawn."""

    def measured_only(draw: Callable[[Measured], None]) -> Callable[[], None]:
        return lambda: _nothing() if result is None else draw(result)

    page_parts.draw_tabs(
        "probe",
        {
            "All heads": measured_only(partial(draw_heads, described)),
            ONE_HEAD: measured_only(partial(draw_card, described)),
            SURGERY: lambda: draw_surgery(described, text, result),
            "Patching": lambda: draw_patching(described, text),
            "Cross-checks": lambda: draw_cross_checks(described, text, result),
            "Importance": measured_only(partial(_importance, described)),
            "Search": measured_only(partial(_search, described)),
            "Grammar": measured_only(partial(draw_grammar, described)),
            "Export": measured_only(partial(_export, described)),
        },
    )


def _nothing() -> None:
    st.caption("Nothing has been measured yet.")


def _importance(described: ModelDescription, result: Measured) -> None:
    draw_importance(described, result)
    draw_findings(described, result)


def _search(described: ModelDescription, result: Measured) -> None:
    observed = observations(described, result)
    if observed is None:
        return
    tags = tags_of(grammar_of(described, result, "source"), grammar_of(described, result, "target"), observed)
    draw_search(result, observed, tags, whole_words=described.data_config.tokenizer != "characters")


def _export(described: ModelDescription, result: Measured) -> None:
    """Draw the download buttons for all measurements."""
    name, probe = described.name, result.probe
    importance = known_importance(described, result)
    sections = [] if importance is None else [importance_section(importance)]
    sections += known_checks(described, result)
    about = tuple(facts(runtime.summary(name)))
    rows = number_rows(probe)
    numbers = plural(len(rows), "number")
    st.caption(plain(f"{numbers}, each with its standard deviation, both baselines and the number of sentences."))
    if importance is None:
        st.caption("To include the importance of each head in the report, measure it in the tab 'Importance' first.")
    if len(sections) < 4:
        st.caption("The report has those cross-checks that have been counted in the tab 'Cross-checks'.")
    with st.container(horizontal=True):
        files: dict[str, tuple[str, str, Callable[[], bytes | str]]] = {
            "Table (CSV)": ("csv", "text/csv", partial(table_csv, rows)),
            "Everything (JSON)": ("json", "application/json", partial(as_json, probe, name, result.about)),
            "Role map (SVG)": ("svg", "image/svg+xml", partial(role_map_svg, probe, name, result.about)),
            "Report (HTML)": ("html", "text/html", partial(as_report, probe, name, result.about, sections, about)),
        }
        for label, (kind, mime, make) in files.items():
            download_button(label, make, f"{name}-heads.{kind}", mime, key=f"probe_{kind}")
