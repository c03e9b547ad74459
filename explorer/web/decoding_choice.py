"""The settings of decoding: greedy, beam search or sampling. A changed setting takes effect at once.

The session holds the settings as `decode_<name>`, also while another page is open. Streamlit drops the values of
widgets that are not drawn, so each widget has a key of its own and copies the session's value.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.locale.messages import t
from explorer.web import session
from model.config import ConfigError, DecodeConfig, own_search

_BEAMS = 2, 10


def summary() -> str:
    """The current choice in a few words."""
    config = session.decode_config()
    if config.method == "beam":
        return t("beam of {n}", n=config.beam_size)
    if config.method == "sample":
        return t("drawn at temperature {temperature:g}", temperature=config.temperature)
    return t("likeliest")


def draw(own: dict[str, Any]) -> None:
    """Draw the choice of method with its settings; `own` is the search that an imported model's authors use.

    A changed setting replaces a path that was chosen by hand, which the page still lists.
    """
    st.segmented_control(
        t("Method"),
        ["greedy", "beam", "sample"],
        required=True,
        help=t("greedy: always the likeliest token. beam: several translations at once. sample: drawn at random."),
        **_bound("method"),
    )
    method = session.decode_config().method
    if method == "beam":
        _number(t("Beam size"), "beam_size", *_BEAMS, t("Number of hypotheses that are kept."))
        st.selectbox(
            t("Length penalty"),
            ["mean", "gnmt", "none"],
            help=t(
                "The summed log-probability is divided by the length (mean), by (5 + length) / 6 (gnmt), or by nothing "
                "(none)."
            ),
            **_bound("length_penalty"),
        )
        _own_search(own)
    if method == "sample":
        _number(t("Temperature"), "temperature", 0.1, 3.0, t("Below 1 sharpens, above 1 flattens."), step=0.1)
        _number(t("Top k"), "top_k", 0, 1000, t("Draw from the k likeliest tokens; 0 = all."))
        about = t("Draw from the likeliest tokens that together have this probability.")
        _number(t("Top p"), "top_p", 0.05, 1.0, about, step=0.05)
        _number(t("Seed"), "seed", 0, 1_000_000, t("The same seed gives the same translation."))
        st.button(t("Draw again"), on_click=_draw_again, help=t("Use the next seed."), key="page_draw_again")


def _bound(name: str) -> dict[str, Any]:
    """The arguments that bind a widget to a setting of the session."""
    key = f"page_decode_{name}"
    st.session_state[key] = getattr(session.decode_config(), name)
    return {"key": key, "on_change": _take, "args": (name, key)}


def _take(name: str, key: str) -> None:
    st.session_state[f"decode_{name}"] = st.session_state[key]
    session.move(path=None)


def _own_search(own: dict[str, Any]) -> None:
    """Offer the search settings of an imported model's authors."""
    try:
        config = own_search(own, DecodeConfig())
    except ConfigError:
        return  # it has none
    st.button(
        t("As its authors: {n} hypotheses", n=config.beam_size),
        on_click=_use_search,
        args=(config,),
        help=t(
            "Length penalty {penalty}, exponent {exponent:g}, as stored with the imported model.",
            penalty=config.length_penalty,
            exponent=config.alpha,
        ),
    )


def _use_search(config: DecodeConfig) -> None:
    for name in ("beam_size", "length_penalty", "alpha"):
        st.session_state[f"decode_{name}"] = getattr(config, name)
    st.session_state["decode_beam_size"] = min(max(config.beam_size, _BEAMS[0]), _BEAMS[1])
    session.move(path=None)


def _number(label: str, name: str, low: float, high: float, about: str, step: float = 1) -> None:
    st.number_input(label, min_value=low, max_value=high, step=step, help=about, **_bound(name))


def _draw_again() -> None:
    st.session_state["decode_seed"] = session.decode_config().seed + 1
    session.move(path=None)
