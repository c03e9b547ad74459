"""The translation that the selection names, opened for a page: or a sentence about why there is none."""

from __future__ import annotations

import dataclasses

import streamlit as st

from explorer.text import plain
from explorer.translation.selection import Selection
from explorer.translation.translator import InputError, Translation
from explorer.web import runtime, session, sidebar
from model.config import DecodeConfig
from model.folder import CheckpointError


@dataclasses.dataclass(frozen=True, eq=False)
class Opened:
    """What the model itself says (`own`), and what is shown: the same, or the path that somebody chose."""

    selection: Selection
    own: Translation
    shown: Translation

    @property
    def address(self) -> Selection:
        """Where the session is now, as it belongs into the address bar."""
        reproducible = self.selection.path is None and session.decode_config().method == "greedy"
        path = None if reproducible else self.shown.path
        return dataclasses.replace(session.place(), model=self.selection.model, text=self.selection.text, path=path)


def opened() -> Opened | None:
    """Open what the sidebar settled; where that cannot be, say so on the page and return None."""
    selection = sidebar.selection()
    if selection is None:
        st.info("There is no model to translate with yet.")
        return None
    problems = session.problems()
    try:
        own = runtime.translate(selection.model, selection.text, session.decode_config())
        try:
            shown = own if selection.path is None else along(selection)
        except InputError as unfit:
            problems.append(str(unfit))
            session.move(path=None)
            selection, shown = dataclasses.replace(selection, path=None), own
    except InputError as nothing:
        st.info(plain(str(nothing)))
        session.write_address(selection)
        return None
    except CheckpointError as broken:
        st.error(plain(str(broken)))
        return None
    if problems:
        st.warning(plain(" ".join(problems)))
    return Opened(selection, own, shown)


def along(selection: Selection) -> Translation:
    """The translation along the selection's path, chosen by hand or come with a link; greedy where the path ends."""
    return runtime.translate(selection.model, selection.text, DecodeConfig(), selection.path or ())
