"""Every page of the menu with every kind of model: no traceback, and the page's figure or a reason why it is absent."""

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
# What each page is about, by Streamlit's names of the elements in its main part; the sidebar is the same everywhere.
SHOWN = {
    "pages/attention.py": "bidi_component",
    "pages/experiments.py": "vega_lite_chart",
    "pages/inside.py": "bidi_component",
    "pages/lessons.py": "button",
    "pages/masks.py": "plotly_chart",
    "pages/positions.py": "plotly_chart",
    "pages/probe.py": "plotly_chart",
    "pages/runs.py": "dataframe",
    "pages/train.py": "code",
    "pages/translate.py": "bidi_component",
}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    for name, sizes in MODELS.items():
        save_toy(folder / name, "reverse", **sizes)
    return folder


def test_all_pages_are_in_the_menu() -> None:
    assert {f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")} == set(PAGES)


def opened(page: str, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    return at.switch_page(page).run()


def kinds(at: AppTest) -> set[str]:
    """The types of elements in the main part of the page."""
    return {element.type for element in at.main}


@pytest.mark.quick
@pytest.mark.parametrize("page", sorted(set(PAGES)))
def test_each_page_shows_what_it_is_about(checkpoints: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    at = opened(page, model="transformer", text="abc", sample="task.10")
    assert not at.exception
    assert not at.error
    assert SHOWN[page] in kinds(at)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("page", sorted(set(PAGES)))
@pytest.mark.parametrize("text", ["abc", "a", " "])
def test_no_page_breaks(checkpoints: Path, monkeypatch: pytest.MonkeyPatch, page: str, model: str, text: str) -> None:
    """Each page shows its subject, or says in its main part why it cannot."""
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    at = opened(page, model=model, text=text, sample="task.10")
    assert not at.exception
    assert at.selectbox(key="model").value == model
    assert kinds(at) & {SHOWN[page], "info", "warning"}
