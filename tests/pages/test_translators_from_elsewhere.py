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
from tests.pages.test_every_page import PAGES, SHOWN, kinds, opened

TEXT = "The woman — “quietly” — reads."
MODELS = ("marian", "bart")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    for name, theirs in zip(MODELS, (peer.standard(), bart_peer.standard()), strict=True):
        import_folder(theirs, folder / name)
    return folder


@pytest.fixture(autouse=True)
def _these_models(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)


@pytest.mark.parametrize(
    ("model", "page"),
    [("marian", page) for page in sorted(set(PAGES))]
    + [("bart", f"pages/{name}.py") for name in ("translate", "attention", "positions", "masks", "inside", "probe")],
)
def test_each_page_shows_its_subject(model: str, page: str) -> None:
    sample = {"sample": "scenes.3"} if model == "marian" else {}
    at = opened(page, model=model, text=TEXT, **sample)
    assert not at.exception
    assert not at.error
    assert at.selectbox(key="model").value == model
    assert "in training" not in " ".join(str(each.value) for each in at.warning), "which nobody knows here"
    if page == "pages/probe.py" and model == "bart":
        assert "enter sentences of your own" in " ".join(str(each.value) for each in at.info)
    else:
        assert SHOWN[page] in kinds(at)


@pytest.mark.parametrize("panel", PANELS)
def test_each_panel_opens_beside_a_head(panel: str) -> None:
    at = opened("pages/attention.py", model="bart", text=TEXT, kind="cross", layer="3", head="1", panel=panel)
    assert not at.exception
    assert not at.error


@pytest.fixture(scope="module", params=MODELS)
def translator(checkpoints: Path, request: pytest.FixtureRequest) -> Translator:
    return Translator(load_model(checkpoints / request.param))


def test_exports_and_links_give_back_what_was_shown(translator: Translator) -> None:
    shown = translator.translate(TEXT, DecodeConfig(max_length=6))
    for view, kind in (("heads", "png"), ("head", "svg"), ("lines", "pdf")):
        assert len(draw(on_screen(shown.trace, view, "cross"), kind)) > 500
    for form in ("tokens", "words", "words-next"):
        maps = attention_maps(shown.trace, "cross", form)
        assert maps.weights.shape[:2] == shown.trace.cross.shape[:2]
    own = read_own(npz_bytes(shown.trace, kinds_of(shown.trace)), "mine.npz")
    assert own.trace.cross.tobytes() == shown.trace.cross.tobytes()
    assert own.trace.src_tokens == shown.trace.src_tokens
    selection = Selection(model=translator.loaded.name, text=TEXT, path=shown.path, kind="cross", layer=3, head=1)
    text = manifest_text(selection, path=shown.path, translation=shown.text, edits=(), model_hash="")
    assert read_manifest(text.encode()).selection == selection
    again = translator.translate(TEXT, DecodeConfig(max_length=6), prefix=shown.path)
    assert again.path == shown.path
    assert again.trace.cross == pytest.approx(shown.trace.cross, abs=1e-5)
