"""The Masks page, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from model.analysis.mask_effects import translate_greedily
from model.checkpoint import load_model
from model.config import EOS
from model.masks import target_mask
from tests.explorer.toy_models import save_toy
from tests.pages.teaching import assert_shows_something, plotted, tables, words
from tests.paths import ROOT

TABS = ("The masks", "Given target", "While decoding", "Trained without it", "Open padding")
SENTENCE = "I read red books"


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_toy(folder / "dates", "dates", norm_first=True)
    save_toy(folder / "learned", "reverse", positions="learned")
    save_toy(folder / "unplaced", "reverse", positions="none", causal=False)
    return folder


@pytest.fixture
def app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.run()
    return at.switch_page("pages/masks.py").run()


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(runtime, "CHECKPOINTS", ROOT / "checkpoints")
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.run()
    at.session_state["model"] = "adjective-swap"
    at.session_state["text"] = SENTENCE
    return at.switch_page("pages/masks.py").run()


def on_tab(at: AppTest, tab: str) -> AppTest:
    at.session_state["masks_tab"] = tab
    at.query_params["masks_tab"] = tab  # in a browser the address follows by itself
    return at.run()


def opened(plot: dict) -> np.ndarray:  # type: ignore[type-arg]
    """Which cells of a drawn map are open."""
    return ~np.isnan(np.array(plot["data"][0]["z"], dtype=float))


def test_the_masks_on_screen_are_those_of_the_model(app: AppTest) -> None:
    assert not app.exception
    _, both = plotted(app)
    app.toggle(key="masks_causal").set_value(False).run()
    padding = opened(plotted(app)[1])
    length, real = len(padding), int(padding[0].sum())
    assert 0 < real < length, "a sentence with padding is in view"
    tokens = torch.ones(1, length, dtype=torch.long)
    tokens[0, real:] = 0
    assert np.array_equal(opened(both), target_mask(tokens)[0, 0].numpy())
    assert np.array_equal(opened(both), padding & np.tril(np.ones((length, length), dtype=bool)))


def test_hover_and_sign_say_why_a_cell_is_closed(app: AppTest) -> None:
    signs = plotted(app)[1]["data"][2]
    reasons = set(zip(signs["hovertext"], signs["marker"]["symbol"], strict=True))
    assert reasons == {("masked: future", "line-ne"), ("masked: padding", "x-thin")}
    for why, name in (("future", "the future ╱"), ("padding", "padding ╳")):
        assert f"{signs['hovertext'].count(f'masked: {why}')} {name}" in words(app)


def test_scores_and_weights_belong_together(app: AppTest) -> None:
    before, after = plotted(app)
    scores, weights = (np.array(plot["data"][0]["z"], dtype=float) for plot in (before, after))
    assert not np.isnan(scores).any(), "scores are computed for every cell"
    exponents = np.where(opened(after), np.exp(scores), 0.0)
    expected = exponents / exponents.sum(axis=1, keepdims=True)
    assert np.allclose(weights[opened(after)], expected[opened(after)], atol=1e-5)


def test_switches_open_what_they_say(app: AppTest) -> None:
    app.toggle(key="masks_causal").set_value(False).run()
    app.toggle(key="masks_padding").set_value(False).run()
    assert opened(plotted(app)[1]).all()
    assert "None of " in words(app)
    assert "cells is closed" in words(app)
    assert not app.exception


@pytest.mark.parametrize("kind", ["encoder", "cross"])
def test_the_source_knows_no_future(app: AppTest, kind: str) -> None:
    app.segmented_control(key="masks_kind").set_value(kind).run()
    assert not app.exception
    assert len(plotted(app)) == 2
    assert "no row has a future to hide" in words(app)


def test_one_sentence_has_no_padding(app: AppTest) -> None:
    app.segmented_control(key="masks_batch").set_value("this sentence").run()
    assert "padding ╳" not in words(app)
    assert "the future ╱" in words(app)
    assert not app.exception


def test_lifting_the_mask_on_a_given_target(shipped: AppTest) -> None:
    at = on_tab(shipped, "Given target")
    assert not at.exception
    assert not opened(plotted(at)[0])[0, 1]
    at.toggle(key="lift_mask").set_value(True).run()
    after = plotted(at)[0]
    assert opened(after).all()
    assert np.allclose(np.array(after["data"][0]["z"]).sum(axis=1), 1, atol=1e-5)
    table = tables(at)[-1]
    assert table["masked (%)"].min() > 99
    assert len(table) == 5


def test_the_right_translation_comes_from_the_data_or_is_typed(shipped: AppTest) -> None:
    shipped.selectbox(key="model").set_value("adjective-swap-unmasked").run()
    at = on_tab(shipped, "Given target")
    field = at.text_input(key="given_reference")
    assert field.value == ""
    assert field.placeholder == "je lis livres rouge"
    table = tables(at)[-1]
    assert table["must predict"].tolist() == ["je", "lis", "livres", "rouge", "<eos>"]
    assert table["masked (%)"][0] < 50 < 95 < table["lifted (%)"][0], "it can only copy"
    assert "has learned to copy it" in words(at)
    field.set_value("je lis pommes vert").run()
    assert not at.exception
    assert tables(at)[-1]["must predict"].tolist() == ["je", "lis", "pommes", "vert", "<eos>"]
    at.text_input(key="text").set_value("We eat green apples").run()
    assert at.text_input(key="given_reference").value == "", "it was the translation of another sentence"
    assert tables(at)[-1]["must predict"][0] == "nous"


def test_without_a_known_translation_the_models_own_stands_in_and_is_called_that(shipped: AppTest) -> None:
    shipped.text_input(key="text").set_value("I read red green books").run()
    at = on_tab(shipped, "Given target")
    assert not at.exception
    assert "Probability of the model's own token" in words(at)
    assert "right token" not in words(at)
    at.text_input(key="given_reference").set_value("je lis livres").run()
    assert "Probability of the right token" in words(at)


def test_lifting_the_mask_while_decoding_runs_the_prefix_again(shipped: AppTest) -> None:
    at = on_tab(shipped, "While decoding")
    assert "je lis livres rouge" in words(at)
    at.toggle(key="decode_mask").set_value(True).run()
    assert not at.exception
    loaded = load_model(ROOT / "checkpoints" / "adjective-swap")
    spoken = translate_greedily(loaded.model, (*loaded.source.encode(SENTENCE).ids, EOS), causal=False)
    table = tables(at)[-1]
    said = table["lifted"][: len(spoken.path)].tolist()
    assert said == [loaded.target.label(i) for i in spoken.path]
    assert opened(plotted(at)[0]).all()
    at.slider(key=f"decode_step_{len(spoken.path)}").set_value(2).run()
    assert opened(plotted(at)[0]).shape == (2, 2)


def test_the_model_without_the_mask_has_a_low_loss_and_a_wrong_translation(shipped: AppTest) -> None:
    at = on_tab(shipped, "Trained without it")
    assert not at.exception
    assert re.search(r"Training loss at the end, best first: with the mask 0\.00.*without it 0\.00", words(at))
    assert re.search(r"exact match at the end, best first: with the mask 100.* without it 0", words(at))
    table = tables(at)[0]
    assert table["target given: right token (%)"].min() > 95
    assert table["on its own it says"].tolist()[0] == "je lis livres rouge"
    assert table["on its own it says"].tolist()[1] != "je lis livres rouge"
    assert "looks one token ahead" in words(at)


def test_without_the_shipped_pair_the_page_says_so(app: AppTest) -> None:
    at = on_tab(app, "Trained without it")
    assert not at.exception
    assert "adjective-swap is not here" in words(at)


def test_closed_padding_changes_nothing_and_open_padding_does(shipped: AppTest) -> None:
    at = on_tab(shipped, "Open padding")
    assert not at.exception
    changes = [float(change) for change in tables(at)[0]["largest change (percentage points)"]]
    assert changes[0] == 0
    assert changes[1] < 1e-3 < changes[2]
    at.slider(key="masks_pads").set_value(20).run()
    assert not at.exception
    assert float(tables(at)[0]["largest change (percentage points)"][1]) < 1e-3


@pytest.mark.parametrize("model", ["learned", "unplaced"])
@pytest.mark.parametrize("tab", TABS)
def test_every_model_can_be_shown(app: AppTest, tab: str, model: str) -> None:
    app.selectbox(key="model").set_value(model).run()
    at = on_tab(app, tab)
    assert_shows_something(at)


@pytest.mark.parametrize("text", ["x", "<img src=x onerror=alert(1)> </script>", "日本語 👩‍👩‍👧", "<pad>", "w" * 60])
@pytest.mark.parametrize("tab", TABS)
def test_any_sentence_can_be_shown(app: AppTest, tab: str, text: str) -> None:
    app.text_input(key="text").set_value(text).run()
    at = on_tab(app, tab)
    assert_shows_something(at)
