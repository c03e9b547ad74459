"""What surrounds the statistics: the sample, the store, search, cards, tables and files."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from explorer.probing.head_card import (
    best_examples,
    coverage_caption,
    example_statistic,
    similar_heads,
    strongest_rows,
)
from explorer.probing.report import as_csv, as_json, as_report
from explorer.probing.roles import role_of
from explorer.probing.sample import (
    Measured,
    SampleChoice,
    SampleError,
    examples_for,
    gather,
    lines_of,
    lines_of_file,
    measure,
)
from explorer.probing.search import best_hit_sentence, hit_rows, no_hit_sentence, search, tag_hint
from explorer.probing.tables import colour_range, head_rows, kinds_with, number_rows, summary
from model.checkpoint import LoadedModel, load_model
from tests.explorer.probed import HEADS, observed, one_hot
from tests.paths import ROOT


def quiet(done: float, words: str) -> None:
    assert 0 <= done <= 1
    assert words


@pytest.fixture(scope="module")
def reverse() -> LoadedModel:
    return load_model(ROOT / "checkpoints" / "reverse")


@pytest.fixture(scope="module")
def found(reverse: LoadedModel) -> Measured:
    return measure(SampleChoice(size=60), reverse, quiet)


# The sample.


def test_lines() -> None:
    assert lines_of(" a \r\n\n b\tc\n") == ("a", "b\tc")
    assert lines_of_file(b"\xef\xbb\xbfa\nb") == ("a", "b")
    for bad in (b"\xff\xfe\x00", b"a\x00b", b"", b" \n "):
        with pytest.raises(SampleError):
            lines_of_file(bad)
    with pytest.raises(SampleError, match="at most"):
        lines_of("a" * 500_000)


def test_the_task_gives_its_test_sentences_evenly_spread(reverse: LoadedModel) -> None:
    examples, about, task = examples_for(SampleChoice(size=100), reverse)
    assert len(examples) == 100
    assert {len(example.source) for example in examples} == set(range(1, 17))
    assert about == "100 of 1,505 test sentences of reverse, evenly spread"
    assert task is not None
    assert task.name == "reverse"


def test_own_sentences_with_and_without_translations(reverse: LoadedModel) -> None:
    written, about, _ = gather(SampleChoice("own", ("abc\tcba", "de\ted")), reverse, quiet)
    assert written.references == ("cba", "ed")
    assert about.endswith("read with their reference translations")
    mixed, about, _ = gather(SampleChoice("own", ("abc\tcba", "de")), reverse, quiet)
    assert mixed.references == ("cba", None)
    assert about.endswith("read with the model's own translations")
    assert [reverse.target.decode(ids) for ids in mixed.targets] == ["cba", "ed"]


def test_own_sentences_with_aligned_words_are_those_of_the_task() -> None:
    """The gold alignments of a task, written as pairs of words after a second tab, are measured as the task's own."""
    loaded = load_model(ROOT / "checkpoints" / "adjective-swap")
    examples, _, _ = examples_for(SampleChoice(size=40), loaded)
    known = [
        example
        for example in examples
        if example.alignment is not None
        and len(example.source.split()) == len(loaded.source.encode(example.source))
        and len(example.target.split()) == len(loaded.target.encode(example.target))
    ][:8]
    assert len(known) == 8
    lines = [
        f"{example.source}\t{example.target}\t"
        + " ".join(f"{i}-{t}" for t, keys in enumerate(example.alignment or ()) for i in keys)
        for example in known
    ]
    sample, _, _ = gather(SampleChoice("own", tuple(lines)), loaded, quiet)
    assert sample.alignments == tuple(example.alignment for example in known)
    assert sample.references == tuple(example.target for example in known)
    ragged, _, _ = gather(SampleChoice("own", ("I read\tje lis\tnot pairs",)), loaded, quiet)
    assert ragged.alignments == (None,)
    assert ragged.references == ("je lis\tnot pairs",)


def test_alignments_apply_where_the_model_says_what_was_written(reverse: LoadedModel) -> None:
    sample, _, _ = gather(SampleChoice(size=20, translated=True), reverse, quiet)
    assert all(
        alignment == tuple((i,) for i in reversed(range(len(ids))))
        for alignment, ids in zip(sample.alignments, sample.targets, strict=True)
    )


def test_a_sample_without_readable_sentences_gets_a_message(reverse: LoadedModel) -> None:
    with pytest.raises(SampleError, match="too long"):
        gather(SampleChoice("own", ("a" * 300,)), reverse, quiet)


def test_a_missing_corpus_gets_a_message(reverse: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    data = dataclasses.replace(reverse.data_config, task="multi30k-en-de", src_lang="en", tgt_lang="de")
    other = dataclasses.replace(reverse, data_config=data)
    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SampleError, match="not on this machine"):
        examples_for(SampleChoice(), other)
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    with pytest.raises(SampleError, match="cannot be read"):
        examples_for(SampleChoice(), other)


def test_equal_choices_have_equal_keys() -> None:
    assert SampleChoice().key == SampleChoice().key
    others = [SampleChoice(size=5), SampleChoice("own", ("a",)), SampleChoice(translated=True)]
    assert len({SampleChoice().key, *(choice.key for choice in others)}) == 4


# Cards.


def test_the_sentences_where_a_head_is_best_examples(found: Measured) -> None:
    scores = found.probe.kinds["cross"]
    role = role_of(scores, 0, 0)
    statistic = example_statistic(role, scores)
    assert statistic == "aligned_without_sinks"
    best = best_examples(scores, statistic, 0, 0)
    values = scores.sentence_scores[statistic][:, 0, 0]
    gains = values - scores.sentence_chance[statistic]
    known = sorted((value for value in gains.tolist() if np.isfinite(value)), reverse=True)
    assert [gains[item.index] for item in best] == known[:3]
    assert all(len(found.observed[item.index].src_ids) > 5 for item in best), "a short sentence would show nothing"
    assert all(values[item.index] == item.score for item in best)
    plain = found.probe.kinds["encoder"]
    assert example_statistic(role_of(plain, 0, 0), plain) == "confidence"


def test_words_about_a_pattern() -> None:
    item = observed(n_src=4, n_tgt=3, cross=(lambda q, n: one_hot(q, n),))
    w = item.trace.cross[0, 0]
    assert strongest_rows(w, item.trace.read_tokens, item.trace.src_tokens, item.trace.predicted_tokens) == (
        "1 “<sos>” (predicts “t0”) looks at 1 “s0” (100 %); 2 “t0” (predicts “t1”) looks at 2 “s1” (100 %); "
        "3 “t1” (predicts “<eos>”) looks at 3 “s2” (100 %)."
    )
    assert coverage_caption(w, item.trace.src_tokens).endswith(
        "would be 0.75): most 1 “s0” (1.00), least 1 “s0” (1.00), “<eos>” 0.00."
    )


def test_similar_heads_are_those_of_the_smallest_divergence(found: Measured) -> None:
    scores = found.probe.kinds["encoder"]
    lines = similar_heads(scores, 1, 2)
    divergences = scores.similarity[4 + 2].copy()
    divergences[4 + 2] = np.inf
    nearest = divmod(int(divergences.argmin()), 4)
    assert len(lines) == 3
    assert lines[0].startswith(f"L{nearest[0] + 1} H{nearest[1] + 1}: {divergences.min():.2f} bits apart, ")


# Search.


def test_search_finds_the_largest_weight_of_each_sentence() -> None:
    def head(strength: float):  # type: ignore[no-untyped-def]
        def row(q: int, n: int) -> np.ndarray:
            return strength * one_hot(2, n) + (1 - strength) * np.full(n, 1 / n)

        return row

    sample = [observed(5, 4, cross=(head(s),)) for s in (0.2, 0.9, 0.5)]
    hits = search(sample, "cross", 0, 0, "T1", "s2")
    assert [hit.sentence for hit in hits] == [1, 2, 0]
    assert {(hit.query, hit.key) for hit in hits} == {("3 t1", "3 s2")}
    assert hits[0].weight == pytest.approx(0.9 + 0.1 / 5)
    predicted = search(sample, "cross", 0, 0, "t1", "s2", rows="predicted")
    assert predicted[0].query == "2 t1"
    assert search(sample, "cross", 0, 0, "nothing", "") == []
    assert len(search(sample, "cross", 0, 0, "", "", limit=2)) == 2


def test_search_never_finds_what_is_masked() -> None:
    sample = [observed(5, 4, decoder=(HEADS["uniform"],))]
    assert search(sample, "decoder", 0, 0, "t0", "t1") == []
    assert search(sample, "decoder", 0, 0, "t1", "t0")[0].weight == pytest.approx(1 / 3)


def test_search_by_tags() -> None:
    sample = [observed(4, 3, encoder=(HEADS["next"],))]
    tags = [(("DET", "ADJ", "NOUN", ""), ("", "", ""))]
    hits = search(sample, "encoder", 0, 0, "ADJ", "NOUN", tags=tags)
    assert [(hit.query, hit.key, hit.weight) for hit in hits] == [("2 s1", "3 s2", 1.0)]
    assert search(sample, "encoder", 0, 0, "VERB", "NOUN", tags=tags) == []


def test_sentences_about_search_hits() -> None:
    sample = [observed(5, 4, cross=(HEADS["uniform"],))]
    hits = search(sample, "cross", 0, 0, "t1", "s2")
    assert hit_rows(hits, sample) == [
        {"weight": 0.2, "from (query)": "3 t1", "to (key)": "3 s2", "source": "s0 s1 s2 s3", "target": "t0 t1 t2"}
    ]
    said = best_hit_sentence(hits, sample, ("cross", 0, 0))
    assert said == (
        "Cross L1 H1 looks most strongly from “3 t1” to “3 s2” (20 %) in “s0 s1 s2 s3”. 1 of 1 sentence shown."
    )
    assert no_hit_sentence(" q ", "") == "In no sentence of the sample can this head look from “q” to any word."
    assert tag_hint([]) == ""
    assert tag_hint([(("", ""), ("NOUN", ""))]).endswith("can stand for a word of the target.")


# Tables and files.


def test_tables_agree_with_the_scores(found: Measured) -> None:
    rows = head_rows(found.probe)
    assert len(rows) == 12
    cross = next(row for row in rows if (row["kind"], row["head"]) == ("cross", "L1 H2"))
    scores = found.probe.kinds["cross"].scores
    assert cross["alignment accuracy"] == round(float(scores["accuracy"].mean[0, 1]), 3)
    assert "next token" in rows[0]
    assert [row["kind"] for row in head_rows(found.probe, ["decoder"])] == ["decoder"] * 2
    assert "next token" not in head_rows(found.probe, ["decoder"])[0], "a column without any value is left out"
    assert summary(found.probe).startswith("2 of 12 heads have a clear role")


def test_maps_of_one_statistic_share_a_colour_scale(found: Measured) -> None:
    assert colour_range(found.probe, "previous") == (0.0, 1.0)
    largest = max(kind.scores["effective_keys"].mean.max() for kind in found.probe.kinds.values())
    assert colour_range(found.probe, "effective_keys") == (0.0, largest)
    assert kinds_with(found.probe, "aligned") == ["cross"]
    assert kinds_with(found.probe, "next") == ["encoder"]


def test_csv_is_read_back(found: Measured) -> None:
    rows = number_rows(found.probe)
    again = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert len(again) == len(rows)
    for row, text in zip(rows, again, strict=True):
        assert text["statistic"] == row["statistic"]
        assert (float(text["mean"]) if text["mean"] else None) == row["mean"]
    assert as_csv([]) == ""
    assert "'=1+1" in as_csv([{"kind": "=1+1"}])


def test_json_is_read_back(found: Measured) -> None:
    again = json.loads(as_json(found.probe, "reverse", found.about))
    assert again["model"] == "reverse"
    assert again["numbers"] == number_rows(found.probe)
    assert len(again["heads"]) == 12
    assert again["heads"][-1]["role"] == "alignment (predicts)"


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_report_is_one_page_that_loads_nothing(found: Measured) -> None:
    evil = "<script>alert(1)</script>"
    page = as_report(found.probe, evil, f"{evil} & more", [{"kind": "cross", "head": "L1 H1", "loss": 0.5}])
    reader = Reader()
    reader.feed(page)
    assert "script" not in reader.tags
    assert not reader.links
    text = " ".join(reader.text)
    assert f"The heads of {evil}" in text
    assert "alignment (predicts)" in text
    assert "The importance of each head" in text
    assert reader.tags.count("table") == 3 + 3 + 1
