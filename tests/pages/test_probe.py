"""The Probe page, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import spacy
from streamlit.testing.v1 import AppTest

from explorer.probing import syntax as probe_syntax
from explorer.probing.sample import SampleChoice
from explorer.screens.probe import words as probe_grammar
from explorer.web import runtime
from tests.explorer import toy_grammar  # noqa: F401 - spaCy knows its component by name
from tests.explorer.toy_models import save_toy
from tests.pages.probe_page import forget, on_tab, opened, press, switch_off
from tests.pages.teaching import plotted, role_grids, tables, words
from tests.paths import ROOT


@pytest.fixture(scope="module", autouse=True)
def _nothing_measured() -> None:
    """Clear the cache once for this file: later tests reuse what earlier ones measured."""
    forget()


@pytest.fixture
def app() -> AppTest:
    probe_grammar._pipeline.clear()
    return opened()


def test_statistics_are_computed_with_sample_and_baselines(app: AppTest) -> None:
    at = app.run()
    assert not at.exception
    said = words(at)
    assert "Measured on 200 of 1,505 test sentences of reverse" in said
    assert "Baselines: uniform attention and 5 untrained models" in said
    assert "5 of 12 heads have a clear role: alignment (predicts) (2), itself (2), next token (1)." in said
    table = tables(at)[0].set_index(["kind", "head"])
    assert len(table) == 8 + 2 + 2
    assert table.loc[("cross", "L1 H1"), "alignment error rate"] <= 0.05
    assert table.loc[("cross", "L1 H1"), "role"] == "alignment (predicts)"
    maps, grids = plotted(at), role_grids(at)
    assert len(maps) == 3
    assert maps[0]["data"][0]["z"].shape == (2, 4)
    assert [len(grid["tiles"]) for grid in grids] == [8, 2, 2], "a thumbnail for each head"
    captions = " ".join(grid["caption"] for grid in grids)
    assert "Lp" not in captions
    assert "Ap = alignment (predicts)" in captions


def test_words_can_be_aligned_statistically_where_no_alignment_is_known(app: AppTest) -> None:
    at = app.run()
    assert not [button for button in at.button if button.key == "probe_align"], "the strings of reverse are aligned"
    at.selectbox(key="model").set_value("phrases-en-de").run()
    assert "Alignment is not testable here" in words(at)
    press(at, "probe_align")
    assert not at.exception
    assert "These alignments are statistical, not right" in words(at)
    assert "alignment error rate of 0.23" in words(at)
    assert at.query_params["sample"] == ["task.200.aligned"] or at.query_params["sample"] == "task.200.aligned"
    assert "alignment error rate" in tables(at)[0].columns


def test_the_table_can_be_filtered(app: AppTest) -> None:
    at = app.run()
    at.segmented_control(key="probe_kinds").set_value(["decoder"]).run()
    assert tables(at)[0]["kind"].unique().tolist() == ["decoder"]
    at.segmented_control(key="probe_kinds").set_value(["encoder", "cross"]).run()
    at.multiselect(key="probe_roles").set_value(["alignment (predicts)"]).run()
    assert tables(at)[0]["kind"].unique().tolist() == ["cross"]


def test_one_score_against_another(app: AppTest) -> None:
    at = app.run()
    at.session_state["probe_scatter"] = True
    at.run()
    assert not at.exception
    assert "10 heads: effective keys and previous token have a rank correlation of " in words(at)
    at.selectbox(key="probe_scatter_up").set_value("importance: loss without the head (nats)").run()
    assert not at.exception
    assert "12 heads: effective keys and importance: loss without the head (nats) have a rank corr" in words(at)


def test_patching_shows_where_a_letter_is_carried(app: AppTest) -> None:
    at = on_tab(app, "Patching")
    assert "Both sentences are the same for this model" in words(at)
    at.text_input(key="patching_other").set_value("headlight!").run()
    assert "equal length in tokens: this one has 9 tokens" in words(at)
    at.text_input(key="patching_other").set_value("beadlight").run()
    assert not at.exception
    source, target = plotted(at)
    assert source["data"][0]["z"].shape == (3, 10)
    assert target["data"][0]["z"].shape[0] == 2
    last = next(box for box in at.selectbox if box.label == "The prediction to watch")
    last.set_value(8).run()
    assert "The largest effect of a single vector is at 1 “h ← b”" in words(at)
    assert "“b” becomes likeliest" in words(at)


def test_cross_checks(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    at = on_tab(app, "Cross-checks")
    assert not at.exception
    *maps, shares = plotted(at)
    assert [figure["data"][0]["z"].shape for figure in maps] == [(10, 10)] * 3
    assert len(shares["data"][0]["y"]) == 10
    assert "the largest key is the same in" in words(at)
    assert "of a prediction comes from the source" in words(at)
    for label in ("Put other rows", "Set values to zero", "Divide predictions"):
        next(button for button in at.button if button.label.startswith(label)).click().run()
        assert not at.exception
    kept, agreeing, sources = tables(at)[-3:]
    (row,) = kept.to_dict("records")
    assert row["predicted word"] == "all"
    assert row["uniform: low"] < row["uniform"] < 0.5, "this model copies what it looks at"
    assert "in 50 sentences" in words(at)
    assert agreeing["kind"].tolist() == ["encoder", "encoder", "decoder", "cross"]
    assert sources["predictions"].tolist() == ["all", "first third", "middle third", "last third"]

    def gone(*_: object) -> None:
        raise runtime.NotTheModels("These numbers need the model itself: it is gone.")

    monkeypatch.setattr(runtime, "norms", gone)  # a model that vanishes between two clicks
    at.run()
    assert not at.exception
    assert "These numbers need the model itself: it is gone." in words(at)
    assert "of a prediction comes from the source" in words(at), "the parts below are drawn all the same"


def test_own_sentences(app: AppTest) -> None:
    at = app.run()
    at.segmented_control(key="probe_origin_reverse").set_value("own").run()
    at.text_area(key="probe_lines_reverse").set_value("abc\tcba\nhello\n\n").run()
    press(at, "probe_measure_reverse")
    assert not at.exception
    said = words(at)
    assert "Measured on your own sentences, read with the model's own translations" in said
    assert "None of the 12 heads has a clear role" in said, "two sentences carry no role"


@pytest.mark.parametrize("lines", ["a\ta", "aaaaaaaa", "日本語 </script> 👩‍👩‍👧\nשלום", "z" * 100])
def test_any_sentences_can_be_probed(app: AppTest, lines: str) -> None:
    at = app.run()
    at.segmented_control(key="probe_origin_reverse").set_value("own").run()
    at.text_area(key="probe_lines_reverse").set_value(lines).run()
    press(at, "probe_measure_reverse")
    for tab in ("All heads", "One head", "Surgery", "Importance", "Search", "Export"):
        on_tab(at, tab)
        assert not at.exception, tab


def test_an_empty_list_says_what_to_do(app: AppTest) -> None:
    at = app.run()
    at.segmented_control(key="probe_origin_reverse").set_value("own").run()
    at.text_area(key="probe_lines_reverse").set_value("  \n ").run()
    press(at, "probe_measure_reverse")
    assert not at.exception
    assert "The list is empty: enter one sentence per line." in words(at)


def test_a_card(app: AppTest) -> None:
    at = on_tab(app, "One head")
    at.selectbox(key="card_kind").set_value("cross").run()
    at.selectbox(key="card_head").set_value(2).run()
    assert not at.exception
    said = words(at)
    assert "Cross L1 H2: alignment (predicts)" in said
    assert "uniform attention" in said
    assert "untrained" in said
    assert "Coverage" in said
    assert "L1 H1:" in said, "the other head is the only one that can look alike"
    assert "rank " in said, "the importance of a shipped model comes with it"
    maps, covers = plotted(at)[::2], plotted(at)[1::2]
    assert len(maps) == len(covers) == 3, "the best, the median and the worst sentence"
    assert "Sorted by: aligned, sinks left out, above that of uniform attention" in said
    assert "Its second job" in said or "no second job" in said
    for weights, cover in zip(maps, covers, strict=True):
        assert np.allclose(cover["data"][0]["y"], weights["data"][0]["z"].sum(axis=0), atol=1e-5)
    numbers = tables(at)[-1]
    wanted = {"mean", "standard deviation", "uniform", "untrained", "sentences"}
    assert wanted | {"uniform standard deviation", "untrained standard deviation"} <= set(numbers.columns)
    assert at.query_params["head"] == "2"
    next(button for button in at.button if button.label.startswith("Take its scores apart")).click().run()
    assert not at.exception
    assert "Over 50 sentences." in words(at)
    assert "as key and" in words(at)


def test_importance(app: AppTest) -> None:
    at = on_tab(app, "Importance")
    assert not at.exception
    assert len(plotted(at)) == 6, "what is stored is shown, and the rest is measured when asked for"
    next(button for button in at.button if button.label == "Measure the pruning curve").click().run()
    said = words(at)
    assert len(plotted(at)) == 7
    rows = tables(at)[0]
    assert f"The loss changes most without {rows['kind'][0]} {rows['head'][0]}, by +" in said
    assert rows["loss change (nats)"].is_monotonic_decreasing
    assert "of 12 heads switched off" in said
    at = on_tab(at, "One head")
    assert "rank " in words(at)


def test_search(app: AppTest) -> None:
    at = on_tab(app, "Search")
    at.selectbox(key="search_kind").set_value("cross").run()
    at.segmented_control(key="search_rows").set_value("predicted").run()
    at.text_input(key="search_query").set_value("q").run()
    at.text_input(key="search_key").set_value("Q").run()
    assert not at.exception
    found = tables(at)[0]
    assert found["weight"].is_monotonic_decreasing
    assert found["from (query)"].str.endswith(" q").all()
    assert found["to (key)"].str.endswith(" q").all()
    at.text_input(key="search_key").set_value("</script>").run()
    assert "In no sentence of the sample can this head look from “q” to “</script>”." in words(at)


def test_grammar_without_a_pipeline_says_what_to_install(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(probe_syntax.PIPELINES, "en", "no_such_pipeline_sm")
    at = on_tab(app, "Grammar")
    assert "This model reads letters, not words" in words(at)
    at.selectbox(key="model").set_value("adjective-swap").run()
    assert not at.exception
    assert "python -m spacy download no_such_pipeline_sm" in words(at)
    assert {"function", "content"} <= set(tables(at)[0].columns), "closed lists need no pipeline"
    assert "Furthest above uniform attention" in words(at)


def test_grammar_with_a_pipeline(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("toy_parser")
    monkeypatch.setattr(probe_grammar, "load_pipeline", lambda lang: nlp)
    probe_grammar._pipeline.clear()
    at = app.run()
    at.selectbox(key="model").set_value("adjective-swap").run()
    on_tab(at, "Grammar")
    assert not at.exception
    said = words(at)
    assert "Furthest above uniform attention" in said
    assert "relations have such a head" in said
    assert "amod" in set(tables(at)[1]["relation"])
    assert tables(at)[0]["head"][0] == "uniform"
    on_tab(at, "Search")
    at.text_input(key="search_key").set_value("ADJ").run()
    assert not at.exception
    assert "A part of speech, such as NOUN, can stand for a word of the source or the target." in words(at)
    assert len(tables(at)[0]) == 50
    at.selectbox(key="search_kind").set_value("decoder").run()
    assert not at.exception
    assert "can this head look from any word to “ADJ”." in words(at), "the toy knows no French adjective"
    at.text_input(key="search_key").set_value("X").run()
    assert len(tables(at)[0]) == 50, "a word that it does not know is tagged X, as is every target word"
    probe_grammar._pipeline.clear()


def test_export_offers_four_files(app: AppTest) -> None:
    at = on_tab(app, "Export")
    assert not at.exception
    assert [button.proto.label for button in at.get("download_button")] == [
        "Table (CSV)",
        "Everything (JSON)",
        "Role map (SVG)",
        "Report (HTML)",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adjective-swap", "adjective-swap-unmasked", "dates", "phrases-en-de"])
def test_every_bundled_model_can_be_probed(app: AppTest, name: str) -> None:
    at = app.run()
    at.selectbox(key="model").set_value(name).run()
    for tab in ("All heads", "One head", "Surgery", "Importance", "Search", "Grammar", "Export"):
        on_tab(at, tab)
        assert not at.exception, tab


def test_an_untrained_model_has_no_roles_and_says_that_it_is_untrained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    save_toy(tmp_path / "mine", "reverse")
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    at.run()
    at.switch_page("pages/probe.py").run()
    assert not at.exception
    assert "This model is untrained itself." in words(at)
    assert "None of the 18 heads has a clear role." in words(at)


def test_a_model_of_unknown_data_asks_for_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    save_toy(tmp_path / "mine", "reverse")
    config = json.loads((tmp_path / "mine" / "config.json").read_text())
    config["data"]["task"] = "gone"
    (tmp_path / "mine" / "config.json").write_text(json.dumps(config))
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    at.run()
    at.text_input(key="text").set_value("abc").run()
    at.switch_page("pages/probe.py").run()
    assert not at.exception
    assert "enter sentences of your own" in words(at)
    assert "Stop" not in {button.label for button in at.button}, "there is nothing to stop"
    on_tab(at, "Surgery")
    assert not at.exception
    assert "Translation, unchanged" in words(at), "surgery needs no sample"
    at.segmented_control(key="surgery_op").set_value("mean").run()
    switch_off(at, "cross", (0, 0))
    assert "there is none yet: measure first" in words(at)


def test_stopped_work_stays_stopped_until_it_is_requested(app: AppTest) -> None:
    forget()
    key = ("probe", "reverse", runtime.fingerprint("reverse"), SampleChoice().key)
    at = app
    at.session_state["probe_stopped"] = {key}
    at.run()
    assert not at.exception
    assert "Measuring the heads: stopped. For 5 minutes it can continue where it stopped." in words(at)
    assert "Nothing has been measured yet." in words(at)
    press(at, "go-" + "-".join(key))
    assert "Measured on 200" in words(at)


def test_an_lstm_has_no_heads_to_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    save_toy(tmp_path / "mine", "reverse", architecture="lstm", n_encoder_heads=1, n_decoder_heads=1)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    at.run()
    at.switch_page("pages/probe.py").run()
    assert not at.exception
    assert "This page needs a Transformer; mine is an LSTM. Choose another model." in words(at)
