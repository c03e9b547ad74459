"""Every page and panel with imported models: MarianMT with aligned scenes, BART, T5 v1.1, and M2M100."""

from itertools import cycle
from pathlib import Path

import pytest

from explorer.screens.attention.panels import PANELS
from explorer.web import runtime
from model.importing.import_folder import import_folder
from tests.model.importing import bart_peer, family_peers, peer
from tests.pages.page import PAGES, SHOWN, kinds, visit, words
from tests.some import some

TEXT = "The woman — “quietly” — reads."


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    for name, theirs in (("marian", peer.standard()), ("bart", bart_peer.standard())):
        import_folder(theirs, folder / name)
    for name, changes in (("t5", {"untied": True, "feed_forward_proj": "gated-gelu"}), ("m2m100", {})):
        import_folder(family_peers.save(name, folder / f"their {name}", **changes), folder / name)
    return folder


@pytest.fixture(autouse=True)
def _these_models(imported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", imported)


@pytest.mark.parametrize(
    ("model", "page"),
    [
        *some([("marian", page) for page in PAGES], 2),
        *some([("t5", page) for page in PAGES], 6),
        *some([("m2m100", page) for page in ("translate", "attention", "inside")], 3),
        *some([("bart", page) for page in ("translate", "attention", "positions", "masks", "inside", "probe")], 3),
    ],
)
def test_each_page_shows_its_subject(model: str, page: str) -> None:
    at = visit(page, model=model, text=TEXT, **{"sample": "scenes.3"} if model == "marian" else {})
    assert not at.error
    boxes = [box.value for box in at.selectbox if box.key == "model"]
    assert boxes == ([] if page in ("experiments", "lessons", "own", "runs", "train") else [model]), (
        "those read no sentence of a model"
    )
    assert "in training" not in " ".join(str(each.value) for each in at.warning), "which nobody knows here"
    if page == "probe" and model != "marian":
        assert "enter sentences of your own" in words(at)
    else:
        assert SHOWN[page] in kinds(at)


@pytest.mark.parametrize(
    ("model", "kind"), some([("marian", "cross"), ("bart", "cross"), ("t5", "decoder"), ("t5", "cross")], 2)
)
def test_each_panel_opens_beside_a_head_and_every_view_of_words_is_sent(model: str, kind: str) -> None:
    for panel, view in zip(PANELS, cycle(("head", "head.words", "lines.words.next")), strict=False):
        at = visit("attention", model=model, text=TEXT, kind=kind, layer="3", head="1", panel=panel, view=view)
        assert not at.error, panel
