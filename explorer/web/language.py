"""The language of a session: what its link or its menu chose, or else the browser's; English without a pack for it."""

from __future__ import annotations

import streamlit as st

from explorer.locale import language
from explorer.locale.catalogue import Pack, packs
from explorer.locale.messages import t
from explorer.locale.text import language_name, plain
from explorer.web import address, session
from explorer.web.streamlit_private import in_page_run
from model.user_error import readable

_CHOSEN, _CURRENT, _MENU = "_language_chosen", "_language", "language"


def of_session() -> str:
    """The language of the session whose page is drawn; English outside of one, such as in a thread of the server."""
    return str(st.session_state.get(_CURRENT, language.ENGLISH)) if in_page_run() else language.ENGLISH


language.ask(of_session)


def settle() -> dict[str, Pack]:
    """Determine the language of this run, before any text is written; return the languages to choose from."""
    known = packs()
    asked = address.LANGUAGE.asked().get("lang")
    unknown = asked is not None and asked not in known
    if asked in known:
        st.session_state[_CHOSEN] = st.session_state[_MENU] = asked
    chosen = st.session_state.get(_CHOSEN)
    code = chosen if chosen in known else of_browser(st.context.locale or "", known)
    if code != st.session_state.get(_CURRENT, code):
        _keep_choices()
    st.session_state[_CURRENT] = code
    language.choose(code)
    if unknown:
        session.add_problems([t("There is no language “{code}” here.", code=readable(str(asked)))])
    return known


def _keep_choices() -> None:
    """Set every choice anew: Streamlit remembers it by its label, which is about to change."""
    for key, value in st.session_state.items():
        parts = value if isinstance(value, list) and value else [value]
        if all(isinstance(part, str | int) and not isinstance(part, bool) for part in parts):
            st.session_state[key] = value


def of_browser(locale: str, known: dict[str, Pack]) -> str:
    """The code of the pack for a browser's language, such as "de-AT": the region's, or else the language's.

    A pack that is far from complete, or that nobody has read over, must be chosen.
    """
    for code in (locale, locale.partition("-")[0]):
        found = known.get(code)
        if found is not None and found.is_offered:
            return code
    return language.ENGLISH


def draw_menu(known: dict[str, Pack]) -> None:
    """Draw the choice of a language, each by its own name; without a pack there is nothing to choose."""
    if len(known) == 1:
        return
    st.session_state[_MENU] = language.current()
    st.selectbox(
        t("Language"),
        list(known),
        format_func=lambda code: language_name(known[code]),
        key=_MENU,
        on_change=_choose,
        help=t("A language is a file: the documentation says how to add one.")
        if all(not found.faults for found in known.values())
        else plain(t("Some messages of a language are left out because their fields or their markup differ.")),
    )


def _choose() -> None:
    st.session_state[_CHOSEN] = st.session_state[_MENU]


def write_address() -> None:
    """Keep a language that was chosen in the address, and so in links; the browser's own does not belong there."""
    address.LANGUAGE.write({"lang": st.session_state.get(_CHOSEN, "")})
