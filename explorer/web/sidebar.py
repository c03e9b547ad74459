"""The sidebar that all pages share: model, sentence, link, and exports; also the welcome line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.browser.frame import copy_link, top_line, tour
from explorer.decoding.examples import Prompt, examples_of
from explorer.decoding.model_summary import facts, story, title
from explorer.decoding.selection import Selection
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import address, decoding_choice, runtime, session
from model.nearest import nearest

PREFERRED = ("multi30k-en-de", "adjective-swap")  # the first of these that exists is opened first
_SELECTION, _TURN, _FIELD_OF, _ASKED = "_selection", "_tour_turn", "_field_of", "_asked"


def draw(*, sentence_on_page: bool = False, welcome: bool = False) -> None:
    """Draw the sidebar and determine the selection of this run; pages read it with :func:`selection`.

    A page that centres on the sentence draws the field itself, with :func:`draw_sentence`; elsewhere it is in the
    sidebar. With `welcome`, a line on top introduces the app. How the next word is chosen is changed on Translate;
    other pages say so where it is not the likeliest.
    """
    summaries = runtime.models()
    page = st.container()
    st.session_state[_SELECTION] = None
    with st.sidebar:
        if not summaries:
            st.warning(t("There is no model in the checkpoints folder yet. Train one on the Train page."))
            return
        summary = summaries[_model(summaries, page)]
        if welcome:
            with page:
                _draw_top_line()
        if not sentence_on_page:
            draw_sentence(labelled=True)
        st.caption(plain(story(summary)))
        # Pages with a single view can export and embed it.
        st.session_state[_ASKED] = copy_link(key="copy_link", view=sentence_on_page)
        with st.expander(t("Size and scores")):
            for line in filter(None, facts(summary)):
                st.caption(plain(line))
        for broken, why in runtime.broken_models().items():
            st.caption(plain(t("{model} cannot be opened: {why}", model=broken, why=why)))
        if not welcome and session.decode_config().method != "greedy":
            label = t("Next word: {choice}", choice=decoding_choice.summary())
            st.page_link("pages/translate.py", label=label, help=t("Change it on Translate."))


def draw_link() -> None:
    """Draw the link alone, on a page that needs neither the model nor the sentence, and determine the selection."""
    select()
    with st.sidebar:
        copy_link(key="copy_link")


def draw_sentence(*, labelled: bool) -> None:
    """Draw the field for the sentence and determine the selection of this run; the model is that of the sidebar."""
    summary = runtime.models()[str(st.session_state[session.MODEL])]
    text = _sentence(summary, examples_of(summary), labelled=labelled)
    st.session_state[_SELECTION] = session.settle(summary["name"], text)


def continues() -> bool:
    """Whether the chosen model, or the one that the address names, continues a text: a decoder without encoder."""
    name = address.present().get("model") or st.session_state.get(session.MODEL)
    summary = runtime.models().get(str(name))
    return summary is not None and summary["model"].get("architecture") == "decoder"


def select() -> None:
    """Determine the selection of this run without drawing anything: what the address names, or the first model."""
    summaries = runtime.models()
    if not summaries:
        st.session_state[_SELECTION] = None
        return
    name = _asked_model(summaries, st.container())
    prompts = examples_of(summaries[name])
    session.suggest_text(name, prompts[0].source if prompts else "")
    st.session_state[_SELECTION] = session.settle(name, str(st.session_state.get(session.TEXT) or ""))


def asked(name: str) -> bool:
    """Whether the user has just pressed the sidebar's button `name`, "export" or "embed"; true once."""
    pressed = st.session_state.get(_ASKED) == name
    if pressed:
        st.session_state[_ASKED] = ""
    return pressed


def selection() -> Selection | None:
    """The selection that the sidebar determined in this run; None if there is no model at all."""
    current: Selection | None = st.session_state.get(_SELECTION)
    return current


def _asked_model(summaries: dict[str, dict[str, Any]], page: DeltaGenerator) -> str:
    """The model that was chosen or linked to, or the first; if it does not exist, the page says so."""
    names = _names(summaries)
    asked = st.session_state.get(session.MODEL)
    if asked not in summaries:
        if asked is not None:
            # On the page, because on a phone the sidebar is closed.
            page.warning(plain(_absent(asked, names)))
            session.forget_selection()
        st.session_state[session.MODEL] = next((name for name in PREFERRED if name in summaries), names[0])
    return str(st.session_state[session.MODEL])


def _names(summaries: dict[str, dict[str, Any]]) -> list[str]:
    return sorted(summaries, key=lambda name: (not summaries[name]["bundled"], name))


def _model(summaries: dict[str, dict[str, Any]], page: DeltaGenerator) -> str:
    _asked_model(summaries, page)
    return st.selectbox(
        t("Model"),
        _names(summaries),
        format_func=lambda name: title(summaries[name]),
        key=session.MODEL,
        persist_state="session",
    )


def _absent(name: str, others: Sequence[str]) -> str:
    """Why the model called `name` is not shown, and what can be done."""
    if why := runtime.broken_models().get(name):
        return t("The model “{name}” cannot be opened: {why} Another model is shown.", name=name, why=why)
    return t("There is no model “{name}” here. {nearest}", name=name, nearest=nearest(name, others))


def _sentence(summary: dict[str, Any], prompts: Sequence[Prompt], *, labelled: bool) -> str:
    session.suggest_text(summary["name"], prompts[0].source if prompts else "")
    with st.container(horizontal=True, vertical_alignment="bottom", key="sentence_row"):
        text = _field(labelled=labelled)
        labels = (summary.get("imported") or {}).get("labels")
        if isinstance(labels, list) and labels and all(isinstance(label, str) for label in labels):
            _target_label(labels, text)
        if prompts:
            _examples(prompts)
    return text


def _target_label(labels: list[str], text: str) -> None:
    """Draw the choice of the target language, for a model with several: the label that begins the sentence."""
    st.session_state["target_label"] = next((label for label in labels if text.startswith(label)), None)
    st.selectbox(
        t("Into"),
        labels,
        index=None,
        format_func=lambda label: label.strip("<>"),
        key="target_label",
        placeholder=t("Into which language?"),
        label_visibility="collapsed",
        width=180,
        on_change=_use_label,
        args=(labels,),
    )


def _use_label(labels: list[str]) -> None:
    """Replace the label that begins the sentence by the chosen one."""
    text, chosen = str(st.session_state.get(session.TEXT) or ""), st.session_state["target_label"]
    before = next((label for label in labels if text.startswith(label)), "")
    st.session_state[session.TEXT] = f"{chosen or ''} {text.removeprefix(before).lstrip()}".strip()
    session.move(path=None)


def _field(*, labelled: bool) -> str:
    # To Streamlit, the field of another page is another widget; this write hands the sentence over to it.
    page = address.page()
    if st.session_state.get(_FIELD_OF) != page:
        st.session_state[_FIELD_OF], st.session_state[session.TEXT] = page, st.session_state[session.TEXT]
    label = t("Type a sentence and press Enter: what does the model look at while it writes?")
    if continues():
        label = t("Type a beginning and press Enter: what does the model look at while it continues it?")
    text = st.text_input(
        label,
        key=session.TEXT,
        persist_state="session",
        placeholder=t("Type a sentence and press Enter"),
        label_visibility="visible" if labelled else "collapsed",
    )
    return text or ""


def _examples(prompts: Sequence[Prompt]) -> None:
    st.selectbox(
        t("Examples"),
        range(len(prompts)),
        index=None,
        format_func=lambda i: prompts[i].source,
        key="example",
        placeholder=t("Examples"),
        label_visibility="collapsed",
        width=220,
        on_change=_use_example,
        args=(prompts,),
    )


def _use_example(prompts: Sequence[Prompt]) -> None:
    chosen = st.session_state["example"]
    if chosen is not None:
        session.choose_example(prompts[chosen].source)
        st.session_state["example"] = None


def _draw_top_line() -> None:
    """Draw the line that introduces the app, with the tour's button and a link to the lessons."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="top_line_row"):
        top_line(key="top_line", on_tour=_start_tour, continues=continues())
        st.page_link("pages/lessons.py", label=t("Lessons"), icon=":material/school:", width="content")


def draw_tour() -> None:
    """Mount the tour if it was requested; call this at the end of the page, where it moves nothing."""
    if _TURN in st.session_state:
        tour(st.session_state[_TURN], key="tour")


def _start_tour() -> None:
    # A browser tab outlives sessions: a reconnected one must not repeat the number of an earlier tour.
    st.session_state[_TURN] = time.time_ns() // 1_000_000
