"""How the next word is chosen: greedily, by beam search or by sampling; what is set takes effect at once.

The session holds the settings as `decode_<name>`. Widgets of a page are other widgets than those of the sidebar, even
under the same key, so each has a key of its own and copies the session's value.
"""

from __future__ import annotations

from typing import Any, Literal

import streamlit as st

from explorer.web import session
from model.config import ConfigError, DecodeConfig, own_search

Place = Literal["page", "sidebar"]
_BEAMS = 2, 10


def summary() -> str:
    """The current choice in a few words."""
    config = session.decode_config()
    if config.method == "beam":
        return f"beam of {config.beam_size}"
    return f"drawn at temperature {config.temperature:g}" if config.method == "sample" else "likeliest"


def draw(own: dict[str, Any], place: Place) -> None:
    """Draw the choice of method with its settings; `own` is the search that an imported model's authors use.

    A changed setting replaces a path that was chosen by hand, which the page still lists.
    """
    st.segmented_control(
        "Method",
        ["greedy", "beam", "sample"],
        required=True,
        help="greedy: always the likeliest token. beam: several translations at once. sample: drawn at random.",
        **_bound("method", place),
    )
    method = session.decode_config().method
    if method == "beam":
        _number("Beam size", "beam_size", *_BEAMS, "Number of hypotheses that are kept.", place)
        st.selectbox(
            "Length penalty",
            ["mean", "gnmt", "none"],
            help="The summed log-probability is divided by the length (mean), by (5 + length) / 6 (gnmt), or by "
            "nothing (none).",
            **_bound("length_penalty", place),
        )
        _own_search(own)
    if method == "sample":
        _number("Temperature", "temperature", 0.1, 3.0, "Below 1 sharpens, above 1 flattens.", place, step=0.1)
        _number("Top k", "top_k", 0, 1000, "Draw from the k likeliest tokens; 0 = all.", place)
        together = "Draw from the likeliest tokens that together have this probability."
        _number("Top p", "top_p", 0.05, 1.0, together, place, step=0.05)
        _number("Seed", "seed", 0, 1_000_000, "The same seed gives the same translation.", place)
        st.button("Draw again", on_click=_draw_again, help="Use the next seed.", key=f"{place}_draw_again")


def _bound(name: str, place: Place) -> dict[str, Any]:
    """The arguments that tie a widget to a setting of the session."""
    key = f"{place}_decode_{name}"
    st.session_state[key] = getattr(session.decode_config(), name)
    return {"key": key, "on_change": _take, "args": (name, key)}


def _take(name: str, key: str) -> None:
    st.session_state[f"decode_{name}"] = st.session_state[key]
    session.move(path=None)


def _own_search(own: dict[str, Any]) -> None:
    """Offer the settings with which the authors of an imported model search."""
    try:
        config = own_search(own, DecodeConfig())
    except ConfigError:
        return  # it has none
    st.button(
        f"As its authors: {config.beam_size} hypotheses",
        on_click=_use_search,
        args=(config,),
        help=f"Length penalty {config.length_penalty}, exponent {config.alpha:g}, as stored with the imported model.",
    )


def _use_search(config: DecodeConfig) -> None:
    for name in ("beam_size", "length_penalty", "alpha"):
        st.session_state[f"decode_{name}"] = getattr(config, name)
    st.session_state["decode_beam_size"] = min(max(config.beam_size, _BEAMS[0]), _BEAMS[1])
    session.move(path=None)


def _number(label: str, name: str, low: float, high: float, about: str, place: Place, step: float = 1) -> None:
    st.number_input(label, min_value=low, max_value=high, step=step, help=about, **_bound(name, place))


def _draw_again() -> None:
    st.session_state["decode_seed"] = session.decode_config().seed + 1
    session.move(path=None)
