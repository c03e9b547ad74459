"""The Probe page in Streamlit's test harness: what is measured, beside which baselines, and heads that are changed."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import spacy
from streamlit.testing.v1 import AppTest

from explorer.locale.text import listed, quoted
from explorer.probing import measured, syntax
from explorer.probing.patching import FLOOR
from explorer.probing.tables import FIRST, TEST
from explorer.screens.probe import sample_choice
from explorer.screens.probe import words as grammar
from explorer.screens.probe.page import MOVED
from explorer.web import long_work, measurements, runtime
from model.analysis.recorded_batches import observe
from tests.explorer import toy_grammar  # noqa: F401 - spaCy knows its component by name
from tests.explorer.sent import messages
from tests.explorer.toy_models import save_toy
from tests.pages.page import (
    address,
    assert_says,
    choose,
    click,
    has_key,
    maps,
    plotted,
    press,
    role_grids,
    run,
    tables,
    visit,
    widget,
    words,
)


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
    return words(at).replace("**", "")


def own_sentences(lines: str, **query: str) -> AppTest:
    at = probe(**query)
    choose(at, probe_origin_reverse="own", probe_lines_reverse=lines)
    return click(at, "probe_measure_reverse")


def test_statistics_are_computed_with_sample_and_baselines_and_can_be_filtered() -> None:
    at = probe()
    assert_says(
        at,
        "The untrained ones are 5 models of the same shape",
        "5 of 12 heads have a clear role.",
    )
    table = tables(at)[0].set_index("head")
    assert len(table) == 8 + 2 + 2
    assert list(table.columns) == ["role", *TEST[1:]], "the head, its role and the test of it, which fit the screen"
    assert set(table["role"].str.startswith("none; nearest: ")) == {True, False}
    every = tables(choose(probe(), probe_every=True))[0].set_index("head")
    assert len(every.columns) > 20
    error_rate, *interval = map(float, re.findall(r"[\d.]+", every.loc["cross L1 H1", "alignment error rate"]))
    assert interval[0] <= error_rate <= interval[1] <= 0.05
    assert table.loc["cross L1 H1", "role"] == "alignment (predicts)"
    assert widget(at, "probe_map").value == "itself_without_sinks", "the score by which the commonest role is judged"
    assert [figure["data"][0]["z"].shape for figure in plotted(at)] == [(2, 4), (1, 2)]
    assert [len(grid["tiles"]) for grid in role_grids(at)] == [8, 2, 2], "a thumbnail for each head"
    counts = {role["name"]: role["heads"] for header, _ in messages(at) for role in header.get("roles", ())}
    assert counts == {"alignment (predicts)": 2, "itself": 2, "next token": 1}
    assert words(at).count("alignment (predicts)  ") == 2, "a card for each of its heads, on a phone"
    choose(at, probe_kinds=["decoder"])
    assert {name.split()[0] for name in tables(at)[0]["head"]} == {"decoder"}
    choose(at, probe_kinds=["encoder", "cross"], probe_roles=["alignment (predicts)"])
    assert {name.split()[0] for name in tables(at)[0]["head"]} == {"cross"}


def test_the_note_says_who_wrote_the_alignments() -> None:
    assert "A language model wrote these sentences" in words(probe(model="multi30k-en-de", text="A dog."))
    assert "A language model wrote" not in words(probe())


def test_typed_sentences_are_measured_and_stand_in_the_link_of_their_model() -> None:
    at = own_sentences("abc\tcba\nhello\tolleh")
    link = address(at)["sample"]
    assert link.startswith("own.200.")
    again = probe(sample=link)
    assert "Measured on your own sentences, read with their reference translations" in words(again)
    assert again.text_area(key="probe_lines_reverse").value == "abc\tcba\nhello\tolleh"
    choose(again, model="adjective-swap")
    assert "sample" not in again.query_params, "the list was given for the other model"


def test_a_large_model_is_shown_in_parts_and_a_stop_keeps_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "LARGE", 1000)
    go_on, whole = threading.Event(), sample_choice.Subject.measured
    rest = iter([False, True])

    def waiting(*given: object) -> Iterator[object]:
        if next(rest):
            go_on.wait()
        return observe(*given)

    def stopped(subject: sample_choice.Subject, shown: int = 0) -> measured.Measured | None:
        if shown and not go_on.is_set():
            long_work._stop(subject.key("probe"))
        return whole(subject, shown)

    monkeypatch.setattr(measured, "observe", waiting)
    monkeypatch.setattr(sample_choice.Subject, "measured", stopped)
    at = probe(sample="task.60")
    assert_says(at, "Measured on 60 of 1,505", "Of these, 30 have been measured so far.", "stopped. For 5 minutes")
    assert len(tables(at)[0]) == 12
    go_on.set()
    click(at, next(each.key for each in at.button if each.label == "Go on"))
    assert "Measured on 60 of 1,505" in words(at)
    assert "so far" not in words(at)


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


def test_a_card() -> None:
    at = probe("One head")
    choose(at, card_kind="cross", card_head=2)
    # Importance comes with a shipped model.
    assert_says(at, "Cross L1 H2: alignment (predicts)", "rank ", "Framed: the cells whose weight counts, ")
    assert_says(at, "outside the sinks (the first token and <eos>): 0.87.", "Cells at sinks do not count")
    weights = maps(at)
    assert len(weights) == 3, "the best, the median and the worst sentence"
    labels = [each.label for each in at.expander]
    assert ("Below 0: less than uniform" in words(at)) is any("; −" in label for label in labels)
    assert at.query_params["head"] == "2"
    choose(at, probe_words=True)
    assert "Framed: " not in words(at), "of words, no tokens are framed"
    assert_says(at, "Words only: <eos>, other specials and punctuation are left out, on average ", "is scaled to 1.")
    without = maps(at)[0]
    assert without.shape[1] == weights[0].shape[1] - 1, "the letters have no punctuation"
    assert np.allclose(without.sum(axis=1), 1, atol=1e-5)
    choose(at, probe_head_part="Scores")
    scores = tables(at)[-1].set_index("statistic")
    assert {"mean", "above uniform", "above untrained", "sentences"} == set(scores.columns)
    assert re.fullmatch(r"0\.\d\d \(0\.\d\d to 0\.\d\d\)", scores.loc["alignment error rate", "mean"])
    assert scores.index[0] == "aligned, sinks left out", "the score by which it is judged"
    assert len(tables(choose(at, card_every=True))[-1]) > len(scores) <= len(FIRST)


def test_a_note_stays_with_its_head_and_goes_into_the_report() -> None:
    at = probe("One head")
    choose(at, card_kind="cross", probe_note_reverse_cross_0_0="reads the source <backwards>")
    choose(at, card_head=2)
    assert not widget(at, "probe_note_reverse_cross_0_1").value
    run(at, probe_tab="Take away")
    offered = [each.proto.label for each in at.get("download_button")]
    assert (offered[3], offered[-1]) == ("The importance of each head (CSV)", "Notes (CSV)")
    assert_says(at, "1 row. Written by the person who made this report.")
    assert at.session_state["probe_notes"] == {"reverse": {("cross", 0, 0): "reads the source <backwards>"}}


@pytest.mark.parametrize("former", MOVED)
def test_a_link_to_a_former_tab_leads_to_its_new_home(former: str) -> None:
    at = probe(former)
    for name, value in MOVED[former].items():
        assert address(at).get(name, "Importance") == value, "the first part is not named"
        assert not has_key(at, name) or widget(at, name).value == value


def test_importance() -> None:
    at = probe("Importance")
    assert len(plotted(at)) == 3, "what is stored is shown, and the rest is measured when asked for"
    press(at, "Measure the pruning curve")
    assert len(plotted(at)) == 4
    rows = tables(at)[0]
    assert f"the loss is highest without {rows['head'][0]}, by " in words(at)
    assert len(rows) == 12
    assert rows["loss, mean instead (nats)"].str.contains("to").all()
    assert "of 12 heads switched off" in words(at)


def test_search() -> None:
    at = probe("Search")
    choose(at, card_kind="cross")
    choose(at, search_rows="predicted", search_query="q", search_key="Q")
    hits = tables(at)[1]
    assert hits["weight"].is_monotonic_decreasing
    assert hits["from (query)"].str.endswith(" q").all()
    assert hits["to (key)"].str.endswith(" q").all()
    choose(at, search_key="</script>")
    assert "In no sentence of the sample can this head look from “q” to “</script>”." in words(at)


def test_grammar_without_a_pipeline_names_the_one_that_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(syntax.PIPELINES, "en", "no_such_pipeline_sm")
    at = probe("Grammar")
    assert "This model reads letters, not words" in words(at)
    choose(at, model="adjective-swap")
    assert "pipeline no_such_pipeline_sm" in words(at)
    assert {"function", "content"} <= set(tables(at)[1]["kind of word"]), "closed lists need no pipeline"
    assert "Most clearly above uniform attention" in words(at)


def test_grammar_with_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("toy_parser")
    monkeypatch.setattr(grammar, "load_pipeline", lambda lang: nlp)
    at = probe("Grammar", model="adjective-swap", text="I read red books")
    assert_says(at, "Most clearly above uniform attention")
    assert "ADJ" in set(tables(at)[1]["kind of word"])
    assert len(tables(at)[2]) > 2
    choose(at, card_kind="encoder")
    assert "amod" in set(tables(at)[3]["relation"])
    assert_says(at, "relations have such a head")
    grammar._pipeline.clear()


def test_patching_opens_on_a_pair_that_changes_the_answer_and_watches_the_row_that_changes_most() -> None:
    at = probe("Patching")
    other = widget(at, "patching_other").value
    assert sum(a != b for a, b in zip(other, "headlight", strict=True)) == 1
    source, target, *heads = plotted(at)
    assert [figure["data"][0]["z"].shape for figure in heads] == [(2, 4), (1, 2), (1, 2)]
    for figure in (source, target):
        assert figure["data"][0]["zmax"] == -figure["data"][0]["zmin"] >= FLOOR, "noise does not fill the scale"
    assert np.abs(source["data"][0]["z"]).max() > 1
    assert "becomes likeliest" in words(at)
    choose(at, patching_other="headlight")
    assert "Both sentences are the same for this model" in words(at)
    choose(at, patching_other="headlight!")
    assert "equal length in tokens: this one has 9 tokens" in words(at)
    choose(at, patching_other="beadlight")
    source, target = plotted(at)[:2]
    assert source["data"][0]["z"].shape == (3, 10)
    assert target["data"][0]["z"].shape == (2, 9), "the last letter but <eos> is watched"
    assert_says(
        at, "the largest effect of a single vector is at 1 “h ← b”", "“b” becomes likeliest", "Of single heads,"
    )
    choose(at, text="attention")
    other = widget(at, "patching_other").value
    assert other == "beadlight", "what was typed stays"
    choose(at, patching_other="")
    assert len(widget(at, "patching_other").value) == len("attention"), "an empty field gets a proposal again"
    press(at, "Average over 50 sentences")
    assert_says(at, "50 pairs of sentences that differ in one token and get another answer")
    means = next(table for table in tables(at) if "baseline" in table.columns)
    assert (means["low"] <= means["effect"]).all()
    effect = means.set_index(["part", "at", "place"])["effect"]
    assert effect["encoder vectors", "embedding", "the changed token"] == pytest.approx(1)
    assert effect["encoder vectors", "embedding", "<eos>"] == pytest.approx(0, abs=0.01)


def test_cross_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    at = probe("Cross-checks")
    assert [map_.shape for map_ in maps(at)] == [(10, 10)] * 3
    assert_says(at, "the largest key is the same in")
    for label in ("Put other rows", "Set values to zero"):
        press(at, label)
    kept, agreeing = tables(at)[-2:]
    (row,) = kept.to_dict("records")
    assert int(row["stay likeliest: uniform"].split(" ")[0]) < 50, "this model copies what it looks at"
    assert_says(at, "this share stays the likeliest", "says how many of them it uses", "intervals over 50 sentences")
    assert "how many of them it uses" not in words(probe()), "All heads uses every sentence"
    assert agreeing["kind"].tolist() == ["encoder", "encoder", "decoder", "cross"]

    def gone(*_: object) -> None:
        raise runtime.NotTheModels("These numbers need the model itself: it is gone.")

    monkeypatch.setattr(runtime, "norms", gone)  # a model that vanishes between two clicks
    run(at)
    assert_says(at, "These numbers need the model itself: it is gone.", "Over the sample")


def test_a_count_over_some_sentences_can_be_made_over_all() -> None:
    many = "Count over all 60 sentences"
    at = probe("Cross-checks", sample="task.60")
    assert many not in {each.label for each in at.button}
    press(at, "Put other rows in place in 50 sentences")
    assert_says(at, "intervals over 50 sentences")
    press(at, many)
    assert_says(at, "intervals over 60 sentences")
    assert "over 50 sentences" not in words(at)
    assert many not in {each.label for each in at.button}
    (before,) = tables(at)[-1].to_dict("records")
    choose(at, checks_seed=1)
    assert_says(at, "intervals over 50 sentences")
    (after,) = tables(press(at, many))[-1].to_dict("records")
    differ = {name for name in before if before[name] != after[name]}
    assert differ == {"stay likeliest: shuffled"}, "the seed is that of the orders alone"


def test_take_away_offers_three_files_with_what_is_in_them_and_what_else_was_measured() -> None:
    at = probe("Export")
    offered = [each.proto.label for each in at.get("download_button")]
    assert offered[:4] == ["Table (CSV)", "Numbers (JSON)", "Report (HTML)", "The importance of each head (CSV)"]
    tables_of = listed(quoted(label.removesuffix(" (CSV)")) for label in offered[3:])
    assert f"So far: {tables_of}." in words(at)
    (first,) = tables(at)
    rows, columns = re.findall(r"([\d,]+) rows of (\d+) columns", words(at))[0]
    assert len(first.columns) == int(columns)
    assert list(first["statistic"])[:2] == ["effective keys", "normalised entropy"]
    assert int(rows.replace(",", "")) > 100
    assert 'pd.read_csv("reverse-heads.csv")' in at.code[0].value
    assert_says(at, "12 rows. Over 100 of the 200 sentences")


def switch_off(at: AppTest, *heads: tuple[int, int]) -> AppTest:
    choose(at, surgery_heads_cross=list(heads))
    at.button(key="surgery_do").click()
    return run(at)


@pytest.mark.slow
def test_without_its_aligned_heads_reverse_fails_and_the_next_change_begins_anew() -> None:
    at = probe("Surgery")

    def marks() -> list[str]:
        return [tile["mark"] for tile in role_grids(at)[2]["tiles"] if tile["mark"]]

    choose(at, surgery_heads_cross=[(0, 0), (0, 1)])
    assert marks() == ["✓", "✓"]
    click(at, "surgery_do")
    assert marks() == ["off", "off"]
    assert at.button(key="surgery_do").disabled, "the next operation starts from no head"
    assert "exact match from 100.0 % to " in plain(at)
    (steps,) = tables(at)
    assert steps["predicts"].tolist() == [*"thgildaeh", "<eos>"]
    assert (steps["KL (nats)"] > 0).all()
    said = re.sub(r":\w+-background\[|~~|\]", "", plain(at))
    ((before, after),) = re.findall(r"Before: (.*?)\s+After \(edited\): (.*?) :orange", said)
    assert before == "thgildaeh" != after
    assert_says(
        at, "All changes hold on Translate, Attention and Inside, too, until they are cleared; all else that Probe"
    )
    press(at, "Compare with as many random heads")
    assert_says(at, "The change of the loss with as many random", "less every time")
    click(at, "surgery_undo")
    for operation in ("uniform", "mean"):
        choose(at, surgery_op=operation)
        assert "The translation changes." in words(switch_off(at, (0, 0), (0, 1)))
        click(at, "surgery_undo")
    switch_off(at, (0, 0))
    choose(at, model="adjective-swap")
    assert "edit" not in at.query_params, "another model begins without changes"
    assert "Translation, unchanged" in words(at)


def test_a_link_restores_the_edits_and_the_sample_of_a_mean() -> None:
    at = probe("Surgery", edit="cross.1.1.zero~cross.1.2.uniform~cross.9.9.zero")
    assert "In force: cross L1 H1 switched off; cross L1 H2 made uniform" in plain(at)
    assert_says(at, "The translation changes.", "this model has 1 layer of 2 cross heads")
    at = probe("Surgery", sample="task.60", edit="cross.1.1.mean")
    assert "Measured on 60 of 1,505 test sentences of reverse" in words(at)
    assert "In force: cross L1 H1 replaced by its mean" in plain(at)
    assert address(at)["sample"] == "task.60"


def test_a_row_edited_elsewhere_is_in_force_and_left_out_of_the_sample() -> None:
    at = probe("Surgery", edit="cross.1.1.row.1." + "-".join(["1000"] + ["0"] * 9))
    assert "Rows edited by hand and parts of other sentences apply to one sentence only" in words(at)
    assert tables(at)[-1]["KL (nats)"][0] > 0


def test_a_model_without_training_data_says_so(checkpoints: Path) -> None:
    save_toy(checkpoints / "mine", "reverse")
    at = probe(model="mine", sample="task.40")
    assert_says(at, "This model is untrained itself.", "None of the 18 heads has a clear role.")

    config = json.loads((checkpoints / "mine" / "config.json").read_text())
    config["data"]["task"] = "gone"
    (checkpoints / "mine" / "config.json").write_text(json.dumps(config))
    runtime.models_changed()
    at = probe(model="mine")
    assert "enter sentences of your own" in words(at)
    assert "Stop" not in {each.label for each in at.button}, "there is nothing to stop"
    assert "Translation, unchanged" in words(run(at, probe_tab="Surgery")), "surgery needs no sample"
    choose(at, surgery_op="mean")
    assert "there is none yet: measure first" in words(switch_off(at, (0, 0)))
