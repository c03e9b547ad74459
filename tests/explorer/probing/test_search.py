"""Search in the sample."""

import dataclasses

import pytest

from explorer.probing.search import best_hit_sentence, hit_rows, no_hit_sentence, search, tag_hint
from tests.explorer.probed import HEADS, mixed, observed


def test_search_finds_the_largest_weight_of_each_sentence() -> None:
    sample = [observed(5, 4, cross=(mixed(lambda q: 2, share),)) for share in (0.2, 0.9, 0.5)]
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


def test_positions_and_sentences_count_the_same_words() -> None:
    item = observed(5, 4, cross=(HEADS["uniform"],))
    trace = dataclasses.replace(item.trace, src_words=(0, 0, 1, 1, -1), tgt_words=(-1, 0, 0, 1))
    sample = [dataclasses.replace(item, trace=trace)]
    hits = search(sample, "cross", 0, 0, "", "")
    (row,) = hit_rows(hits)
    assert (row["source"], row["target"]) == ("s0s1 s2s3", "t0t1 t2")
    position, word = hits[0].key.split()
    assert [*row["source"].split(), "<eos>"][int(position) - 1] == word
    assert "in “s0s1 s2s3”" in best_hit_sentence(hits, len(sample), ("cross", 0, 0))
    (row,) = hit_rows(search([item], "cross", 0, 0, "t1", "s2", whole_words=False))
    assert list(row.values()) == [0.2, "3 t1", "3 s2", "s0 s1 s2 s3", "t0 t1 t2"]
    assert no_hit_sentence(" q ", "") == "In no sentence of the sample can this head look from “q” to any word."
    assert tag_hint([]) == ""
    assert tag_hint([(("", ""), ("NOUN", ""))]).endswith("can stand for a word of the target.")
