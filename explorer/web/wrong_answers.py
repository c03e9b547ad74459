"""The table of all wrong validation answers of a run, on the Train page and on Runs."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.locale.text import plain
from explorer.probing.reporting import Report
from explorer.runs.wrong_answers import WrongAnswers, validation_task, wrong_answers
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.long_work import asked, with_progress
from model.checkpoint import LoadedModel
from model.data.task import DataError
from model.folder import CheckpointError

LABEL = "Find all wrong validation answers"


def draw_wrong_answers(name: str) -> None:
    """A button that has the validation sentences translated, then the answers that are wrong."""
    try:
        key = ("wrong answers", name, runtime.fingerprint(name))
    except CheckpointError as gone:
        st.caption(plain(str(gone)))
        return
    if not asked(key, LABEL):
        return
    try:
        found = with_progress(key, partial(runtime.compute_in_parts, name, _find), "Translating")
    except DataError as missing:
        st.info(plain(str(missing)))
        return
    if found is None:
        return
    st.caption(plain(found.caption))
    if found.columns["source"]:
        draw_table({name: list(values) for name, values in found.columns.items()}, found.caption)


def _find(loaded: LoadedModel, report: Report) -> WrongAnswers:
    return wrong_answers(loaded, validation_task(loaded, runtime.CHECKPOINTS / loaded.name), report)
