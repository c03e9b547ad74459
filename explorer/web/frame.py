"""The frame that all pages share, and the guard that keeps a deep link from bypassing it.

With a `pages/` folder, a deep link that is the first request to a fresh server runs the page itself: Streamlit learns
of `st.navigation` only once app.py has run in the process. Each page therefore begins with `ensure_shell()`.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

_APP = Path(__file__).parents[2] / "app.py"
_INSIDE = "_inside_shell"


# Streamlit's header is an opaque bar over the page's first lines; here only its buttons cover anything. Below 768
# pixels, where the sidebar is folded away, name and buttons stand there, and scrolled text must not run through them.
# Its "Running … Stop" would flicker at each poll of a live run, so it appears only when a script run takes long.
# In our colours, its captions have a contrast of 4.15:1, and small text needs 4.5:1.
# Its frame around the whole page, when the page itself has the keyboard's focus, is a line at its edge here.
# The first page is kept low above its figure, which then begins on the first screen of a laptop.
# Why a file was not taken stands in its chip, where Streamlit tells it to screen readers and to a pointer that hovers.
# The selected button in a row and a slider's value have 3.64:1 in the dark theme, so they take the colour of links.
_STYLE = """<style>
.stMainBlockContainer { padding: 1.25rem 3rem 2rem 2rem; }
[data-testid="stHeader"] { background: transparent; }
[data-testid="stHeader"], [data-testid="stHeader"] * { pointer-events: none; }
[data-testid="stHeader"] :is(button, a), [data-testid="stHeader"] :is(button, a) * { pointer-events: auto; }
[data-testid="stStatusWidget"]:has([data-testid="stStatusWidgetRunningIcon"]) { animation: late 0s 2s both; }
@keyframes late { from { visibility: hidden; } }
.stApp [data-testid="stCaptionContainer"] { opacity: 0.75; }
.stMain:focus-visible::before { box-shadow: inset 3px 0 var(--st-primary-color, #0f5e7d) !important; }
.stApp :is([data-selected="true"], [data-testid="stSliderThumbValue"]) [data-testid="stMarkdownContainer"] p {
  color: light-dark(#0f5e7d, #7cc4de); }
.st-key-top_line_row { flex-wrap: nowrap !important; }
@media (min-width: 769px) { .stMainBlockContainer:has(.st-key-top_line_row) { padding-top: 0.75rem; } }
.stMainBlockContainer:has(.st-key-top_line_row) > [data-testid="stVerticalBlock"] > [data-testid="stLayoutWrapper"]
  > [data-testid="stVerticalBlock"] { gap: 0.6rem; }
.st-key-answer h4 { padding: 0; }
.st-key-answer h4::before {
  content: "Translation"; margin-right: 0.6em; font-size: 0.8rem; font-weight: 400; opacity: 0.75; }
.st-key-answer button { min-height: 2rem; padding: 0 0.6rem; }
.st-key-answer [data-testid="stHorizontalBlock"] { column-gap: 0.6rem; }
.st-key-answer [data-testid="stHeaderActionElements"] { display: none; }
[data-testid="stFileChip"]:has([role="alert"]) { flex-wrap: wrap; height: auto; max-width: 100%; }
[data-testid="stFileChip"] [role="alert"] {
  position: static; flex: 1 0 100%; width: auto; height: auto; margin: 0; padding: 0 0 0.25rem 0.25rem;
  overflow: visible; clip: auto; clip-path: none; white-space: normal; font-size: 0.875rem; }
.stApp a[href^="#term-"] {
  color: inherit; text-decoration: underline dotted; text-underline-offset: 3px; cursor: help; }
@media (min-width: 769px) { .stApp :has(> .st-key-phone_subject), .st-key-phone_subject { display: none; } }
@media (max-width: 768px) {
  .stMainBlockContainer { padding: 4rem 1.5rem 2rem; }
  [data-testid="stHeader"] { background: light-dark(#ffffff, #0f151b); }
}
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 4rem 0.75rem 2rem; }
  .st-key-sentence_row > * { flex: 1 1 100% !important; width: 100% !important; }
  .stMain .st-key-sentence_row { flex-wrap: nowrap !important; gap: 0.5rem; }
  .stMain .st-key-sentence_row > .st-key-text { flex: 1 1 auto !important; width: auto !important; min-width: 0; }
  .stMain .st-key-sentence_row > :not(.st-key-text) { flex: 0 0 136px !important; width: 136px !important; }
  .stMain .st-key-sentence_row .st-key-text [data-testid="stWidgetLabel"] { width: calc(100vw - 1.5rem); }
  .stMain .st-key-sentence_row > :not(.st-key-text) * { font-size: 0.875rem; }
  .st-key-top_line_row { position: relative; }
  .st-key-top_line_row > :has([data-testid="stPageLink"]) { position: absolute; right: 0; bottom: 0; }
  .st-key-answer > :first-child > [data-testid="stHorizontalBlock"] { position: relative; gap: 0.25rem; }
  .st-key-answer h4 { padding-bottom: 0.6rem; font-size: 1.05rem; line-height: 1.3; }
  .st-key-answer h4::before { display: block; line-height: 1.9rem; }
  .st-key-answer .st-key-next_word { position: absolute; top: 0; right: 0; }
  .st-key-answer .st-key-next_word button { min-height: 1.75rem; }
  .st-key-answer [data-testid="stSpace"] { display: none; }
  .st-key-answer [data-testid="stCaptionContainer"] p { font-size: 0.8rem; line-height: 1.35; }
  /* Without a pointer that hovers, the charts' buttons would always stand, on titles; two taps reset a zoomed chart. */
  .stApp .modebar-container { display: none; }
  [class*="st-key-wide_"] { overflow-x: auto; }
  [class*="st-key-wide_"] > * { min-width: 540px; }
}
</style>"""


def style() -> None:
    """Set margins that Streamlit has no option for: figures get the width, and the first screen shows the answer."""
    st.html(_STYLE)


def enter_shell() -> None:
    """Mark this run as started by app.py, which calls this right before it runs the page."""
    st.session_state[_INSIDE] = True


def ensure_shell() -> None:
    """First line of every page: if app.py did not start this run, run app.py now and then end this script."""
    if st.session_state.pop(_INSIDE, False):
        return
    runpy.run_path(str(_APP), run_name="__main__")
    # Not st.stop(): its stop request would replace a click that is waiting for this run to end.
    raise StopException
