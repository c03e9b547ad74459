"""The Positions page, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from model.analysis.word_order import answer
from model.checkpoint import load_model
from model.config import EOS
from model.data import get_task
from model.positions import sinusoidal_table
from tests.explorer.toy_models import save_toy
from tests.pages.teaching import assert_shows_something, plotted, tables, words
from tests.paths import ROOT

TABS = (
    "The table",
    "One word",
    "The rotation",
    "Alternatives",
    "In the scores",
    "Shuffle the words",
    "Longer than trained",
)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_toy(folder / "adjective-swap", "adjective-swap", n_encoder_layers=2)
    save_toy(folder / "learned", "adjective-swap", positions="learned")
    save_toy(folder / "unplaced", "reverse", positions="none")
    return folder


@pytest.fixture
def app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.run()
    return at.switch_page("pages/positions.py").run()


def on_tab(at: AppTest, tab: str) -> AppTest:
    at.session_state["positions_tab"] = tab
    at.query_params["positions_tab"] = tab  # in a browser the address follows by itself
    return at.run()


def test_the_table_on_screen_is_the_buffer_in_the_model(app: AppTest, checkpoints: Path) -> None:
    model = load_model(checkpoints / "adjective-swap").model
    app.slider(key="pe_length").set_value(40).run()
    assert not app.exception
    shown = plotted(app)[0]["data"][0]["z"]
    assert np.array_equal(shown, model.positions_src.sinusoidal[:40].numpy())
    assert "the largest difference between the two tables is 0." in words(app)


def test_sliders_change_the_table_and_say_so(app: AppTest) -> None:
    app.slider(key="pe_width").set_value(20).run()
    app.slider(key="pe_length").set_value(30).run()
    app.select_slider(key="pe_base").set_value(100.0).run()
    assert not app.exception
    assert np.allclose(plotted(app)[0]["data"][0]["z"], sinusoidal_table(30, 20, 100.0).numpy(), atol=1e-7)
    assert "The loaded model adds the rows of d_model 16 and base 10,000." in words(app)


def test_curves_are_columns_of_the_table(app: AppTest) -> None:
    app.segmented_control(key="pe_beside").set_value("curves").run()
    (chooser,) = app.multiselect
    chooser.set_value([3, 6]).run()
    table = sinusoidal_table(64, 16).numpy()
    _, curves = plotted(app)
    for i, trace in zip((3, 6), curves["data"], strict=True):
        assert np.allclose(trace["y"], table[:, i])
    chooser = app.multiselect[0]
    chooser.set_value([]).run()
    assert not app.exception


@pytest.mark.parametrize("measure", ["dot product", "distance"])
def test_products_are_those_of_the_rows(app: AppTest, measure: str) -> None:
    app.segmented_control(key="pe_beside").set_value(measure).run()
    table = sinusoidal_table(64, 16).numpy()
    expected = table @ table.T
    if measure == "distance":
        expected = np.linalg.norm(table[:, None] - table[None], axis=-1)
    shown = plotted(app)[-1]["data"][0]["z"]
    assert np.allclose(shown, expected, atol=1e-5)


def test_one_word_and_its_place(app: AppTest, checkpoints: Path) -> None:
    at = on_tab(app, "One word")
    assert not at.exception
    loaded = load_model(checkpoints / "adjective-swap")
    embedding = 4.0 * loaded.model.src_embedding.weight[next(iter(loaded.source.encode("I read red books").ids))]
    word, position, both = plotted(at)[0]["data"][0]["z"]
    assert np.allclose(word, embedding.numpy(), atol=1e-6)
    assert np.allclose(position, loaded.model.positions_src.sinusoidal[0].numpy(), atol=1e-6)
    assert np.allclose(both, word + position, atol=1e-6)
    assert len(tables(at)[0]) == 5


def test_the_rotation_is_verified_live(app: AppTest) -> None:
    at = on_tab(app, "The rotation")
    assert not at.exception
    for offset in (1, 7, 63):
        at.slider(key="pe_offset").set_value(offset).run()
        assert not at.exception
        where = f"at all {64 - offset} positions" if offset < 63 else "at the only position that is left"
        assert f"PE(p + {offset}) = M · PE(p) holds {where}" in words(at)
        assert [slider.disabled for slider in at.slider if slider.label == "Position p"] == [offset == 63]
        (table,) = tables(at)
        assert len(table) == 8
        assert table["largest error (10⁻¹⁵)"].max() < 1000


def broken(at: AppTest, scheme: str) -> list[str]:
    """The requirements that a scheme does not meet."""
    verdicts = tables(at)[0].set_index("scheme").loc[scheme]
    return [wish for wish, verdict in verdicts.items() if verdict.startswith("✗")]


def test_alternatives_and_what_breaks(app: AppTest) -> None:
    at = on_tab(app, "Alternatives")
    assert not at.exception
    assert broken(at, "sinusoidal") == []
    assert "unique" in broken(at, "none")
    assert broken(at, "normalised") == ["linear in the offset", "extends to unseen lengths"]
    assert "bounded" in broken(at, "integer")


def test_the_learned_table_is_the_models(app: AppTest, checkpoints: Path) -> None:
    weight = load_model(checkpoints / "learned").model.positions_src.embedding.weight
    app.selectbox(key="model").set_value("learned").run()
    assert "The loaded model learned its positions" in words(app)
    app.segmented_control(key="pe_rows").set_value("learned by this model").run()
    assert np.allclose(plotted(app)[0]["data"][0]["z"], weight[:128].detach().numpy())
    at = on_tab(app, "Alternatives")
    at.segmented_control(key="pe_scheme").set_value("learned (this model)").run()
    assert not at.exception
    assert np.array_equal(plotted(at)[0]["data"][0]["z"], weight.numpy())
    assert sorted(broken(at, "learned (this model)")) == [
        "any d_model",
        "deterministic",
        "extends to unseen lengths",
        "linear in the offset",
    ]


@pytest.mark.parametrize(
    ("name", "alike"),
    [("multi30k-en-de", "A man chases a dog."), ("multi30k-de-en", "Ein Mann jagt einen Hund.")],
)
def test_a_sentence_is_offered_in_which_the_order_decides(
    name: str, alike: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", ROOT / "checkpoints")
    loaded = load_model(ROOT / "checkpoints" / name)
    sentence = get_task(name).order_matters
    ids = (*loaded.source.encode(sentence).ids, EOS)
    placed, bare = (answer(loaded.model, ids, positions=positions).path for positions in (True, False))
    one, two = loaded.target.decode(placed), loaded.target.decode(bare)
    assert one != two
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.session_state["model"] = name
    at.run()
    at.switch_page("pages/positions.py").run()
    on_tab(at, "Shuffle the words")
    at.text_input(key="text").set_value(alike).run()
    at.button(key="pe_order_matters").click().run()
    assert not at.exception
    assert at.text_input(key="text").value == sentence
    assert one in tables(at)[-1]["original sentence gives"].tolist()
    assert two in tables(at)[-1]["original sentence gives"].tolist()
    assert "pe_order_matters" not in [button.key for button in at.button]


def test_rotation_and_distance_alone_depend_on_the_distance_alone(app: AppTest) -> None:
    app.selectbox(key="model").set_value("learned").run()
    at = on_tab(app, "In the scores")
    assert not at.exception
    found = tables(at)[0].set_index("positions")
    assert set(found.index[found["distance alone decides"] == "✓ exactly"]) == {"RoPE", "ALiBi"}
    assert found.loc["learned (this model)", "distance alone decides"].startswith("✗ varies by")
    assert found.loc["sinusoidal", "distance alone decides"].startswith("✗ varies by")
    assert found.loc["none", "distance alone decides"] == "all scores are equal"
    assert found.loc["ALiBi", "before ≠ after"] == "no"
    assert found.loc["RoPE", "before ≠ after"] != "no"
    at.segmented_control(key="pe_in").set_value("ALiBi").run()
    at.slider(key="pe_slope").set_value(2).run()
    assert not at.exception
    scores = np.array(plotted(at)[0]["data"][0]["z"])
    assert np.allclose(scores[5, 5] - scores[5, 1:5], [1, 0.75, 0.5, 0.25]), "head 2 of 8 takes off a quarter a step"


def test_shuffled_words_without_positions_keep_their_attention(app: AppTest) -> None:
    at = on_tab(app, "Shuffle the words")
    assert not at.exception
    before, after, bare = (np.array(plot["data"][0]["z"]) for plot in plotted(at))
    assert before.shape == (5, 5)
    assert not np.allclose(before, after, atol=1e-3)
    assert "Attention follows the words exactly" in words(at)
    at.slider(key="pe_seed").set_value(9).run()
    assert np.allclose(plotted(at)[2]["data"][0]["z"], bare, atol=1e-6), "whatever the order"
    assert not np.allclose(plotted(at)[1]["data"][0]["z"], after, atol=1e-3)


def test_longer_than_trained(app: AppTest) -> None:
    at = on_tab(app, "Longer than trained")
    assert not at.exception
    assert "In training the longest sentence had **4 tokens**" in " ".join(m.value for m in at.markdown)
    at.slider(key="pe_times").set_value(24).run()
    assert not at.exception
    assert "This model reads at most 47 tokens." in words(at)


def assert_shows(at: AppTest, tab: str) -> None:
    """Check for a figure or a notice; on a tab that shows only a translation, for the translation."""
    if tab == "Longer than trained":
        assert not at.exception
        assert "The answer:" in words(at)
    else:
        assert_shows_something(at)


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("model", ["learned", "unplaced"])
def test_every_model_can_be_shown(app: AppTest, model: str, tab: str) -> None:
    app.selectbox(key="model").set_value(model).run()
    at = on_tab(app, tab)
    assert_shows(at, tab)
    if model == "unplaced" and tab == "Shuffle the words":
        assert "Attention follows the words exactly" in words(at)


@pytest.mark.parametrize("text", ["x", "<img src=x onerror=alert(1)> </script>", "日本語 👩‍👩‍👧", "word " * 60])
@pytest.mark.parametrize("tab", TABS)
def test_any_sentence_can_be_shown(app: AppTest, tab: str, text: str) -> None:
    app.text_input(key="text").set_value(text).run()
    at = on_tab(app, tab)
    assert_shows(at, tab)


def test_no_sentence_is_no_error(app: AppTest) -> None:
    app.text_input(key="text").set_value(" ").run()
    assert not app.exception
    assert "There is nothing to translate yet" in words(app)


def test_a_link_opens_tab_and_sliders(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.run()
    for name, value in {"positions_tab": "The rotation", "pe_length": "30", "pe_offset": "9"}.items():
        at.query_params[name] = value
    at.switch_page("pages/positions.py").run()
    assert not at.exception
    assert "PE(p + 9) = M · PE(p) holds at all 21 positions" in words(at)


def test_a_link_that_makes_no_sense_opens_the_page_as_it_is(app: AppTest) -> None:
    for name, value in {"positions_tab": "<b>", "pe_length": "9999", "pe_width": "x", "pe_base": "3"}.items():
        app.query_params[name] = value
    at = app.run()
    assert not at.exception
    assert "The table" in words(at)
