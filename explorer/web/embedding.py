"""Show the view on screen in a page of a course: as a file, or in a frame if the server allows it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st

from explorer.browser.structs import StandaloneView
from explorer.decoding.coordinates import Place
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import address, frame, security, stepping_page
from explorer.web.open_translation import OpenTranslation

SIZES = {False: (700, 420), True: (700, 480)}  # of the frame, without and with a field for a sentence


def frame_code(page: str, query: dict[str, str], *, field: bool) -> str:
    """The `<iframe>` that shows the view with this `query` of `page`, a web address; with a `field` for a sentence."""
    page = page if urlsplit(page).path else f"{page}/"
    wanted = query | ({frame.FIELD: "yes"} if field else {}) | {"embed": "true"}
    source = html.escape(f"{page}?{urlencode(wanted, quote_via=quote)}")
    width, height = SIZES[field]
    return (
        f'<iframe src="{source}" title="Headlight" width="{width}" height="{height}" style="border: 0" '
        f'allow="fullscreen"></iframe>'
    )


def obstacle(site: str, own: str, sites: Sequence[str]) -> str:
    """Why pages of a course at `site` cannot show the server at `own` in a frame; "" if they can."""
    if not security.lets_in(site, sites) and site != security.site_of(own):
        return t("This server does not let pages of {site} show it in a frame.", site=site)
    if _is_local(own) and not _is_local(site):
        return t("Only this computer can show the frame: here, the server's address is {own}.", own=own)
    if site.startswith("https:") and own.startswith("http:"):
        return t(
            "Browsers do not show a page of http in a page of https, and this server's address is {own}.",
            own=security.site_of(own),
        )
    return ""


def _is_local(address: str) -> bool:
    return urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")


def draw(opened: OpenTranslation, at: Place, *, view: StandaloneView) -> None:
    """Draw the dialog: the file, which works anywhere, and the frame's code once it is known to work in the course."""
    st.dialog(t("In a page of your course"), width="medium")(_draw)(opened, at, view=view)


def _draw(opened: OpenTranslation, at: Place, *, view: StandaloneView) -> None:
    st.markdown(f"##### {t('As a file: works anywhere')}")
    st.caption(
        t(
            "One page with everything in it. Upload it to your course like a document: it opens in any browser and "
            "needs no server."
        )
    )
    stepping_page.draw(opened.selection, opened.translation, at, view=view, key="embed_steps")
    st.markdown(f"##### {t('As a frame: the live view')}")
    course = st.text_input(t("Address of your course"), key="embed_course", placeholder="https://courses.example.org")
    if not _answer(course):
        return
    field = st.toggle(t("With a field for a sentence"), key="embed_field")
    code = frame_code(st.context.url or "", address.SELECTION.written(), field=field)
    st.code(code, language=None, wrap_lines=True)


def _answer(course: str) -> bool:
    """Whether a course's site can show the frame. Draws the answer, and if it cannot, what to do about it."""
    own, sites = st.context.url or "", security.frame_sites()
    if not course:
        st.caption(
            t("Enter it to see whether this server lets your course show the frame. If so, its code appears here.")
        )
        return False
    site = security.site_of(course)
    if not site:
        st.warning(t("This is no web address. Copy it from the address bar while your course is open."))
    elif why := obstacle(site, own, sites):
        st.warning(plain(f"{why} {t('The file above works without permission.')}"))
        if not security.lets_in(site, sites) and site != security.site_of(own):
            st.caption(t("Whoever runs this server can allow it with this setting:"))
            st.code(f'{security.FRAMES}="{" ".join([*sites, site])}"', language=None)
    else:
        st.success(plain(t("This server lets pages of {site} show the frame. Paste this into your page:", site=site)))
        return True
    return False
