"""The Probe page in Streamlit's test harness: what is measured, beside which baselines, and heads that are changed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import spacy
from streamlit.testing.v1 import AppTest

from explorer.probing import syntax
from explorer.probing.sample import SampleChoice
from explorer.screens.probe import words as grammar
from explorer.web import measurements, runtime
from tests.explorer import toy_grammar  # noqa: F401 - spaCy knows its component by name
from tests.explorer.toy_models import save_toy
from tests.pages.page import (
    address,
    plotted,
    press,
    role_grids,
    run,
    table_with,
    tables,
    visit,
    words,
)

TABS = ("All heads", "One head", "Surgery", "Importance", "Search", "Grammar", "Export")


@pytest.fixture(scope="module", autouse=True)
def _nothing_measured() -> None:
    """Clear the cache once for this file: later tests reuse what earlier ones measured."""
    measurements.store.clear()


@pytest.fixture(autouse=True)
def _trained(shipped: Path) -> None:
    """`reverse` is measured, unless a test says otherwise; its results are known."""
    grammar._pipeline.clear()


def probe(tab: str = "All heads", **query: str) -> AppTest:
    return visit("probe", **({"model": "reverse", "text": "headlight", "probe_tab": tab} | query))


def plain(at: AppTest) -> str:
    """The texts without bold type."""
    return words(at).replace("**", "")


def own_sentences(lines: str, **query: str) -> AppTest:
    """The page with a typed sample."""
    at = probe(**query)
    at.segmented_control(key="probe_origin_reverse").set_value("own").run()
    at.text_area(key="probe_lines_reverse").set_value(lines).run()
    at.button(key="probe_measure_reverse").click()
    return run(at)


# All heads


def test_statistics_are_computed_with_sample_and_baselines_and_can_be_filtered() -> None:
    at = probe()
    said = words(at)
    assert "Measured on 200 of 1,505 test sentences of reverse" in said
    assert "Baselines: uniform attention and 5 untrained models" in said
    assert "5 of 12 heads have a clear role: alignment (predicts) (2), itself (2), next token (1)." in said
    table = tables(at)[0].set_index(["kind", "head"])
    assert len(table) == 8 + 2 + 2
    assert table.loc[("cross", "L1 H1"), "alignment error rate"] <= 0.05
    assert table.loc[("cross", "L1 H1"), "role"] == "alignment (predicts)"
    assert [figure["data"][0]["z"].shape for figure in plotted(at)] == [(2, 4), (1, 2), (1, 2)]
    assert [len(grid["tiles"]) for grid in role_grids(at)] == [8, 2, 2], "a thumbnail for each head"
    captions = " ".join(grid["caption"] for grid in role_grids(at))
    assert "Lp" not in captions
    assert "Ap = alignment (predicts)" in captions
    at.segmented_control(key="probe_kinds").set_value(["decoder"]).run()
    assert tables(at)[0]["kind"].unique().tolist() == ["decoder"]
    at.segmented_control(key="probe_kinds").set_value(["encoder", "cross"]).run()
    at.multiselect(key="probe_roles").set_value(["alignment (predicts)"]).run()
    assert tables(at)[0]["kind"].unique().tolist() == ["cross"]


def test_one_score_against_another() -> None:
    at = probe()
    at.session_state["probe_scatter"] = True
    run(at)
    assert "10 heads: effective keys and previous token have a rank correlation of " in words(at)
    at.selectbox(key="probe_scatter_up").set_value("importance: loss without the head (nats)").run()
    assert not at.exception
    assert "12 heads: effective keys and importance: loss without the head (nats) have a rank corr" in words(at)


def test_words_can_be_aligned_statistically_where_no_alignment_is_known() -> None:
    at = probe()
    assert not [each for each in at.button if each.key == "probe_align"], "the strings of reverse are aligned"
    at.selectbox(key="model").set_value("phrases-en-de").run()
    assert "Alignment is not testable here" in words(at)
    at.button(key="probe_align").click()
    run(at)
    assert "These alignments are statistical, not right" in words(at)
    assert "alignment error rate of 0.23" in words(at)
    assert address(at)["sample"] == "task.200.aligned"
    assert "alignment error rate" in tables(at)[0].columns


# The sample


def test_typed_sentences_are_measured_and_stand_in_the_link_of_their_model() -> None:
    at = own_sentences("abc\tcba\nhello\tolleh")
    link = address(at)["sample"]
    assert link.startswith("own.200.")
    again = probe(sample=link)
    assert "Measured on your own sentences, read with their reference translations" in words(again)
    assert again.text_area(key="probe_lines_reverse").value == "abc\tcba\nhello\tolleh"
    again.selectbox(key="model").set_value("adjective-swap").run()
    assert "sample" not in again.query_params, "the list was given for the other model"
    said = words(own_sentences("abc\tcba\nhello\n\n"))
    assert "Measured on your own sentences, read with the model's own translations" in said
    assert "None of the 12 heads has a clear role" in said, "two sentences carry no role"


@pytest.mark.parametrize("lines", ["a\ta", "aaaaaaaa", "日本語 </script> 👩‍👩‍👧\nשלום", "z" * 100])
def test_any_sentences_can_be_probed(lines: str) -> None:
    at = own_sentences(lines)
    for tab in TABS:
        run(at, probe_tab=tab)


@pytest.mark.parametrize(
    ("link", "sentence"), [("own.200.-", "too long for a link"), ("<b>", "cannot be read"), ("", "")]
)
def test_an_unusable_sample_gets_a_message(link: str, sentence: str) -> None:
    if link:
        at = probe(sample=link)
        assert "Measured on 200 of 1,505 test sentences of reverse" in words(at)
    else:
        at, sentence = own_sentences("  \n "), "The list is empty: enter one sentence per line."
    assert sentence in words(at)


def test_stopped_work_stays_stopped_until_it_is_requested() -> None:
    measurements.store.clear()
    key = ("probe", "reverse", runtime.fingerprint("reverse"), SampleChoice().key)
    at = probe()
    measurements.store.clear()
    at.session_state["probe_stopped"] = {key}
    run(at)
    assert "Measuring the heads: stopped. For 5 minutes it can continue where it stopped." in words(at)
    assert "Nothing has been measured yet." in words(at)
    at.button(key="go-" + "-".join(key)).click()
    assert "Measured on 200" in words(run(at))


# The other tabs


def test_a_card() -> None:
    at = probe("One head")
    at.selectbox(key="card_kind").set_value("cross").run()
    at.selectbox(key="card_head").set_value(2).run()
    said = words(at)
    assert "Cross L1 H2: alignment (predicts)" in said
    for part in ("uniform attention", "untrained", "Coverage", "L1 H1:", "rank ", "second job"):
        assert part in said, part  # L1 H1 is the only one that can look alike; importance comes with a shipped model
    assert "Sorted by: aligned, sinks left out, above that of uniform attention" in said
    maps, covers = plotted(at)[::2], plotted(at)[1::2]
    assert len(maps) == len(covers) == 3, "the best, the median and the worst sentence"
    for weights, cover in zip(maps, covers, strict=True):
        assert np.allclose(cover["data"][0]["y"], weights["data"][0]["z"].sum(axis=0), atol=1e-5)
    columns = {f"{of}{what}" for of in ("", "uniform ", "untrained ") for what in ("standard deviation",)}
    assert columns | {"mean", "uniform", "untrained", "sentences"} <= set(tables(at)[-1].columns)
    assert at.query_params["head"] == "2"
    press(at, "Take its scores apart")
    assert "Over 50 sentences." in words(at)
    assert "as key and" in words(at)


def test_importance() -> None:
    at = probe("Importance")
    assert len(plotted(at)) == 6, "what is stored is shown, and the rest is measured when asked for"
    press(at, "Measure the pruning curve")
    assert len(plotted(at)) == 7
    rows = tables(at)[0]
    assert f"The loss changes most without {rows['kind'][0]} {rows['head'][0]}, by +" in words(at)
    assert rows["loss change (nats)"].is_monotonic_decreasing
    assert "of 12 heads switched off" in words(at)


def test_search() -> None:
    at = probe("Search")
    at.selectbox(key="search_kind").set_value("cross").run()
    at.segmented_control(key="search_rows").set_value("predicted").run()
    at.text_input(key="search_query").set_value("q").run()
    at.text_input(key="search_key").set_value("Q").run()
    assert not at.exception
    hits = tables(at)[0]
    assert hits["weight"].is_monotonic_decreasing
    assert hits["from (query)"].str.endswith(" q").all()
    assert hits["to (key)"].str.endswith(" q").all()
    at.text_input(key="search_key").set_value("</script>").run()
    assert "In no sentence of the sample can this head look from “q” to “</script>”." in words(at)


def test_grammar_without_a_pipeline_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(syntax.PIPELINES, "en", "no_such_pipeline_sm")
    at = probe("Grammar")
    assert "This model reads letters, not words" in words(at)
    at.selectbox(key="model").set_value("adjective-swap").run()
    assert not at.exception
    assert "python -m spacy download no_such_pipeline_sm" in words(at)
    assert {"function", "content"} <= set(tables(at)[0].columns), "closed lists need no pipeline"
    assert "Furthest above uniform attention" in words(at)


def test_grammar_with_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("toy_parser")
    monkeypatch.setattr(grammar, "load_pipeline", lambda lang: nlp)
    at = probe("Grammar", model="adjective-swap", text="I read red books")
    said = words(at)
    assert "Furthest above uniform attention" in said
    assert "relations have such a head" in said
    assert "amod" in set(tables(at)[1]["relation"])
    assert tables(at)[0]["head"][0] == "uniform"
    run(at, probe_tab="Search")
    at.text_input(key="search_key").set_value("ADJ").run()
    assert "A part of speech, such as NOUN, can stand for a word of the source or the target." in words(at)
    assert len(tables(at)[0]) == 50
    at.selectbox(key="search_kind").set_value("decoder").run()
    assert "can this head look from any word to “ADJ”." in words(at), "the toy knows no French adjective"
    at.text_input(key="search_key").set_value("X").run()
    assert len(tables(at)[0]) == 50, "a word that it does not know is tagged X, as is every target word"
    assert not at.exception
    grammar._pipeline.clear()


def test_patching_shows_where_a_letter_is_carried() -> None:
    at = probe("Patching")
    assert "Both sentences are the same for this model" in words(at)
    at.text_input(key="patching_other").set_value("headlight!").run()
    assert "equal length in tokens: this one has 9 tokens" in words(at)
    at.text_input(key="patching_other").set_value("beadlight").run()
    source, target = plotted(at)
    assert source["data"][0]["z"].shape == (3, 10)
    assert target["data"][0]["z"].shape[0] == 2
    next(box for box in at.selectbox if box.label == "The prediction to watch").set_value(8).run()
    assert not at.exception
    assert "The largest effect of a single vector is at 1 “h ← b”" in words(at)
    assert "“b” becomes likeliest" in words(at)


def test_cross_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    at = probe("Cross-checks")
    *maps, shares = plotted(at)
    assert [figure["data"][0]["z"].shape for figure in maps] == [(10, 10)] * 3
    assert len(shares["data"][0]["y"]) == 10
    assert "the largest key is the same in" in words(at)
    assert "of a prediction comes from the source" in words(at)
    for label in ("Put other rows", "Set values to zero", "Divide predictions"):
        press(at, label)
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
    run(at)
    assert "These numbers need the model itself: it is gone." in words(at)
    assert "of a prediction comes from the source" in words(at), "the parts below are drawn all the same"


def test_export_offers_four_files() -> None:
    offered = [each.proto.label for each in probe("Export").get("download_button")]
    assert offered == ["Table (CSV)", "Everything (JSON)", "Role map (SVG)", "Report (HTML)"]


# Surgery


def switch_off(at: AppTest, *heads: tuple[int, int]) -> AppTest:
    """Choose heads of cross-attention (from 0) and press the button."""
    at.pills(key="surgery_heads_cross").set_value(list(heads)).run()
    at.button(key="surgery_do").click()
    return run(at)


@pytest.mark.slow
def test_without_its_aligned_heads_reverse_fails_and_undo_restores_it() -> None:
    at = probe("Surgery")

    def marks() -> list[str]:
        return [tile["mark"] for tile in role_grids(at)[2]["tiles"] if tile["mark"]]

    assert "Translation, unchanged: thgildaeh" in plain(at)
    assert marks() == []
    assert at.button(key="surgery_do").disabled
    at.pills(key="surgery_heads_cross").set_value([(0, 0), (0, 1)]).run()
    assert marks() == ["✓", "✓"]
    assert at.button(key="surgery_do").label == "Change 2 heads"
    switch_off(at, (0, 0), (0, 1))
    assert marks() == ["off", "off"]
    assert at.button(key="surgery_do").disabled, "the next operation starts from no head"
    for sentence in (
        "In force: cross L1 H1, L1 H2 switched off",
        "Before: :orange-background[~~thgildaeh~~]",
        "“thgildaeh” became “",
        "The translation changes.",
        "exact match from 100.0 % to ",
    ):
        assert sentence in plain(at)
    assert at.query_params["edit"] == "cross.1.1.zero~cross.1.2.zero"
    steps, log = tables(at)
    assert steps["predicts"].tolist() == [*"thgildaeh", "<eos>"]
    assert (steps["KL (nats)"] > 0).all()
    assert log["before"].tolist() == ["thgildaeh"]
    assert log["after"][0] != "thgildaeh"
    assert log["exact match change (points)"][0] < -80
    at.button(key="surgery_undo").click()
    assert "Translation, unchanged: thgildaeh" in plain(run(at))
    assert "edit" not in at.query_params
    assert len(tables(at)[-1]) == 1, "the log keeps what was tried"
    for operation in ("uniform", "mean"):
        at.segmented_control(key="surgery_op").set_value(operation).run()
        assert "The translation changes." in words(switch_off(at, (0, 0), (0, 1)))
        at.button(key="surgery_undo").click()
        run(at)
    switch_off(at, (0, 0))
    at.selectbox(key="model").set_value("adjective-swap").run()
    assert "edit" not in at.query_params, "another model begins without changes"
    assert "Translation, unchanged" in words(at)


def test_a_link_restores_the_edits_and_the_sample_of_a_mean() -> None:
    at = probe("Surgery", edit="cross.1.1.zero~cross.1.2.uniform~cross.9.9.zero")
    assert "In force: cross L1 H1 switched off; cross L1 H2 made uniform" in plain(at)
    assert "The translation changes." in words(at)
    assert "this model has 1 layer of 2 cross heads" in words(at)
    at = probe("Surgery", sample="task.60", edit="cross.1.1.mean")
    assert "Measured on 60 of 1,505 test sentences of reverse" in words(at)
    assert "In force: cross L1 H1 replaced by its mean" in plain(at)
    assert address(at)["sample"] == "task.60"


def test_a_row_edited_by_hand() -> None:
    at = probe("Surgery")
    at.session_state["surgery_row_fold"] = True
    run(at)
    at.selectbox(key="surgery_row_kind").set_value("cross").run()
    next(box for box in at.selectbox if box.label == "Row (query)").set_value(0).run()
    next(box for box in at.selectbox if box.label == "or look at one key only").select_index(0).run()
    at.button(key="surgery_row_do").click()
    run(at)
    assert at.query_params["edit"] == "cross.1.1.row.1." + "-".join(["1000"] + ["0"] * 9)
    assert "Rows edited by hand and parts of other sentences apply to one sentence only" in words(at)
    assert table_with(at, "KL (nats)")["KL (nats)"][0] > 0


def test_a_pattern_needs_equal_lengths_and_says_so() -> None:
    at = probe("Surgery")
    at.session_state["surgery_patch_fold"] = True
    run(at)
    at.selectbox(key="surgery_patch_kind").set_value("encoder").run()
    for other, sentence in (
        ("abc", "“abc” has 4 source tokens with <eos>, this sentence has 10"),
        ("attention", "given the pattern of another sentence (attention)"),
    ):
        at.text_input(key="surgery_other").set_value(other).run()
        at.button(key="surgery_patch_do").click()
        assert sentence in words(run(at))
    assert "Over its 10 steps" in words(at)


# Other models


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adjective-swap", "adjective-swap-unmasked", "dates", "phrases-en-de"])
def test_every_bundled_model_can_be_probed(name: str) -> None:
    at = probe(model=name)
    for tab in TABS:
        run(at, probe_tab=tab)


def test_models_without_training_data_or_heads_say_so(checkpoints: Path) -> None:
    save_toy(checkpoints / "mine", "reverse")
    at = probe(model="mine", sample="task.40")
    assert "This model is untrained itself." in words(at)
    assert "None of the 18 heads has a clear role." in words(at)

    config = json.loads((checkpoints / "mine" / "config.json").read_text())
    config["data"]["task"] = "gone"
    (checkpoints / "mine" / "config.json").write_text(json.dumps(config))
    runtime.models_changed()
    at = probe(model="mine")
    assert "enter sentences of your own" in words(at)
    assert "Stop" not in {each.label for each in at.button}, "there is nothing to stop"
    assert "Translation, unchanged" in words(run(at, probe_tab="Surgery")), "surgery needs no sample"
    at.segmented_control(key="surgery_op").set_value("mean").run()
    assert "there is none yet: measure first" in words(switch_off(at, (0, 0)))

    save_toy(checkpoints / "lstm", "reverse", architecture="lstm", n_encoder_heads=1, n_decoder_heads=1)
    runtime.models_changed()
    refusal = "This page needs a Transformer; lstm is an LSTM. Choose another model."
    assert refusal in words(probe(model="lstm"))
