"""The button that downloads a model as one page, which computes it in any browser, without Headlight."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.decoding.cache import cached
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import runtime
from explorer.web.downloads import download_button
from model.user_error import UserError


def draw(name: str, text: str, *, own_pairs: bool, key: str) -> None:
    """Draw the panel that offers the page, or says why this model cannot be one; the page opens with `text`.

    `own_pairs`: the model was trained on somebody's own sentences, some of which are its examples.
    """
    panel = st.popover(t("Send it as a page"), key=f"{key}_page_{name}", on_change="rerun")
    if not panel.open:
        return
    with panel:
        try:
            with st.spinner(t("Looking at the model …")):
                size = _size(name, runtime.fingerprint(name))
        except UserError as reason:  # the browser cannot compute it, or it is gone
            st.caption(plain(str(reason)))
            return
        about = t(
            "One file of about {size:.1f} MB, with the model in it. It opens in browsers of 2023 or later, without "
            "Headlight and without a network, and translates whatever is typed there.",
            size=size / 1e6,
        )
        pairs = t("Anybody with the file can read its vocabulary and its example sentences, which are your own data.")
        st.caption(plain(f"{about} {pairs}" if own_pairs else about))
        make = partial(_made, name, text)
        download_button(t("Download the page (HTML)"), make, f"{name}.html", "text/html", key=f"{key}_page_file")


@cached
def _size(name: str, version: str) -> int:
    from explorer.files.live_site import estimated_size

    del version  # part of the key only
    return estimated_size(runtime.CHECKPOINTS / name)


def _made(name: str, text: str) -> bytes:
    """Make the page, in the turn of one computation: the examples are translated for their hints."""
    from explorer.files.live_site import live_model, single_page

    with runtime.model(name) as translator:
        model = live_model(runtime.CHECKPOINTS / name, translator)
    return single_page([model], {"model": name, "text": text} if text else {"model": name})
