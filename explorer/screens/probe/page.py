"""Probe: what each head does over many sentences, how sure we are, and what happens without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import streamlit as st

from explorer.probing.report import as_csv, as_json, as_report
from explorer.probing.sample import Measured
from explorer.probing.tables import number_rows
from explorer.screens.probe.all_heads import draw_heads
from explorer.screens.probe.findings import draw_findings
from explorer.screens.probe.grammar import draw_grammar, grammar_of, tags_of
from explorer.screens.probe.head_card import draw_card
from explorer.screens.probe.importance import draw_importance, importance_rows, known_importance
from explorer.screens.probe.sample_choice import adopt, draw_choice, measured
from explorer.screens.probe.search import draw_search
from explorer.screens.probe.surgery import draw_surgery
from explorer.text import plain
from explorer.translation.model_summary import facts
from explorer.translation.translator import Translator
from explorer.web import head_edits as surgery_state
from explorer.web import page_parts as teach
from explorer.web import runtime, session, sidebar
from explorer.web.downloads import download_button
from explorer.web.figures import freeze_after
from model.folder import CheckpointError

SURGERY = "Surgery"


def draw() -> None:
    """The question, the sample, then the tabs."""
    teach.heading(
        "What does each head do, how sure are we, and what happens without it?",
        "A head is called by what it does over many sentences. Whether it matters shows when it is switched off.",
    )
    selection = sidebar.selection()
    if selection is None:
        st.info("There is no model to probe yet.")
        return
    try:
        translator = runtime.translator(selection.model)
        model = translator.loaded.transformer
    except CheckpointError as broken:
        st.info(plain(str(broken)))
        return
    if surgery_state.adopt(selection.model, model.config) and "probe_tab" not in st.query_params:
        st.session_state["probe_tab"] = SURGERY  # a link with edits opens the tab where they are
    for problem in (*session.problems(), adopt(selection.model)):
        if problem:
            st.warning(plain(problem))
    found = _sample(translator)
    _tabs(translator, selection.text, found)
    here = dataclasses.replace(session.place(), model=selection.model, text=selection.text)
    teach.write_address(here, "step", "kind", "layer", "head")
    surgery_state.write_link()
    freeze_after("probe")


def _sample(translator: Translator) -> Measured | None:
    choice, words = st.columns([1, 4], vertical_alignment="center")
    with choice:
        draw_choice(translator.name)
    said = words.empty()
    found = measured(translator.loaded)
    if found is not None:
        trained = runtime.models()[translator.name]["trained"]
        said.caption(
            plain(
                f"Measured on {found.about}; beside uniform attention and {found.probe.seeds} untrained models."
                + ("" if trained else " This model is untrained itself.")
            )
        )
    return found


def _tabs(translator: Translator, text: str, found: Measured | None) -> None:
    """Only the open tab is drawn."""
    loaded = translator.loaded

    def measured_only(draw: Callable[[Measured], None]) -> Callable[[], None]:
        return lambda: _nothing() if found is None else draw(found)

    teach.draw_tabs(
        "probe",
        {
            "All heads": measured_only(draw_heads),
            "One head": measured_only(lambda found: draw_card(loaded, found)),
            SURGERY: lambda: draw_surgery(translator, text, found),
            "Importance": measured_only(lambda found: _importance(translator, found)),
            "Search": measured_only(lambda found: _search(translator, found)),
            "Grammar": measured_only(lambda found: draw_grammar(loaded, found)),
            "Export": measured_only(lambda found: _export(translator, found)),
        },
    )


def _nothing() -> None:
    st.caption("There is nothing measured to show here yet.")


def _importance(translator: Translator, found: Measured) -> None:
    draw_importance(translator.loaded, found)
    draw_findings(translator.loaded, found)


def _search(translator: Translator, found: Measured) -> None:
    loaded = translator.loaded
    tags = tags_of(grammar_of(loaded, found, "source"), grammar_of(loaded, found, "target"), found)
    draw_search(found, tags, whole_words=loaded.data_config.tokenizer != "characters")


def _export(translator: Translator, found: Measured) -> None:
    """Files of everything measured."""
    name, probe = translator.name, found.probe
    known = known_importance(translator.loaded, found)
    worth = importance_rows(known) if known is not None else None
    about = tuple(facts(runtime.models()[name]))
    rows = number_rows(probe)
    st.caption(plain(f"{len(rows):,} numbers, each with its spread, both baselines and the number of sentences."))
    if worth is None:
        st.caption("What each head is worth comes into the report once the tab 'Importance' was opened.")
    with st.container(horizontal=True):
        files = {
            "Table (CSV)": ("csv", "text/csv", partial(as_csv, rows)),
            "Everything (JSON)": ("json", "application/json", partial(as_json, probe, name, found.about)),
            "Report (HTML)": ("html", "text/html", partial(as_report, probe, name, found.about, worth, about)),
        }
        for label, (kind, mime, make) in files.items():
            download_button(label, make, f"{name}-heads.{kind}", mime, key=f"probe_{kind}")
