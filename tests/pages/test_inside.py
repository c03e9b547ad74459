"""The Inside page, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.examples import opening_step
from explorer.decoding.operation_names import part_of, parts, title_of
from explorer.web import runtime
from model.analysis.operations import record
from model.checkpoint import load_model
from model.embeddings import count_parameters
from tests.explorer.toy_models import save_toy
from tests.pages.teaching import assert_shows_something, plotted, tables, words
from tests.paths import ROOT

TABS = ("The machine", "All operations", "Queries and keys", "Layer by layer", "The prediction", "Sizes")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_toy(folder / "post", "adjective-swap", n_encoder_layers=2, norm_first=False)
    save_toy(folder / "pre", "reverse", norm_first=True, positions="learned")
    save_toy(folder / "unplaced", "reverse", positions="none", causal=False, residual=False)
    return folder


@pytest.fixture
def app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["model"] = "post"
    at.query_params["inside_tab"] = at.session_state["inside_tab"] = "All operations"
    return at.switch_page("pages/inside.py").run()


def on_tab(at: AppTest, tab: str) -> AppTest:
    at.session_state["inside_tab"] = tab
    at.query_params["inside_tab"] = tab  # in a browser the address follows by itself
    return at.run()


def step_on(at: AppTest) -> int:
    (slider,) = (box for box in at.select_slider if box.label == "Step")
    value: int = slider.value
    return value


def on_part(at: AppTest, part: str) -> AppTest:
    (chooser,) = (box for box in at.segmented_control if box.label == "Part of the model")
    return chooser.set_value(part).run()


def opened(at: AppTest, part: str, name: str) -> AppTest:
    """Open another part, and choose one of its operations."""
    return on_part(at, part).selectbox(key=f"inside_operation_{part}").set_value(name).run()


@pytest.mark.parametrize("name", ["post", "pre"])
def test_shapes_counts_and_means_are_the_modules(app: AppTest, checkpoints: Path, name: str) -> None:
    at = app.selectbox(key="model").set_value(name).run()
    loaded = load_model(checkpoints / name)
    seen: dict[str, dict[str, Any]] = {}
    for part in parts(loaded.model_config):
        on_part(at, part)
        assert not at.exception
        seen |= {row["name in the code"]: row for row in tables(at)[0].to_dict("records")}
    text = at.text_input(key="text").value
    shown = runtime.translate(name, text, _greedy())
    found = record(loaded.model, shown.source.ids, shown.path, step_on(at), whole=True)
    assert seen.keys() == found.operations.keys()
    for each, row in seen.items():
        operation = found[each]
        assert row["shape"] == " × ".join(str(n) for n in operation.value.shape[1:])
        assert row["mean"] == pytest.approx(operation.mean, abs=6e-5)
        assert row["standard deviation"] == pytest.approx(operation.standard_deviation, abs=6e-5)
    assert sum(row["parameters"] for row in seen.values()) == count_parameters(loaded.model)


def _greedy() -> Any:
    from model.config import DecodeConfig

    return DecodeConfig()


def test_post_norm_and_pre_norm_are_listed_as_they_are(app: AppTest) -> None:
    def names() -> list[str]:
        return [name.rsplit(".", 1)[-1] for name in tables(app)[0]["name in the code"]]

    assert names().index("residual1") + 1 == names().index("norm1")
    assert "post-norm" in words(app)
    app.selectbox(key="model").set_value("pre").run()
    assert names()[0] == "norm1"
    assert names().index("out_proj") + 1 == names().index("residual1")
    reads = tables(app)[0].set_index("name in the code")["reads"]
    assert reads["encoder.0.residual1"] == (
        "Add position (positional encoding) (Source in) and Output projection W_O"
    ), "around norm and sublayer"
    assert "pre-norm" in words(app)


def test_a_link_opens_its_operation(app: AppTest) -> None:
    at = opened(app, "Decoder 1", "decoder.0.cross_attn.weights")
    assert at.query_params["op"] in ("decoder.0.cross_attn.weights", ["decoder.0.cross_attn.weights"])
    at.query_params["op"] = "decoder.layers.0.norm2"  # a link of an earlier version
    at.run()
    assert "In the code: decoder.0.norm2." in words(at)


@pytest.mark.slow
@pytest.mark.parametrize("way", [0, 1])
def test_every_operation_can_be_opened(app: AppTest, checkpoints: Path, way: int) -> None:
    chooser = app.segmented_control(key="inside_way")
    chooser.set_value(chooser.options[way]).run()
    config = load_model(checkpoints / "post").model_config
    shown = runtime.translate("post", app.text_input(key="text").value, _greedy())
    found = record(
        load_model(checkpoints / "post").model, shown.source.ids, shown.path, len(shown.path), whole=bool(way)
    )
    for part in parts(config):
        for name in (name for name in found.operations if part_of(name, config) == part):
            at = opened(app, part, name)
            assert not at.exception, name
            assert f"In the code: {name}." in words(at)
            assert title_of(name) in words(at)


def test_what_is_open_is_what_was_computed(app: AppTest, checkpoints: Path) -> None:
    at = opened(app, "Decoder 2", "decoder.1.feed_forward.activation")
    loaded = load_model(checkpoints / "post")
    shown = runtime.translate("post", at.text_input(key="text").value, _greedy())
    found = record(loaded.model, shown.source.ids, shown.path, step_on(at), whole=True)
    value = found["decoder.1.feed_forward.activation"].value[0]
    (first,) = plotted(at)
    assert np.array_equal(first["data"][0]["z"], value.numpy())
    assert f"Of {value.shape[1]} units, {100 * (value > 0).float().mean():.0f} % are active on average" in words(at)
    at = opened(at, "Decoder 1", "decoder.0.norm2")
    _, table = tables(at)
    assert np.allclose(table["mean before"], found["decoder.0.residual2"].value[0].mean(dim=1), atol=1e-4)
    assert np.allclose(table["standard deviation after"], 1, atol=0.05)


def test_queries_and_keys_lie_together(app: AppTest) -> None:
    at = on_tab(app, "Queries and keys")
    assert not at.exception
    assert [trace["name"] for trace in plotted(at)[0]["data"]] == ["query", "key"]
    assert len(plotted(at)[0]["data"][0]["x"]) == 5
    at.segmented_control(key="similar_what").set_value("values").run()
    assert [trace["name"] for trace in plotted(at)[0]["data"]] == ["value"]
    for kind in ("decoder", "cross"):
        at.segmented_control(key="similar_kind").set_value(kind).run()
        assert not at.exception


def test_the_lens_ends_with_the_real_prediction(app: AppTest) -> None:
    at = on_tab(app, "Layer by layer")
    assert not at.exception
    shown = runtime.translate("post", at.text_input(key="text").value, _greedy())
    (table,) = tables(at)
    assert table["read off after"].tolist() == ["embedding", "layer 1", "layer 2"]
    row = step_on(at) - 1
    assert table["likeliest"].tolist()[-1] == shown.trace.predicted_tokens[row]
    assert table["its probability (%)"].tolist()[-1] == pytest.approx(
        100 * float(shown.trace.probabilities[row]), abs=0.01
    )
    assert "learned to read the last layer only" in words(at)


def test_temperature_and_smoothing_move_the_bars(app: AppTest) -> None:
    at = on_tab(app, "The prediction")
    assert not at.exception
    plain, before = (series["y"] for series in plotted(at)[0]["data"])
    assert before[0] < plain[0], "warmer at first, so that there is something to see"
    for values in (plain, before):
        assert sum(values) == pytest.approx(100), "the last bar holds all other tokens"
    assert plotted(at)[0]["data"][0]["x"][-1] == "all others"
    at.slider(key="chance_temperature").set_value(0.1).run()
    after = plotted(at)[0]["data"][1]["y"]
    assert after[0] > before[0]
    at.slider(key="chance_epsilon").set_value(0.5).run()
    asked = plotted(at)[1]["data"][1]["y"]
    assert max(asked) == pytest.approx(50, abs=2)
    assert not at.exception


def test_the_papers_models(app: AppTest) -> None:
    at = on_tab(app, "Sizes")
    assert not at.exception
    assert "Paper base: 63 million parameters with 37,000 pieces; the paper prints 65 million" in words(at)
    at.button(key="budget_paper big").click().run()
    assert "Paper big: 214 million parameters with 37,000 pieces; the paper prints 213 million" in words(at)
    at.select_slider(key="budget_size_heads").set_value(1).run()
    assert not at.exception
    at.select_slider(key="budget_size_d_model").set_value(16).run()
    at.select_slider(key="budget_size_heads").set_value(16).run()
    assert not at.exception


@pytest.mark.parametrize("model", ["pre", "unplaced"])
@pytest.mark.parametrize("tab", TABS)
def test_every_model_can_be_shown(app: AppTest, tab: str, model: str) -> None:
    app.selectbox(key="model").set_value(model).run()
    at = on_tab(app, tab)
    assert_shows_something(at)


@pytest.mark.parametrize("text", ["x", "<img src=x onerror=alert(1)> </script>", "日本語 👩‍👩‍👧", "$x$ **b** w" * 5])
@pytest.mark.parametrize("tab", TABS)
def test_any_sentence_can_be_shown(app: AppTest, tab: str, text: str) -> None:
    app.text_input(key="text").set_value(text).run()
    at = on_tab(app, tab)
    assert_shows_something(at)


def test_the_step_is_shared_with_the_other_pages(app: AppTest) -> None:
    (slider,) = (box for box in app.select_slider if box.label == "Step")
    shown = runtime.translate("post", app.text_input(key="text").value, _greedy())
    assert slider.value == opening_step(runtime.models()["post"], shown), "the one worth seeing at first"
    other = 1 if slider.value != 1 else 2
    slider.set_value(other).run()
    assert app.query_params["step"] == str(other)
    assert app.session_state["_session_selection"].step == other
    at = on_tab(app, "Layer by layer")
    (slider,) = (box for box in at.select_slider if box.label == "Step")
    assert slider.value == other
    assert not at.exception


@pytest.mark.parametrize("name", ["encoder.0.feed_forward.activation", "encoder.layers.0.feed_forward.activation"])
def test_a_link_opens_an_operation(app: AppTest, name: str) -> None:
    """By the name of its point, or by the path of its module, as in links of earlier versions."""
    app.query_params["op"] = name
    at = app.run()
    assert not at.exception
    assert "units, " in words(at)
    assert "are active on average" in words(at)
    assert at.query_params["op"] == "encoder.0.feed_forward.activation"
    at.query_params["op"] = "<b>no such operation</b>"
    at = at.run()
    assert not at.exception
    assert "op" not in at.query_params, "the first operation is open and needs no mention"
