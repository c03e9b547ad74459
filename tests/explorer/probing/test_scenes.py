"""The scenes as a sample of the Multi30k models: their alignments, between words, become alignments of tokens."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from explorer.probing.measured import measure
from explorer.probing.sample import SampleChoice, SampleError, default_choice, examples_for
from model.analysis.recorded_batches import written_sample
from model.analysis.word_alignment import aligned_tokens
from model.checkpoint import LoadedModel, load_model
from model.data.scenes import scenes, word_spans
from model.data.task import WordLinks
from model.text.tokenizer import Encoding
from tests.paths import CHECKPOINTS


@cache
def loaded(name: str) -> LoadedModel:
    return load_model(CHECKPOINTS / name)


def test_tokens_of_a_word_have_its_links() -> None:
    source = Encoding((5, 6, 7), ("play", "ing", "now"), ((0, 4), (4, 7), (8, 11)), (0, 0, 1), "playing now")
    target = Encoding((5, 6, 7), ("sp", "ielt", "jetzt"), ((0, 2), (2, 6), (7, 12)), (0, 0, 1), "spielt jetzt")
    spans = ((0, 7), (8, 11)), ((0, 6), (7, 12))
    whole, one = (WordLinks(*spans, frozenset(), frozenset(links)) for links in ({(0, 0), (1, 1)}, {(1, 0)}))
    assert aligned_tokens(whole, source, target) == ((0, 1), (0, 1), (2,))
    assert aligned_tokens(one, source, target) == ((2,), (2,), ())


@pytest.mark.parametrize("name", ["multi30k-en-de", "multi30k-de-en"])
def test_every_token_is_aligned_with_tokens_of_linked_words(name: str) -> None:
    model = loaded(name)
    assert default_choice(model.data_config) == SampleChoice("scenes")
    examples, about, task = examples_for(SampleChoice("scenes", size=304), model)
    assert task is None
    assert "304 of 304 aligned scenes" in about
    sample = written_sample(examples, model.source, model.target, model.model_config.max_positions)
    for scene, example, alignment, gold in zip(scenes(), examples, sample.alignments, sample.links, strict=True):
        forward = name == "multi30k-en-de"
        assert (example.source, example.target) == (
            (scene.english, scene.german) if forward else (scene.german, scene.english)
        )
        source, target = model.source.encode(example.source), model.target.encode(example.target)
        assert source.text == example.source, "offsets are those of the sentence as written"
        links = set(scene.possible if forward else {(j, i) for i, j in scene.possible})
        assert alignment is not None
        assert gold is not None
        assert len(alignment) == len(target)
        assert (int(gold.sure.sum()), int(gold.possible.sum())) == (len(scene.sure), len(scene.possible))
        found = {
            (word_at(example.source, source.offsets[i][0]), word_at(example.target, target.offsets[t][0]))
            for t, keys in enumerate(alignment)
            for i in keys
        }
        assert found == links, scene.id


def word_at(sentence: str, character: int) -> int:
    """The word that has this character, or the one after the space."""
    return next(i for i, (_, end) in enumerate(word_spans(sentence)) if character < end)


def test_other_models_keep_their_test_set_and_are_refused_the_scenes() -> None:
    model = loaded("reverse")
    assert default_choice(model.data_config) == SampleChoice("task")
    with pytest.raises(SampleError, match="English and German"):
        examples_for(SampleChoice("scenes"), model)


def test_the_default_model_is_measured_without_its_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    measured = measure(SampleChoice("scenes", size=12), loaded("multi30k-en-de"), lambda share, label: None)
    assert len(measured.sample) == 12
    assert np.isfinite(measured.probe.kinds["cross"].single["accuracy"].own).all()
