"""The panels of the Attention page, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

import base64
import dataclasses
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translation, Translator
from explorer.files.manifest import read_manifest
from explorer.screens.attention import downloads as attention_export
from model.checkpoint import load_model
from model.config import DecodeConfig
from tests.explorer.decoding.test_attention_file import npz, tokens, weights_of
from tests.explorer.sent import decodings
from tests.explorer.toy_models import save_toy
from tests.pages.panel_page import TEXT, fresh_app, open_panel, started


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_toy(folder / "adjective-swap", "adjective-swap")
    save_toy(folder / "other", "adjective-swap", seed=5)
    save_toy(folder / "unscaled", "adjective-swap", scale_scores=False, n_encoder_heads=4)
    return folder


@pytest.fixture
def app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    return started(checkpoints, monkeypatch)


def opened(app: AppTest, panel: str, **query: str) -> AppTest:
    """The Attention page with a panel open, as opened by a link."""
    return open_panel(app, **({"cell": "2-3", "panel": panel} | query))


def translation(checkpoints: Path, model: str = "adjective-swap", text: str = TEXT) -> Translation:
    return Translator(load_model(checkpoints / model)).translate(text, DecodeConfig())


def said(at: AppTest) -> str:
    parts = [*at.caption, *at.info, *at.warning, *at.error, *at.markdown]
    return " ".join(element.value for element in parts).replace("\\", "").replace("\u2060", "")


def charts(at: AppTest) -> list[dict[str, Any]]:
    return [json.loads(element.proto.spec) for element in at.get("plotly_chart")]


def numbers(array: Any) -> np.ndarray:
    if isinstance(array, dict):
        flat = np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"])
        return flat.reshape([int(n) for n in array["shape"].split(",")]) if "shape" in array else flat
    return np.array([[np.nan if x is None else x for x in row] for row in array], float)


# One cell


@pytest.mark.parametrize("model", ["adjective-swap", "other", "unscaled"])
@pytest.mark.parametrize(("kind", "cell"), [("cross", "2-3"), ("encoder", "1-5"), ("decoder", "3-2")])
def test_the_cells_numbers_on_screen_give_the_weight(
    app: AppTest, checkpoints: Path, model: str, kind: str, cell: str
) -> None:
    at = opened(app, "cell", model=model, kind=kind, cell=cell)
    row, column = map(int, cell.split("-"))
    trace = translation(checkpoints, model).trace
    weight = trace.weights(kind)[0, 1, row - 1, column - 1]
    frames = [frame.value for frame in at.dataframe]
    by_key = next(frame for frame in frames if "weight" in frame.columns)
    dimensions = next(frame for frame in frames if "query × key" in frame.columns)
    shown = by_key[by_key[""] == "→"].iloc[0]
    digits = len(shown["weight"].partition(".")[2])
    assert shown["weight"] == f"{weight:.{digits}f}"
    # From the displayed digits alone, as with a calculator.
    score = sum(float(q) * float(k) for q, k in zip(dimensions["query"], dimensions["key"], strict=True))
    score /= 1.0 if model == "unscaled" else np.sqrt(len(dimensions))
    assert score == pytest.approx(float(shown["score"]), abs=2e-4)
    raised = [float(x) for x in by_key["e^(score − highest)"] if x != "masked"]
    own = float(shown["e^(score − highest)"])
    assert f"{own / sum(raised):.{digits}f}" == shown["weight"]
    assert shown["weight"] in said(at)
    assert ("not scaled" in said(at)) == (model == "unscaled")


def test_without_a_cell_the_panel_says_what_to_choose(app: AppTest) -> None:
    at = opened(app, "cell", cell="2-0")
    assert "Choose a cell first" in said(at)
    for query, words in (({"head": "0"}, "Choose one head"), ({"kind": "decoder", "cell": "1-2"}, "did not exist yet")):
        for name, value in query.items():
            app.query_params[name] = value
        fresh = fresh_app()
        assert words in said(opened(fresh, "cell", **query))


# Aggregates


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_aggregates_are_shown_beside_the_raw_weights(app: AppTest, checkpoints: Path, kind: str) -> None:
    at = opened(app, "aggregates", kind=kind, head="1")
    weights = translation(checkpoints).trace.weights(kind)
    mask = translation(checkpoints).trace.mask(kind)
    raw, mean = (numbers(chart["data"][0]["z"]) for chart in charts(at))
    np.testing.assert_array_equal(np.nan_to_num(raw), np.where(mask, 0, weights[0, 0]))
    np.testing.assert_allclose(np.nan_to_num(mean), np.where(mask, 0, weights[0].mean(0)), atol=1e-6)
    for which, words in {
        "max-heads": "Rows do not sum to 1",
        "mean-all": "All layers",
        "rollout": "Abnar & Zuidema 2020",
        "norm": "Kobayashi et al. 2020",
        "norm-share": "each row divided by its sum",
        "norm-layer": "cancel",
    }.items():
        at.selectbox(key="aggregates_which").set_value(which).run()
        assert not at.exception
        assert words in said(at)
        made = numbers(charts(at)[1]["data"][0]["z"])
        assert (np.isnan(made) == (mask != 0)).all()


def test_a_norm_of_the_mean_over_heads_is_refused(app: AppTest) -> None:
    at = opened(app, "aggregates", head="0")
    at.selectbox(key="aggregates_which").set_value("norm").run()
    assert "Choose one head" in said(at)


# Tree


def test_the_tree_shows_hypotheses_and_opens_a_node(app: AppTest, checkpoints: Path) -> None:
    at = opened(app, "tree")
    table = next(frame.value for frame in at.dataframe if "state" in frame.value.columns)
    assert set(table["state"]) >= {"on screen", "kept", "dropped"}
    assert any("hypothesis 1" in names for names in table["end of"])
    assert "Beam search scored" in said(at)
    dropped = int(np.flatnonzero(table["state"] == "dropped")[0])
    seq = translation(checkpoints).seq
    at.session_state[f"tree_table_{seq}"] = {"selection": {"rows": [dropped], "columns": []}}
    at.run()
    assert not at.exception
    place, step = at.session_state["_session_selection"], int(table["step"][dropped])
    assert place.step == len(place.path) == step
    label = Translator(load_model(checkpoints / "adjective-swap")).loaded.target.label
    assert " ".join(map(label, place.path)) == f"{table['after'][dropped]} {table['token'][dropped]}".strip()
    assert "a chosen path" in said(at)


def test_a_node_on_the_path_in_view_only_moves_the_step(app: AppTest, checkpoints: Path) -> None:
    at = opened(app, "tree")
    [chart] = charts(at)
    shown = next(trace for trace in chart["data"] if trace.get("name") == "on screen")
    seq = translation(checkpoints).seq
    index = shown["customdata"][3] if isinstance(shown["customdata"], list) else int(numbers(shown["customdata"])[3])
    at.session_state[f"tree_chart_{seq}"] = {"selection": {"points": [{"customdata": index}]}}
    at.run()
    assert not at.exception
    assert at.session_state["_session_selection"].step == 3
    assert at.session_state["_session_selection"].path is None
    at.session_state[f"tree_chart_{seq}"] = {"selection": {"points": [{"customdata": "nonsense"}, 5]}}
    at.run()
    assert not at.exception


def test_translate_has_the_tree_too(app: AppTest) -> None:
    at = app.run()
    at.toggle(key="translate_tree").set_value(True).run()
    assert not at.exception
    table = next(frame.value for frame in at.dataframe if "state" in frame.value.columns)
    dropped = int(np.flatnonzero(table["state"] == "dropped")[0])
    key = next(element.proto.id for element in at.get("plotly_chart")).rpartition("tree_chart_")[2]
    at.session_state[f"tree_table_{key}"] = {"selection": {"rows": [dropped], "columns": []}}
    at.run()
    assert not at.exception
    assert len(at.session_state["_session_selection"].path) == int(table["step"][dropped])


def test_a_forced_target_has_its_probabilities_and_opens(app: AppTest, checkpoints: Path) -> None:
    at = opened(app, "forcing")
    at.text_input(key="forcing_text").set_value("je lis des livres rouges").run()
    assert not at.exception
    forced = Translator(load_model(checkpoints / "adjective-swap")).force(TEXT, "je lis des livres rouges")
    table = next(frame.value for frame in at.dataframe if "its probability (%)" in frame.value.columns)
    assert list(table["predicts"]) == list(forced.trace.predicted_tokens)
    np.testing.assert_allclose(table["probability (%)"], 100 * forced.trace.probabilities, atol=1e-3)
    total = float(np.log(forced.trace.probabilities.astype(float)).sum())
    assert f"Log-probability {total:.3f} nats over {len(forced.path)} tokens" in said(at)
    at.button(key="forcing_show").click().run()
    assert not at.exception
    assert at.button(key="forcing_show").disabled
    assert "a chosen path" in said(at)


# Compare


def test_two_steps_are_subtracted(app: AppTest, checkpoints: Path) -> None:
    at = opened(app, "compare")
    at.selectbox(key="compare_row").set_value(4).run()
    weights = translation(checkpoints).trace.cross[0, 1]
    one, other, both = (numbers(chart["data"][0]["z"]) for chart in charts(at))
    np.testing.assert_array_equal(one[0], weights[1])
    np.testing.assert_array_equal(other[0], weights[3])
    np.testing.assert_allclose(both[0], weights[3] - weights[1], atol=1e-7)


def test_a_sentence_of_another_length_is_shown_without_a_difference(app: AppTest) -> None:
    at = opened(app, "compare", kind="encoder")
    at.segmented_control(key="compare_way").set_value("text").run()
    assert "Type another sentence" in said(at)
    at.text_input(key="compare_text").set_value("I read").run()
    assert len(charts(at)) == 2
    assert "differ in size (5 × 5 and 3 × 3)" in said(at)
    at.text_input(key="compare_text").set_value("They buy blue cars").run()
    assert len(charts(at)) == 3
    assert "Cells are compared by position" in said(at)


def test_another_model_and_an_edited_run_are_compared(app: AppTest, checkpoints: Path) -> None:
    at = opened(app, "compare", kind="encoder")
    at.segmented_control(key="compare_way").set_value("model").run()
    at.selectbox(key="compare_model").set_value("other").run()
    one, other, both = (numbers(chart["data"][0]["z"]) for chart in charts(at))
    np.testing.assert_array_equal(other, translation(checkpoints, "other").trace.encoder[0, 1])
    np.testing.assert_allclose(both, other - one, atol=1e-7)
    at.segmented_control(key="compare_way").set_value("edit").run()
    assert not at.exception
    at.selectbox(key="compare_head").set_value(2).run()
    at.selectbox(key="compare_operation").set_value("uniform").run()
    other = numbers(charts(at)[1]["data"][0]["z"])
    np.testing.assert_allclose(other, 0.2, atol=1e-6)
    assert "Edited: encoder layer 1 head 2: uniform" in said(at)


# Your own attention


def test_own_attention_explains_itself_and_shows_a_file(app: AppTest) -> None:
    at = opened(app, "own")
    assert "output_attentions=True" in at.code[0].value
    own = npz(encoder=weights_of(2, 3, 4, 4), src_tokens=tokens(4))
    at.file_uploader(key="own_file").upload("mine.npz", own).run()
    assert not at.exception
    assert not at.error
    assert "mine.npz" in [header["decoding"]["model"] for header, _ in decodings(at)]


def test_a_malformed_file_gets_a_message(app: AppTest) -> None:
    at = opened(app, "own")
    at.file_uploader(key="own_file").upload("mine.npz", npz(encoder=weights_of(2, 3, 4, 4))).run()
    assert not at.exception
    assert "mine.npz cannot be shown: encoder needs src_tokens" in said(at)


# Export and reopening


@pytest.mark.parametrize("view", ["", "head", "lines", "text"])
def test_export_offers_every_format(app: AppTest, view: str) -> None:
    at = opened(app, "export", **({"view": view} if view else {}))
    names = {element.proto.label for element in at.get("download_button")}
    assert names == {"PNG", "SVG", "PDF", "CSV", "NPZ", "Page that steps (HTML)", "Manifest"}
    assert "On screen: Cross-attention" in said(at)


@pytest.mark.parametrize("page", ["attention", "translate"])
def test_the_steps_are_drawn_on_request_and_offered_as_a_gif(app: AppTest, page: str) -> None:
    at = opened(app, "export") if page == "attention" else app.run()
    if page == "translate":
        at.toggle(key="translate_moving").set_value(True).run()
    assert "moving_gif" not in {button.key for button in at.get("download_button")}
    at.button(key="export_moving").click().run()
    assert not at.exception
    labels = [button.proto.label for button in at.get("download_button")]
    assert [label.split(",")[0] for label in labels if label.startswith("GIF")] == ["GIF"]


def test_a_manifest_reopens_exactly_the_view(app: AppTest, checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = translation(checkpoints)
    path = (*shown.path[:1], int(shown.trace.top_ids[1][2]))
    selection = Selection(
        model="adjective-swap",
        text=TEXT,
        path=path,
        step=2,
        kind="decoder",
        layer=2,
        head=3,
        view="head.log",
        panel="aggregates",
        cell=(2, 1),
    )
    forked = Translator(load_model(checkpoints / "adjective-swap")).translate(TEXT, DecodeConfig(), prefix=path)
    text = attention_export._manifest(selection, forked)
    found = read_manifest(text.encode())
    assert found.selection == selection
    assert found.problems == ()
    values = json.loads(text)
    assert tuple(values["target_ids"]) == forked.path
    assert values["link"].startswith("attention?model=adjective-swap&text=I+read+red+books&path=")
    at = opened(app, "export", text="They buy blue cars", kind="encoder", cell="1-1")
    upload(at, text.encode())
    assert at.text_input(key="text").value == TEXT
    place = at.session_state["_session_selection"]
    assert place == dataclasses.replace(selection, model="", text="")
    assert at.selectbox(key="aggregates_which").value == "mean-heads"


def upload(at: AppTest, content: bytes) -> AppTest:
    at.file_uploader(key="export_manifest").upload("view.json", content).run()
    assert not at.exception
    return at


def test_a_manifest_of_other_weights_or_an_invalid_one_gets_a_message(app: AppTest, checkpoints: Path) -> None:
    at = opened(app, "export")
    for content in (b"", b"{}", b"[1]", b"\xff", b'{"manifest_version": 9}', b'{"manifest_version": 1, "model": 3}'):
        upload(at, content)
        assert "manifest" in at.error[-1].value
        assert at.session_state["_session_selection"].panel == "export", "nothing is lost"
    selection = Selection(model="other", text=TEXT, panel="export")
    text = attention_export.manifest_text(selection, path=(), translation="", edits=(), model_hash="0" * 64)
    upload(at, text.encode())
    assert at.selectbox(key="model").value == "other"
    assert "have changed since this manifest was written" in said(at)
    gone = text.replace('"other"', '"gone"')
    fresh = opened(fresh_app(), "export")
    assert "There is no model 'gone' here" in said(upload(fresh, gone.encode()))


def test_the_link_opens_the_same_view(app: AppTest, checkpoints: Path) -> None:
    at = opened(app, "export", view="lines.mass-60", step="2")
    address = next(element.value for element in at.code if element.value.startswith("/attention?"))
    fresh = fresh_app()
    for name, values in parse_qs(address.partition("?")[2]).items():
        fresh.query_params[name] = values[0]
    fresh.run()
    again = fresh.switch_page("pages/attention.py").run()
    assert again.session_state["_session_selection"] == at.session_state["_session_selection"]
    assert again.text_input(key="text").value == TEXT
