"""Every page, panel and export with imported models: a MarianMT translator with aligned scenes, and a BART model."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.decoding.attention_file import read_own
from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translator
from explorer.files.manifest import manifest_text, read_manifest
from explorer.files.map_files import npz_bytes
from explorer.files.picture_drawing import draw
from explorer.screens.attention.panels import PANELS
from explorer.web import runtime
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.importing.import_folder import import_folder
from model.trace import kinds_of
from tests.explorer.shown_maps import on_screen
from tests.model.importing import bart_peer, peer
from tests.pages.page import PAGES, kinds, visit, words
from tests.pages.test_every_page import SHOWN

TEXT = "The woman — “quietly” — reads."


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    for name, theirs in (("marian", peer.standard()), ("bart", bart_peer.standard())):
        import_folder(theirs, folder / name)
    return folder


@pytest.fixture(autouse=True)
def _these_models(imported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", imported)


@pytest.mark.parametrize(
    ("model", "page"),
    [
        *(("marian", page) for page in PAGES),
        *(("bart", page) for page in ("translate", "attention", "positions", "masks", "inside", "probe")),
    ],
)
def test_each_page_shows_its_subject(model: str, page: str) -> None:
    at = visit(page, model=model, text=TEXT, **{"sample": "scenes.3"} if model == "marian" else {})
    assert not at.error
    assert at.selectbox(key="model").value == model
    assert "in training" not in " ".join(str(each.value) for each in at.warning), "which nobody knows here"
    if (page, model) == ("probe", "bart"):
        assert "enter sentences of your own" in words(at)
    else:
        assert SHOWN[page] in kinds(at)


def test_each_panel_opens_beside_a_head() -> None:
    for panel in PANELS:
        at = visit("attention", model="bart", text=TEXT, kind="cross", layer="3", head="1", panel=panel)
        assert not at.error, panel


@pytest.mark.parametrize("model", ["marian", "bart"])
def test_exports_and_links_give_back_what_was_shown(imported: Path, model: str) -> None:
    translator = Translator(load_model(imported / model))
    translation = translator.translate(TEXT, DecodeConfig(max_length=6))
    trace = translation.trace
    for view, kind in (("heads", "png"), ("head", "svg"), ("lines", "pdf")):
        assert len(draw(on_screen(trace, view, "cross"), kind)) > 500
    for form in ("tokens", "words", "words-next"):
        assert attention_maps(trace, "cross", form).weights.shape[:2] == trace.cross.shape[:2]
    own = read_own(npz_bytes(trace, kinds_of(trace)), "mine.npz")
    assert own.trace.cross.tobytes() == trace.cross.tobytes()
    assert own.trace.src_tokens == trace.src_tokens
    selection = Selection(model=model, text=TEXT, path=translation.path, kind="cross", layer=3, head=1)
    text = manifest_text(selection, path=translation.path, translation=translation.text, edits=(), model_hash="")
    assert read_manifest(text.encode()).selection == selection
    again = translator.translate(TEXT, DecodeConfig(max_length=6), prefix=translation.path)
    assert again.path == translation.path
    assert again.trace.cross == pytest.approx(trace.cross, abs=1e-5)
