"""The frame that all pages share, and the guard that keeps a deep link from bypassing it.

With a `pages/` folder, a deep link that is the first request to a fresh server runs the page itself: Streamlit learns
of `st.navigation` only once app.py has run in the process. Each page therefore draws only `if in_shell()`.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from urllib.parse import quote, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.locale import language
from explorer.locale.messages import t
from explorer.web import address

_HERE = Path(__file__).parent
_APP = _HERE.parents[1] / "app.py"
_INSIDE = "_inside_shell"
FIELD = "field"  # the address parameter with which an embedded view has a field for a sentence


def style(path: str = "") -> None:
    """Add the style sheets for what Streamlit has no option for: wide figures, and the answer on the first screen."""
    st.html(_HERE / "frame.css")
    if path == "translate":  # Streamlit marks the menu's first page only at "/"
        link = '[data-testid="stSidebarNavLink"][href$="/"]'
        mark = "background: color-mix(in srgb, currentColor 10%, transparent)"
        st.html(f"<style>{link} {{ {mark} }} {link} span {{ font-weight: 700 }}</style>")
    if language.current() != language.ENGLISH:
        answer, more = _in_style(t("Translation")), _in_style(t("Continuation"))
        label = ".st-key-answer {} h4::before {{ content: {} }}"  # as in frame.css
        st.html(f"<style>{label.format('', answer)} {label.format('.st-key-continuation', more)}</style>")
    if is_embedded():
        st.html(_HERE / "embedded.css")


def _in_style(word: str) -> str:
    """A word as a string in a style sheet: without what could end the string or the sheet."""
    kept = re.sub(r"[^\w ]", "", word)
    return f'"{kept}"'


def is_embedded() -> bool:
    """Whether the app is in a frame of another page (`embed=true`): one view, no sidebar, no controls around it."""
    return bool(st.context.is_embedded)


def way_out() -> DeltaGenerator:
    """Make room above an embedded view for the link that :func:`draw_way_out` draws once the address is known."""
    return st.container(key="way_out")


def draw_way_out(place: DeltaGenerator) -> None:
    """Draw the link from an embedded view to the same view in the app, in a tab of its own."""
    with place:
        st.caption(f"[{t('Open in Headlight')}](?{urlencode(address.SELECTION.written(), quote_via=quote)})")


def enter_shell() -> None:
    """Mark this run as started by app.py, which calls this right before it runs the page."""
    st.session_state[_INSIDE] = True


def in_shell() -> bool:
    """Whether app.py started this run of a page; if not, run app.py, which runs the page in its frame."""
    if st.session_state.pop(_INSIDE, False):
        return True
    runpy.run_path(str(_APP), run_name="__main__")
    return False
