"""Actions on one run or model: open, watch, resume, rename, delete, export; and the import of a new one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from explorer.locale.text import count, plain, why
from explorer.runs.archive import ArchiveError, export, import_translator, import_zip
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.process import RunError
from explorer.runs.viewer_mode import viewing
from explorer.screens.runs.note import draw_note_form
from explorer.web import runtime
from explorer.web.downloads import download_button
from explorer.web.selected_run import ENTRY, choose_run
from explorer.web.train_again import draw_again
from explorer.web.upload_limit import megabytes
from explorer.web.viewer_mode import closed
from model.folder import CheckpointError

_EXPORTED = "Weights, tokenizers, card, metrics and snapshots as one zip file."
_WITH_PAIRS = " The sentence pairs that it learned from are in it, too: whoever gets the file can read them."
MAX_ZIP_MEGABYTES = 1024  # where the server accepts so much
_OUTCOME = "_runs_outcome"


def draw_outcome() -> None:
    """The outcome of the last action; it disappears with the user's next action."""
    outcome = st.session_state.pop(_OUTCOME, None)
    if outcome:
        succeeded, sentence = outcome
        (st.success if succeeded else st.error)(plain(sentence))


def draw_links(entry: Entry) -> None:
    """Where one entry can be looked at."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if not entry.problem and entry.summary.get("model"):
            at = {"model": entry.name}
            st.page_link("pages/translate.py", label="Open in Translate", icon=":material/translate:", query_params=at)
        if entry.status is not None:
            at = {"run": entry.name}
            st.page_link("pages/train.py", label="Watch", icon=":material/monitoring:", query_params=at)


def draw_actions(runs: Runs, entry: Entry) -> None:
    """The buttons for one entry."""
    with st.container(horizontal=True, vertical_alignment="center"):
        changes = not viewing()
        if changes and entry.status is not None and entry.status.resumable:
            st.button("Resume", key="runs_resume", on_click=_resume, args=(runs, entry.name))
        if not entry.problem:
            draw_again(runs, entry.name, "runs")
        draw_note_form(runs, entry)
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
                help=_EXPORTED + (_WITH_PAIRS if entry.summary.get("task") == "files" else ""),
            )
        if changes and st.button("Delete", key="runs_delete", disabled=fixed):
            _delete(runs, entry)


def _attempt(action: Callable[[str], None], name: str, done: str) -> bool:
    """Carry out an action on a run and store the outcome for the next draw; returns whether it succeeded."""
    try:
        action(name)
    except (RunError, CheckpointError, OSError) as refused:
        st.session_state[_OUTCOME] = (False, why(refused))
        return False
    runtime.models_changed()
    st.session_state[_OUTCOME] = (True, f"'{name}' {done}.")
    return True


def _resume(runs: Runs, name: str) -> None:
    _attempt(runs.resume, name, "continues")


def _exported(runs: Runs, entry: Entry) -> bytes:
    """The zip file, made on request; that of a stopped run includes what it needs to continue elsewhere."""
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
    _attempt(runs.delete, name, "has been deleted")


def _close_with(label: str, key: str, action: Callable[..., None], args: tuple[object, ...]) -> None:
    """A button that carries out an action and closes its dialog."""
    if st.button(label, key=key, type="primary", on_click=action, args=args):
        st.rerun()


def draw_import(runs: Runs) -> None:
    """The import of a zip file, or of a translator's folder; anything that no model contains is refused."""
    if closed("Importing is"):
        return
    st.caption(
        "A zip file that was exported here or on another machine, or a MarianMT (OPUS-MT) or BART model as Hugging "
        "Face stores it: zipped, or as a folder on this server. Nothing in it is executed or unpickled."
    )
    file = st.file_uploader("Zip file", type=["zip"], max_upload_size=megabytes(MAX_ZIP_MEGABYTES), key="runs_zip")
    columns = st.columns(2)
    folder = columns[0].text_input(
        "or a folder on this server",
        key="runs_folder",
        placeholder="/home/me/opus-mt-en-de",
        help="With config.json, model.safetensors and, for MarianMT, vocab.json, source.spm and target.spm; for BART, "
        "tokenizer.json, or vocab.json and merges.txt.",
    )
    name = columns[1].text_input(
        "Name",
        key="runs_zip_name",
        max_chars=64,
        placeholder="as in the zip file, or of the folder",
        help="Needed only if there is already a model of that name.",
    )
    given = (folder or "").strip()
    if st.button("Import", key="runs_import", disabled=file is None and not given):
        with st.spinner("Importing …"):
            if file is not None:
                _import(lambda: import_zip(file, runs.checkpoints, name.strip()))
            else:
                _import(lambda: import_translator(Path(os.path.expanduser(given)), runs.checkpoints, name.strip()))
        st.rerun()


def _import(work: Callable[[], str]) -> None:
    """Import something and store the outcome for the next draw."""
    from model.config import ConfigError
    from model.importing.source_folder import ImportFailed
    from model.text.pieces import TokenizerError

    try:
        imported = work()
    except (ArchiveError, CheckpointError, ConfigError, ImportFailed, TokenizerError, OSError) as refused:
        st.session_state[_OUTCOME] = (False, why(refused))
        return
    runtime.models_changed()
    st.session_state[_OUTCOME] = (True, f"'{imported}' has been imported.")
    choose_run(imported, ENTRY)
