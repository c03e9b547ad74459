"""The language of a session: what its link or its menu chose, or else the browser's; English without a pack for it."""

from __future__ import annotations

import streamlit as st

from explorer.locale import language
from explorer.locale.catalogue import Pack, packs
from explorer.locale.messages import t
from explorer.locale.text import percent, plain
from explorer.web import address, session
from explorer.web.streamlit_private import in_page_run
from model.user_error import readable

_CHOSEN, _CURRENT, _MENU = "_language_chosen", "_language", "language"
ENOUGH = 0.8
"""The share of translated messages from which a browser's language is used unasked."""


def of_session() -> str:
    """The language of the session whose page is drawn; English outside of one, such as in a thread of the server."""
    return str(st.session_state.get(_CURRENT, language.ENGLISH)) if in_page_run() else language.ENGLISH


language.ask(of_session)


def settle() -> None:
    """Determine the language of this run; call it before any text is written."""
    known = packs()
    asked = address.LANGUAGE.asked().get("lang")
    unknown = asked is not None and asked not in known
    if asked in known:
        st.session_state[_CHOSEN] = st.session_state[_MENU] = asked
    chosen = st.session_state.get(_CHOSEN)
    code = chosen if chosen in known else of_browser(st.context.locale or "", known)
    st.session_state[_CURRENT] = code
    language.choose(code)
    if unknown:
        session.add_problems([t("There is no language “{code}” here.", code=readable(str(asked)))])


def of_browser(locale: str, known: dict[str, Pack]) -> str:
    """The code of the pack for a browser's language, such as "de-AT": the region's, or else the language's.

    A pack that is far from complete, or that nobody has read over, must be chosen.
    """
    for code in (locale, locale.partition("-")[0]):
        found = known.get(code)
        if found is not None and found.share >= ENOUGH and not found.by_machine:
            return code
    return language.ENGLISH


def draw_menu() -> None:
    """Draw the choice of a language, each by its own name; without a pack there is nothing to choose."""
    known = packs()
    if len(known) == 1:
        return
    st.session_state[_MENU] = language.current()
    st.selectbox(
        t("Language"),
        list(known),
        format_func=lambda code: name_of(known[code]),
        key=_MENU,
        on_change=_choose,
        help=t("A language is a file: the documentation says how to add one.")
        if all(not found.faults for found in known.values())
        else plain(t("Some messages of a language are left out because their fields or their markup differ.")),
    )


def name_of(found: Pack) -> str:
    """A language's name in the menu, with how much of it is translated, and by whom."""
    if found.by_machine:
        return t("{language} (translated by a machine)", language=found.name)
    if found.share < 0.995:
        return t("{language} ({share} translated)", language=found.name, share=percent(found.share))
    return found.name


def _choose() -> None:
    st.session_state[_CHOSEN] = st.session_state[_MENU]


def write_address() -> None:
    """Keep a language that was chosen in the address, and so in links; the browser's own does not belong there."""
    address.LANGUAGE.write({"lang": st.session_state.get(_CHOSEN, "")})
