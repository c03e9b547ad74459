"""The frame around every page, and the guard that a deep link cannot get past it.

With a `pages/` folder, the first request to a fresh server runs the page itself if it is a deep link: Streamlit learns
of `st.navigation` only when app.py has run once in the process. Each page therefore begins with `ensure_shell()`.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

_APP = Path(__file__).parents[2] / "app.py"
_INSIDE = "_inside_shell"


# Streamlit's header is an opaque bar over the page's first lines; here only its buttons are in the way of anything.
# Its "Running … Stop" would come and go with each look at a live run: it shows once a run of the script takes long.
# Its captions have a contrast of 4.15 to 1 in our colours, where small text needs 4.5;
# what is chosen in a row of buttons or on a slider has 3.64 in the dark, so it is written in the colour of links.
_STYLE = """<style>
.stMainBlockContainer { padding: 1.25rem 3rem 2rem 2rem; }
[data-testid="stHeader"] { background: transparent; }
[data-testid="stHeader"], [data-testid="stHeader"] * { pointer-events: none; }
[data-testid="stHeader"] :is(button, a), [data-testid="stHeader"] :is(button, a) * { pointer-events: auto; }
[data-testid="stStatusWidget"]:has([data-testid="stStatusWidgetRunningIcon"]) { animation: late 0s 2s both; }
@keyframes late { from { visibility: hidden; } }
.stApp [data-testid="stCaptionContainer"] { opacity: 0.75; }
.stApp :is([data-selected="true"], [data-testid="stSliderThumbValue"]) [data-testid="stMarkdownContainer"] p {
  color: light-dark(#0f5e7d, #7cc4de); }
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 3.5rem 0.75rem 2rem; }
  .st-key-sentence_row > * { flex: 1 1 100% !important; width: 100% !important; }
  [class*="st-key-wide_"] { overflow-x: auto; }
  [class*="st-key-wide_"] > * { min-width: 540px; }
}
</style>"""


def style() -> None:
    """Margins that Streamlit has no option for: figures get the width, and the first screen shows the answer."""
    st.html(_STYLE)


def enter_shell() -> None:
    """Called by app.py right before it runs the page."""
    st.session_state[_INSIDE] = True


def ensure_shell() -> None:
    """First line of every page: if app.py did not start this run, start it now and end this script after it."""
    if st.session_state.pop(_INSIDE, False):
        return
    runpy.run_path(str(_APP), run_name="__main__")
    # Not st.stop(): the stop that it asks for would take the place of a click that waits for this run to end.
    raise StopException
