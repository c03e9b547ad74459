"""The sentences that heads are measured on, their form in the address, and search in them."""

import base64
import dataclasses
import random
import zlib
from pathlib import Path

import pytest

from explorer.probing.sample import (
    MAX_LINK,
    SampleChoice,
    SampleError,
    examples_for,
    from_link,
    gather,
    lines_of,
    to_link,
)
from explorer.probing.search import search
from model.checkpoint import LoadedModel
from tests.explorer.probed import HEADS, observed, quiet


def test_lines(reverse: LoadedModel) -> None:
    assert lines_of(" a \r\n\n b\tc\n") == ("a", "b\tc")
    for text, said in (("", "is empty"), (" \n ", "is empty"), ("a" * 500_000, "at most")):
        with pytest.raises(SampleError, match=said):
            lines_of(text)
    with pytest.raises(SampleError, match="too long"):
        gather(SampleChoice("own", ("a" * 300,)), reverse, quiet)


def test_the_task_gives_its_test_sentences_evenly_spread(reverse: LoadedModel) -> None:
    examples, about, task = examples_for(SampleChoice(size=100), reverse)
    assert len(examples) == 100
    assert {len(example.source) for example in examples} == set(range(1, 17))
    assert str(about) == "100 of 1,505 test sentences of reverse, evenly spread"
    assert task.name == "reverse"
    # Alignments apply where the model says what was written.
    sample, _, _ = gather(SampleChoice(size=20, translated=True), reverse, quiet)
    assert list(sample.alignments) == [tuple((i,) for i in reversed(range(len(ids)))) for ids in sample.targets]


def test_a_missing_corpus_gets_a_message(reverse: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = dataclasses.replace(reverse.data_config, task="multi30k-en-de", src_lang="en", tgt_lang="de")
    other = dataclasses.replace(reverse, data_config=data)
    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(SampleError, match="not on this machine"):
        examples_for(SampleChoice(), other)
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    with pytest.raises(SampleError, match="cannot be read"):
        examples_for(SampleChoice(), other)


def test_a_list_that_is_too_long_says_so_when_it_is_opened_and_none_can_fill_the_memory() -> None:
    letters = random.Random(1)
    lines = tuple("".join(letters.choices("abcdefghijklmnop", k=60)) for _ in range(400))
    assert to_link(SampleChoice("own", lines)) == "own.200.-"
    packed = base64.urlsafe_b64encode(zlib.compress(b"a" * 50_000_000, 9)).decode().rstrip("=")
    for link, said in (("own.200.-", "too long for a link"), (f"own.200.{packed}", "at most 400,000 are read")):
        with pytest.raises(SampleError, match=said):
            from_link(link)
    assert len(to_link(SampleChoice("own", ("the same line",) * 900))) < MAX_LINK


def test_a_link_that_asked_for_a_statistical_aligner_opens_without_one() -> None:
    assert from_link("task.30.translated.aligned") == SampleChoice("task", (), 30, True)
    assert from_link("scenes.50.aligned") == SampleChoice("scenes", (), 50)


@pytest.mark.parametrize(
    "text",
    ["", "x", "task", "task.0", "task.1001", "task.5.abc", "own.5", "own.5.%%", "own.5.AAAA", "task.5.translated.x"],
)
def test_any_other_text_gets_a_message(text: str) -> None:
    with pytest.raises(SampleError):
        from_link(text)


def test_search_never_finds_what_is_masked() -> None:
    sample = [observed(5, 4, decoder=(HEADS["uniform"],))]
    assert search(sample, "decoder", 0, 0, "t0", "t1") == []
    assert search(sample, "decoder", 0, 0, "t1", "t0")[0].weight == pytest.approx(1 / 3)
