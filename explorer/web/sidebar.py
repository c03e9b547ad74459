"""The sidebar that all pages share: the model, the sentence, how the next word is chosen, and the link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.components.copy_link import copy_link
from explorer.text import plain
from explorer.translation.examples import Prompt, examples_of
from explorer.translation.model_summary import facts, story, title
from explorer.translation.selection import Selection
from explorer.web import runtime, session
from model.config import DecodeConfig, nearest

PREFERRED = ("multi30k-en-de", "adjective-swap")  # the first of these that exists is opened first
_SELECTION = "_selection"


def draw(*, sentence_on_page: bool = False) -> None:
    """Draw the sidebar and determine the selection of this run; pages read it with :func:`selection`.

    A page that centres on the sentence has the sentence field on the page itself; elsewhere it is in the sidebar.
    """
    summaries = runtime.models()
    page = st.container()
    with st.sidebar:
        if not summaries:
            st.warning("There is no model in the checkpoints folder yet. Train one with `python -m model.train`.")
            st.session_state[_SELECTION] = None
            return
        name = _model(summaries)
        summary = summaries[name]
        prompts = examples_of(summary)
        with page if sentence_on_page else st.container():
            text = _sentence(summary, prompts)
        st.caption(plain(story(summary)))
        with st.expander("Size and scores"):
            for line in filter(None, facts(summary)):
                st.caption(plain(line))
        for broken, why in runtime.broken_models().items():
            st.caption(plain(f"{broken} cannot be opened: {why}"))
        _decoding()
        copy_link(key="copy_link")
    st.session_state[_SELECTION] = session.settle(name, text)


def selection() -> Selection | None:
    """The selection that the sidebar determined in this run; None if there is no model at all."""
    found: Selection | None = st.session_state[_SELECTION]
    return found


def _model(summaries: dict[str, dict[str, Any]]) -> str:
    names = sorted(summaries, key=lambda name: (not summaries[name]["bundled"], name))
    asked = st.session_state.get(session.MODEL)
    if asked not in summaries:
        if asked is not None:
            st.warning(plain(f"There is no model '{asked}' here{nearest(asked, names)}"))
            session.forget_place()
        st.session_state[session.MODEL] = next((name for name in PREFERRED if name in summaries), names[0])
    return st.selectbox(
        "Model",
        names,
        format_func=lambda name: title(summaries[name]),
        key=session.MODEL,
        persist_state="session",
    )


def _sentence(summary: dict[str, Any], prompts: Sequence[Prompt]) -> str:
    session.suggest_text(summary["name"], prompts[0].source if prompts else "")
    with st.container(horizontal=True, vertical_alignment="bottom", key="sentence_row"):
        text = _field()
        if prompts:
            _examples(prompts)
    return text


def _field() -> str:
    text = st.text_input(
        "Type a sentence and press Enter: what does the model look at while it translates?",
        key=session.TEXT,
        persist_state="session",
        placeholder="Type a sentence and press Enter",
    )
    return text or ""


def _examples(prompts: Sequence[Prompt]) -> None:
    st.selectbox(
        "Examples",
        range(len(prompts)),
        index=None,
        format_func=lambda i: prompts[i].source,
        key="example",
        placeholder="Examples",
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


def _decoding() -> None:
    default = DecodeConfig()
    with st.expander("How the next word is chosen"):
        method = st.segmented_control(
            "Method",
            ["greedy", "beam", "sample"],
            default=None if "decode_method" in st.session_state else default.method,
            required=True,
            key="decode_method",
            persist_state="session",
            help="greedy: always the likeliest token. beam: several translations at once. sample: drawn at random.",
        )
        if method == "beam":
            _number("Beam size", "beam_size", 2, 10, "Number of hypotheses that are kept.")
            st.selectbox(
                "Length penalty",
                ["mean", "gnmt", "none"],
                key="decode_length_penalty",
                persist_state="session",
                help="The summed log-probability is divided by the length (mean), by (5 + length) / 6 (gnmt), or by "
                "nothing (none).",
            )
        if method == "sample":
            _number("Temperature", "temperature", 0.1, 3.0, "Below 1 sharpens, above 1 flattens.", step=0.1)
            _number("Top k", "top_k", 0, 1000, "Draw from the k likeliest tokens; 0 = all.")
            _number(
                "Top p",
                "top_p",
                0.05,
                1.0,
                "Draw from the likeliest tokens that together have this probability.",
                step=0.05,
            )
            _number("Seed", "seed", 0, 1_000_000, "The same seed gives the same translation.")
            st.button("Draw again", on_click=_draw_again, help="Use the next seed.")


def _number(label: str, name: str, low: float, high: float, help_text: str, step: float = 1) -> None:
    key = f"decode_{name}"
    if key not in st.session_state:
        st.session_state[key] = getattr(DecodeConfig(), name)
    st.number_input(label, min_value=low, max_value=high, step=step, key=key, persist_state="session", help=help_text)


def _draw_again() -> None:
    st.session_state["decode_seed"] = st.session_state.get("decode_seed", 0) + 1
    session.move(path=None)
