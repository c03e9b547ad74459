"""What stands in place of a part that cannot be drawn: the reason where it is known, and a way on where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from explorer.text import plain
from model import faults
from model.folder import CheckpointError

FAULT = (
    "This part cannot be drawn because of a fault in Headlight; it is not something that you did. The rest of the app "
    "works. Try again, or choose another model, sentence or tab. Whoever runs this server finds the details in its log."
)


@contextmanager
def contained(part: str) -> Iterator[None]:
    """Draw a part of a page inside the block, or as a decorator; what goes wrong there ends the part, not the page.

    `part` names it in widget keys. A model that is gone or damaged is a sentence. Anything unforeseen goes to the log,
    and the button draws the part again.
    """
    try:
        yield
    except CheckpointError as broken:
        st.error(plain(str(broken)))
    except Exception as fault:
        faults.report(fault)
        st.error(FAULT)
        st.button("Try again", key=f"{part}_again", icon=":material/refresh:")
