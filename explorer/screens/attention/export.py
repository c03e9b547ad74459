"""The export panel: the maps on screen as files, and a manifest or link that opens the view again."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.decoding.selection import MAX_TEXT, Selection
from explorer.decoding.translator import Translation
from explorer.files.manifest import ManifestError, link, manifest_text, model_hash, read_manifest
from explorer.locale.text import plain
from explorer.screens.attention.download_buttons import draw_downloads
from explorer.screens.attention.panels import LED
from explorer.web import moving_picture_panel, runtime, session, stepping_page
from explorer.web.downloads import download_button
from explorer.web.viewer_mode import closed
from model.folder import CheckpointError

_UPLOAD, _SAID = "export_manifest", "_export_said"
_PANEL = "attention_panel"  # key of the tab row; without a value, the row takes over the manifest's


def draw(selection: Selection, shown: Translation, at: Place) -> None:
    """Downloads of the maps on screen and of the manifest, and the upload that opens a manifest."""
    st.markdown("##### Download what is on screen")
    edits = shown.trace.edits
    facts = (
        f"Model {shown.model}. Sentence: {shown.source.text}",
        f"Translation: {shown.text}" + (f" (edited: {'; '.join(edits)})" if edits else ""),
    )
    manifest = partial(_manifest, selection, shown)
    draw_downloads(
        lambda: shown.trace,
        at,
        selection.view,
        seq=shown.seq,
        model=shown.model,
        facts=facts,
        key="export",
        manifest=manifest,
    )
    stepping_page.draw_section(selection, shown, at)
    st.markdown("##### The steps as a moving picture")
    moving_picture_panel.draw(shown, at)
    st.markdown("##### Open exactly this view again")
    download_button(
        "Manifest",
        manifest,
        "attention-view.json",
        "application/json",
        key="export_json",
        help="Model, sentence, path, place and versions as a small JSON file.",
    )
    if len(selection.text) > MAX_TEXT:
        st.caption("The sentence is too long for a link; the manifest holds all of it.")
    else:
        st.caption("The link in the address bar opens it as well:")
        st.code(f"/{link(selection)}", language=None, wrap_lines=True)
    if not closed("Uploads are"):
        st.file_uploader("Open a manifest", type=["json"], key=_UPLOAD, on_change=_reopen, max_upload_size=1)
    if said := st.session_state.get(_SAID):
        st.error(plain(said))


def _manifest(selection: Selection, shown: Translation) -> str:
    return manifest_text(
        selection,
        path=shown.path,
        translation=shown.text,
        edits=shown.trace.edits,
        model_hash=_hash(shown.model),
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
    st.session_state[_SAID] = ""
    file = st.session_state.get(_UPLOAD)
    if file is not None:
        open_manifest(file.getvalue())


def open_manifest(content: bytes) -> None:
    """Make this session show what a manifest describes. To be called from a callback only, before widgets are drawn."""
    try:
        manifest = read_manifest(content)
    except ManifestError as unfit:
        st.session_state[_SAID] = str(unfit)
        return
    said = list(manifest.problems)
    selection = manifest.selection
    if selection.model in runtime.models() and manifest.model_hash and _hash(selection.model) != manifest.model_hash:
        said.append(f"The weights of the model {selection.model} have changed since this manifest was written.")
    session.open_selection(selection, said)
    st.session_state.pop(_PANEL, None)
    st.session_state[LED] = True
