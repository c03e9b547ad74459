"""Actions on one run or model: open, watch, resume, note, rename, delete, export; and the import of a new one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from explorer.decoding.examples import FILES, examples_of
from explorer.locale.messages import t, translated
from explorer.locale.text import count, listed, plain, quoted
from explorer.runs.archive import export, import_translator, import_zip
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.viewer_mode import REASON, viewing
from explorer.web import live_page, runtime
from explorer.web.downloads import download_button, megabytes
from explorer.web.runs import ENTRY, attempt, choose_run, draw_again, draw_refused
from explorer.web.security import closed
from model.file_formats import NOTE_CHARACTERS

MAX_ZIP_MEGABYTES = 1024  # where the server accepts so much
_PLACE, _SUCCESS = "runs", "_runs_success"


def draw_outcome() -> None:
    """Draw the outcome of the last action; it disappears with the user's next action."""
    draw_refused(_PLACE)
    if success := st.session_state.pop(_SUCCESS, ""):
        st.success(plain(success))


def draw_actions(runs: Runs, entry: Entry) -> None:
    """Draw the links and buttons for one entry; what changes its folder is behind one of them."""
    with st.container(key="run_actions", horizontal=True, vertical_alignment="center"):
        if not entry.problem and entry.summary.get("model"):
            at = {"model": entry.name}
            label = t("Open in Translate")
            st.page_link("pages/translate.py", label=label, icon=":material/translate:", query_params=at)
        if entry.status is not None:
            at = {"run": entry.name}
            st.page_link("pages/train.py", label=t("Watch"), icon=":material/monitoring:", query_params=at)
        if not viewing() and entry.status is not None and entry.status.resumable:
            st.button(t("Resume"), key="runs_resume", on_click=attempt, args=(_PLACE, _resume, runs, entry.name))
        if not entry.problem:
            draw_again(runs, entry.name, "runs")
            _draw_page(entry)
        with st.popover(t("Manage")):
            _draw_management(runs, entry)


def _draw_management(runs: Runs, entry: Entry) -> None:
    changes, exists, fixed = not viewing(), runs.folder(entry.name).is_dir(), entry.bundled or entry.busy
    if changes and exists and not entry.bundled:
        _draw_note_form(runs, entry)
    with st.container(horizontal=True):
        if exists:
            contents = t("Weights, tokenizers, card, metrics and snapshots as one zip file.")
            pairs = t(
                "It includes the sentence pairs that the model learned from, so anybody with the file can read them.",
            )
            download_button(
                t("Export"),
                lambda: _exported(runs, entry),
                f"{entry.name}.zip",
                "application/zip",
                key="runs_export",
                help=f"{contents} {pairs}" if entry.summary.get("task") == FILES else contents,
            )
        if changes and st.button(t("Rename"), key="runs_rename", disabled=fixed):
            st.dialog(t("Rename"))(_rename)(runs, entry.name)
        if changes and st.button(t("Delete"), key="runs_delete", disabled=fixed):
            st.dialog(t("Delete for good?"))(_delete)(runs, [entry])


def _draw_page(entry: Entry) -> None:
    """Draw the download of a finished model as a page, which opens with its first example."""
    if entry.busy or not entry.summary.get("model"):
        return
    text = next((example.source for example in examples_of(entry.summary)), "")
    live_page.draw(entry.name, text, own_pairs=entry.summary.get("task") == FILES, key="runs")


def _succeeded(sentence: str) -> None:
    """Remember the sentence that says what an action has done, for the next run."""
    runtime.models_changed()
    st.session_state[_SUCCESS] = sentence


def _resume(runs: Runs, name: str) -> None:
    runs.resume(name)
    _succeeded(t("“{name}” continues.", name=name))


def _exported(runs: Runs, entry: Entry) -> bytes:
    """The zip file, made on request; that of a stopped run includes what it needs to continue elsewhere."""
    path = export(runs.folder(entry.name), resumable=entry.status is not None and entry.status.resumable)
    try:
        return path.read_bytes()
    finally:
        os.unlink(path)


def _rename(runs: Runs, name: str) -> None:
    st.text_input(t("New name"), value=name, max_chars=64, key="runs_new_name")
    rename = (_PLACE, _rename_now, runs, name)
    clicked = st.button(t("Rename"), key="runs_rename_go", type="primary", on_click=attempt, args=rename)
    if clicked and not draw_refused(_PLACE):  # a refusal stays in the dialog, which would hide it on the page
        st.rerun()  # closes the dialog


def _rename_now(runs: Runs, name: str) -> None:
    new = str(st.session_state["runs_new_name"]).strip()
    runs.rename(name, new)
    choose_run(new, ENTRY)
    _succeeded(t("“{name}” is now called “{new}”.", name=name, new=new))


def _delete(runs: Runs, entries: Sequence[Entry]) -> None:
    for entry in entries:
        if size := entry.summary.get("parameters"):
            warning = t(
                "“{name}”, a model of {size} parameters, will be deleted with its curves and snapshots.",
                name=entry.name,
                size=count(size),
            )
        else:
            warning = t("“{name}” will be deleted with its curves and snapshots.", name=entry.name)
        st.markdown(plain(warning))
    names = [entry.name for entry in entries]
    if any(entry.summary.get("task") == FILES for entry in entries):
        if others := runs.sharing(names):
            uploads = t(
                "Sentence pairs that were pasted or uploaded are deleted, except those of {names}.",
                names=listed(map(quoted, others)),
            )
        else:
            uploads = t("Sentence pairs that were pasted or uploaded are deleted, too; your own files are not.")
        st.markdown(plain(uploads))
    st.markdown(t("This cannot be undone."))
    with st.container(horizontal=True):
        delete = (_PLACE, _delete_now, runs, names)
        if st.button(f":red[{t('Delete')}]", key="runs_delete_go", on_click=attempt, args=delete):
            st.rerun()  # closes the dialog
        if st.button(t("Keep it", "Keep them", n=len(names)), key="runs_delete_no"):
            st.rerun()


def _delete_now(runs: Runs, names: Sequence[str]) -> None:
    for name in names:
        runs.delete(name)
    if left := runs.entries():
        choose_run(left[0].name, ENTRY)
    deleted = listed(map(quoted, names))
    _succeeded(t("{names} has been deleted.", "{names} have been deleted.", n=len(names), names=deleted))


def draw_several(runs: Runs, entries: Sequence[Entry]) -> None:
    """Draw the button that deletes those of the marked runs that can be deleted, and say which cannot."""
    if viewing():
        return
    own = [entry for entry in entries if not (entry.bundled or entry.busy)]
    with st.container(horizontal=True, vertical_alignment="center"):
        label = t("Delete {names}", names=listed(quoted(entry.name) for entry in own))
        if own and st.button(plain(label), key="runs_delete_several"):
            st.dialog(t("Delete for good?"))(_delete)(runs, own)
        if len(own) < len(entries):
            st.caption(t("Models that came with Headlight and runs in training cannot be deleted."))


def draw_note(entry: Entry) -> None:
    """Draw the note about an entry, if there is one."""
    if entry.note:
        st.markdown("  \n".join(plain(line) for line in entry.note.splitlines()))


def _draw_note_form(runs: Runs, entry: Entry) -> None:
    key = f"runs_note_{entry.name}"
    st.text_area(
        t("What to remember about it"),
        value=entry.note,
        max_chars=NOTE_CHARACTERS,
        key=key,
        placeholder=t("Why it was trained, and what came of it"),
    )
    save = (_PLACE, _save_note, runs, entry.name, key)
    st.button(t("Save the note"), key=f"{key}_go", type="primary", on_click=attempt, args=save)


def _save_note(runs: Runs, name: str, key: str) -> None:
    runs.write_note(name, str(st.session_state.get(key) or ""))


def draw_import(runs: Runs) -> None:
    """Draw the import of a zip file or a translator's folder; files that do not belong to a model are refused."""
    if closed(t("Importing is switched off: {reason}.", reason=translated(REASON))):
        return
    st.caption(
        t(
            "A zip file that was exported here or on another machine, or a model as Hugging Face stores it, zipped or "
            "as a folder on this server: a translator (MarianMT, BART, mBART, M2M100, NLLB, Pegasus, T5), or a model "
            "that continues text (GPT-2, GPT-Neo, OPT, Llama, Qwen2). Nothing in it is executed or unpickled."
        )
    )
    label = t("Attention weights from any program, without its model")
    st.page_link("pages/own.py", label=label, icon=":material/upload_file:")
    size = megabytes(MAX_ZIP_MEGABYTES)
    file = st.file_uploader(t("Zip file"), type=["zip"], max_upload_size=size, key="runs_zip")
    left, right = st.columns(2)
    folder = left.text_input(
        t("or a folder on this server"),
        key="runs_folder",
        placeholder="/home/me/opus-mt-en-de",
        help=t(
            "With config.json, model.safetensors and, for MarianMT, vocab.json, source.spm and target.spm; for BART "
            "and models that continue text, tokenizer.json, or vocab.json and merges.txt; for the others, spiece.model "
            "or sentencepiece.bpe.model."
        ),
    ).strip()
    name = right.text_input(
        t("Name"),
        key="runs_zip_name",
        max_chars=64,
        placeholder=t("as in the zip file, or of the folder"),
        help=t("Needed only if there is already a model of that name."),
    ).strip()
    left, right = st.columns(2)
    several = t("Needed only by mBART, M2M100 and NLLB, if the folder does not say it.")
    languages = (
        left.text_input(
            t("From language"), key="runs_from", max_chars=16, placeholder="eng_Latn", help=several
        ).strip(),
        right.text_input(t("To language"), key="runs_to", max_chars=16, placeholder="deu_Latn", help=several).strip(),
    )
    if st.button(t("Import"), key="runs_import", disabled=file is None and not folder):
        with st.spinner(t("Importing …")):
            if file is not None:
                attempt(_PLACE, _import, lambda: import_zip(file, runs.checkpoints, name, languages))
            else:
                path = Path(os.path.expanduser(folder))
                attempt(_PLACE, _import, lambda: import_translator(path, runs.checkpoints, name, languages))
        st.rerun()


def _import(work: Callable[[], str]) -> None:
    imported = work()
    choose_run(imported, ENTRY)
    _succeeded(t("“{name}” has been imported.", name=imported))
