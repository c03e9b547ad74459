"""The sentences that heads are measured on."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.probing.sample import (
    SampleChoice,
    SampleError,
    examples_for,
    gather,
    lines_of,
)
from model.checkpoint import LoadedModel, load_model
from tests.explorer.probed import quiet
from tests.paths import ROOT


def test_lines() -> None:
    assert lines_of(" a \r\n\n b\tc\n") == ("a", "b\tc")
    for empty in ("", " \n "):
        with pytest.raises(SampleError):
            lines_of(empty)
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
