"""The export panel: the maps on screen as files, and a manifest that opens the view again."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.decoding.selection import MAX_TEXT, Selection
from explorer.decoding.translator import Translation
from explorer.files.manifest import ManifestError, manifest_text, model_hash, read_manifest
from explorer.locale.messages import t, translated
from explorer.locale.text import plain
from explorer.runs.viewer_mode import REASON
from explorer.web import moving_picture_panel, runtime, session, stepping_page
from explorer.web.downloads import download_button
from explorer.web.map_downloads import draw_translation_downloads
from explorer.web.panel_choices import OPENED_VIEW
from explorer.web.security import closed
from model.folder import CheckpointError

_UPLOAD, _MESSAGE = "export_manifest", "_export_said"
_PANEL = "attention_panel"  # key of the tab row; without a value, the row adopts the manifest's


def draw(selection: Selection, translation: Translation, at: Place) -> None:
    """Draw downloads of the maps on screen and of the manifest, and the upload that opens a manifest."""
    st.markdown(f"##### {t('Download what is on screen')}")
    manifest = partial(_manifest, selection, translation)
    draw_translation_downloads(translation, at, selection.view, key="export")
    stepping_page.draw_section(selection, translation, at)
    st.markdown(f"##### {t('The steps as a moving picture')}")
    moving_picture_panel.draw(translation, at)
    st.markdown(f"##### {t('Open exactly this view again')}")
    about = t("Model, sentence, path, place and versions as a small JSON file.")
    name, mime = "attention-view.json", "application/json"
    download_button(t("Manifest"), manifest, name, mime, key="export_json", help=about)
    if len(selection.text) > MAX_TEXT:
        st.caption(t("The sentence is too long for a link; the manifest holds all of it."))
    if not closed(t("Uploads are switched off: {reason}.", reason=translated(REASON))):
        st.file_uploader(t("Open a manifest"), type=["json"], key=_UPLOAD, on_change=_reopen, max_upload_size=1)
    if message := st.session_state.get(_MESSAGE):
        st.error(plain(message))


def _manifest(selection: Selection, translation: Translation) -> str:
    return manifest_text(
        selection,
        path=translation.path,
        translation=translation.text,
        edits=translation.trace.edits,
        model_hash=_hash(translation.model),
    )


def _hash(name: str) -> str:
    """SHA-256 of the weights; empty if the model is gone."""
    try:
        return _hash_of(name, runtime.fingerprint(name))
    except CheckpointError:
        return ""


@st.cache_resource(max_entries=16, show_spinner=False)
def _hash_of(name: str, version: str) -> str:
    del version  # part of the key only
    return model_hash(runtime.CHECKPOINTS / name)


def _reopen() -> None:
    """Open the view of an uploaded manifest, or remember why it cannot be opened."""
    st.session_state[_MESSAGE] = ""
    file = st.session_state.get(_UPLOAD)
    if file is not None:
        open_manifest(file.getvalue())


def open_manifest(content: bytes) -> None:
    """Make this session show the view of a manifest; only from a callback, before widgets are drawn."""
    try:
        manifest = read_manifest(content)
    except ManifestError as unfit:
        st.session_state[_MESSAGE] = str(unfit)
        return
    problems = list(manifest.problems)
    model = manifest.selection.model
    if model in runtime.models() and manifest.model_hash and _hash(model) != manifest.model_hash:
        problems.append(
            t("The weights of the model {model} have changed since this manifest was written.", model=model)
        )
    session.open_selection(manifest.selection, problems)
    st.session_state.pop(_PANEL, None)
    st.session_state[OPENED_VIEW] = True
