"""What can be done with one run or model: open, watch, resume, rename, delete, export; and import of a new one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO

import streamlit as st

from explorer.runs.archive import ArchiveError, export, take_in
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.process import RunError
from explorer.runs.status import age
from explorer.runs.viewer_mode import REASON, viewing
from explorer.text import count, plain, why
from explorer.web.downloads import download_button
from explorer.web.selected_run import ENTRY, choose_run, is_settling
from explorer.web.viewer_mode import closed
from model.folder import CheckpointError

MAX_ZIP_MEGABYTES = 1024
_SAID, _IMPORTED = "_runs_said", "_runs_imported"


def draw_said() -> None:
    """What came of the last thing that was done; it goes with the next thing that the person does."""
    said = st.session_state.get(_SAID)
    if not is_settling():
        st.session_state.pop(_SAID, None)
    if said:
        (st.success if said[0] else st.error)(plain(said[1]))


def draw_actions(runs: Runs, entry: Entry) -> None:
    """The buttons for one entry."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right"):
        if not entry.problem and entry.summary.get("model"):
            at = {"model": entry.name}
            st.page_link("pages/translate.py", label="Open in Translate", icon=":material/translate:", query_params=at)
        if entry.status is not None:
            at = {"run": entry.name}
            st.page_link("pages/train.py", label="Watch", icon=":material/monitoring:", query_params=at)
        changes = not viewing()
        if changes and entry.status is not None and entry.status.resumable:
            st.button("Resume", key="runs_resume", on_click=_resume, args=(runs, entry.name))
        fixed = entry.bundled or entry.busy
        if changes and st.button("Rename", key="runs_rename", disabled=fixed):
            _rename(runs, entry.name)
        if runs.folder(entry.name).is_dir():
            download_button(
                "Export",
                lambda: _exported(runs, entry),
                f"{entry.name}.zip",
                "application/zip",
                key="runs_export",
                help="Weights, tokenizers, card, curves and snapshots as one zip file.",
            )
        if changes and st.button("Delete", key="runs_delete", disabled=fixed):
            _delete(runs, entry)


def about(entry: Entry) -> str:
    """What there is to know about an entry before doing anything with it."""
    parts = [f"Changed {age(entry.date)}"] if entry.date else []
    if entry.bundled:
        parts.append("It came with Headlight and can be neither renamed nor deleted")
    elif viewing():
        parts.append(f"It can be neither renamed nor deleted here: {REASON}")
    elif entry.busy:
        parts.append("It is at work: stop it before you rename or delete it")
    if entry.status is not None and entry.status.error:
        parts.append(entry.status.error.removesuffix("."))
    return ". ".join(parts) + "." if parts else ""


def _attempt(action: Callable[[str], None], name: str, done: str) -> bool:
    """Do something with a run and remember what to say about it; whether it was done."""
    try:
        action(name)
    except (RunError, CheckpointError, OSError) as refused:
        st.session_state[_SAID] = (False, why(refused))
        return False
    st.session_state[_SAID] = (True, f"'{name}' {done}.")
    return True


def _resume(runs: Runs, name: str) -> None:
    _attempt(runs.resume, name, "goes on")


def _exported(runs: Runs, entry: Entry) -> bytes:
    """The zip file, made when somebody asks for it; a stopped run takes along what it needs to go on elsewhere."""
    path = export(runs.folder(entry.name), resumable=entry.status is not None and entry.status.resumable)
    try:
        return path.read_bytes()
    finally:
        os.unlink(path)


@st.dialog("Rename")
def _rename(runs: Runs, name: str) -> None:
    st.text_input("New name", value=name, max_chars=64, key="runs_new_name")
    _close_with("Rename", "runs_rename_go", _rename_now, (runs, name))


def _rename_now(runs: Runs, name: str) -> None:
    new = str(st.session_state["runs_new_name"]).strip()
    if _attempt(lambda old: runs.rename(old, new), name, f"is now called '{new}'"):
        choose_run(new, ENTRY)


@st.dialog("Delete for good?")
def _delete(runs: Runs, entry: Entry) -> None:
    size = entry.summary.get("parameters")
    what = f", a model of {count(size)} parameters," if size else ""
    st.markdown(plain(f"'{entry.name}'{what} will be deleted with its curves and snapshots. This cannot be undone."))
    with st.container(horizontal=True):
        _close_with("Delete", "runs_delete_go", _delete_now, (runs, entry.name))
        if st.button("Keep it", key="runs_delete_no"):
            st.rerun()


def _delete_now(runs: Runs, name: str) -> None:
    _attempt(runs.delete, name, "is deleted")


def _close_with(label: str, key: str, action: Callable[..., None], args: tuple[object, ...]) -> None:
    """A button that does something and closes the dialog it stands in."""
    if st.button(label, key=key, type="primary", on_click=action, args=args):
        st.rerun()


def draw_import(runs: Runs) -> None:
    """A zip file in; what it may not hold is refused."""
    if closed("Importing is"):
        return
    st.caption("A zip file that was exported here or on another machine. Nothing in it is run, and nothing unpickled.")
    file = st.file_uploader("Zip file", type=["zip"], max_upload_size=MAX_ZIP_MEGABYTES, key="runs_zip")
    name = st.text_input(
        "Name",
        key="runs_zip_name",
        max_chars=64,
        placeholder="as in the zip file",
        help="Only needed if there is a model of that name already.",
    )
    if st.button("Import", key="runs_import", disabled=file is None) and file is not None:
        _take_in(runs, file, name.strip())
        st.rerun()


def _take_in(runs: Runs, file: IO[bytes], name: str) -> None:
    try:
        taken = take_in(file, runs.checkpoints, name)
    except (ArchiveError, CheckpointError, OSError) as refused:
        st.session_state[_SAID] = (False, why(refused))
        return
    st.session_state[_SAID] = (True, f"'{taken}' is here now.")
    choose_run(taken, ENTRY)
