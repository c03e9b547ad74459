"""Every page of the menu with every sort of model that can be there: no traceback, and something to read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from tests.explorer.toy_models import save_toy
from tests.paths import ROOT

PAGES = re.findall(r'"(pages/\w+\.py)"', (ROOT / "app.py").read_text(encoding="utf-8"))
MODELS = {
    "transformer": {},
    "lstm": {"architecture": "lstm", "positions": "none", "n_encoder_heads": 1, "n_decoder_heads": 1},
    "open": {"causal": False},
    "bare": {"positions": "none", "residual": False, "scale_scores": False, "scale_embeddings": False},
    "odd": {"d_model": 18, "n_encoder_heads": 3, "n_decoder_heads": 1, "layer_norm": "scalar", "positions": "learned"},
}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    for name, sizes in MODELS.items():
        save_toy(folder / name, "reverse", **sizes)
    return folder


def test_all_pages_are_in_the_menu() -> None:
    assert {f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")} == set(PAGES)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("page", sorted(set(PAGES)))
@pytest.mark.parametrize("text", ["abc", "a", " "])
def test_no_page_breaks(checkpoints: Path, monkeypatch: pytest.MonkeyPatch, page: str, model: str, text: str) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["model"] = model
    at.query_params["text"] = text
    at.switch_page(page).run()
    assert not at.exception
    assert at.selectbox(key="model").value == model
    assert at.markdown or at.info or at.caption
