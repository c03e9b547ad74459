"""Typed text in, translation, notes and trace out."""

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from explorer.decoding import translator as module
from explorer.decoding.translator import InputError, Translator
from model.checkpoint import load_model
from model.config import EOS, SOS, AttentionKind, DecodeConfig
from model.edits import HeadEdit, HeadEdits
from tests.explorer.toy_models import save_toy
from tests.paths import CHECKPOINTS

GREEDY = DecodeConfig(max_length=6)


def toy(folder: Path, task: str) -> Translator:
    save_toy(folder / task, task)
    return Translator(load_model(folder / task))


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return toy(tmp_path_factory.mktemp("checkpoints"), "adjective-swap")


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return toy(tmp_path_factory.mktemp("checkpoints"), "reverse")


def test_unknown_words_are_named(words: Translator) -> None:
    some = words.translate("I read purple books", GREEDY)
    assert some.source.unknown == (False, False, True, False)
    assert some.source.tokens[2] == "purple"
    assert any("purple" in note and "<unk>" in note for note in map(str, some.notes))
    every = words.translate("quantum chromodynamics", GREEDY)
    assert any("knows none" in note for note in map(str, every.notes))
    long = list(map(str, words.translate("x" * 5000, GREEDY).notes))
    assert all(len(note) < 250 for note in long)
    assert not any("at most" in note for note in long), "one long token is not called many"
    assert any("characters were read" in note for note in long)


def test_a_text_longer_than_the_model_reads_is_cut_with_a_note(
    tmp_path: Path, words: Translator, letters: Translator
) -> None:
    dates = toy(tmp_path, "dates")
    for model, text in (
        (words, "word " * 5000),
        (letters, "I read red books " * 200),
        (letters, "x" * 300_000),
        (letters, "ab" * 23 + "cd"),
        *((dates, text) for text in ("İ" * 40, "a" + "İ" * 5000)),  # İ in lower case is two code points
    ):
        translation = model.translate(text, GREEDY)
        assert len(translation.source) <= model.max_source_tokens
        assert len(translation.trace.src_tokens) == len(translation.source) + 1
        assert any("at most" in note for note in map(str, translation.notes))
    fits = letters.translate("ab" * 23 + "c", GREEDY)
    assert len(fits.source) == letters.max_source_tokens == 47
    assert fits.source.text == "ab" * 23 + "c"
    assert not any("at most" in note for note in map(str, fits.notes))


def test_a_prefix_is_forced_and_decoding_continues(words: Translator) -> None:
    own = words.translate("I read red books", GREEDY)
    assert own.path[-1] != EOS
    assert "The model did not end the sentence within 6 tokens" in str(own.notes[-1])
    other = int(own.trace.top_ids[1][3])
    forked = words.translate("I read red books", GREEDY, prefix=(own.path[0], other))
    assert forked.path[:2] == (own.path[0], other)
    assert forked.seq != own.seq
    np.testing.assert_array_equal(forked.trace.cross[:, :, 0], own.trace.cross[:, :, 0])
    again = words.translate("I read red books", DecodeConfig(), prefix=forked.path)
    assert again.path[: len(forked.path)] == forked.path


def test_a_typed_target_is_forced_with_its_probabilities(words: Translator) -> None:
    forced = words.force("I read red books", "je lis des livres rouges")
    target = words.loaded.target
    assert forced.path == (*target.encode("je lis des livres rouges").ids, EOS)
    assert forced.trace.read_tokens == ("<sos>", *(target.label(i) for i in forced.path[:-1]))
    assert forced.path[-1] == EOS
    ids = torch.tensor([[SOS, *forced.path[:-1]]])
    src = torch.tensor([[*forced.source.ids, EOS]])
    with torch.inference_mode():
        logits = words.loaded.model(src, ids)[0].numpy().astype(np.float64)
    logits[:, [0, SOS]] = -np.inf
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    expected = (raised / raised.sum(-1, keepdims=True))[range(len(forced.path)), list(forced.path)]
    np.testing.assert_allclose(forced.trace.probabilities, expected, atol=1e-5)
    again = words.translate("I read red books", DecodeConfig(), prefix=forced.path)
    assert again.seq == forced.seq, "the path in a link shows the same"


def test_a_forced_target_notes_what_it_could_not_use(words: Translator, letters: Translator) -> None:
    unknown = words.force("I read", "je zwiebel")
    assert any("zwiebel" in note and "target vocabulary" in note for note in map(str, unknown.notes))
    assert unknown.path[1] == 3
    long = letters.force("abc", "ab" * 100)
    assert len(long.path) == 48
    assert long.path[-1] != EOS
    assert any("at most 48 target tokens" in note for note in map(str, long.notes))
    for source, target in (("I read", ""), ("I read", " \t"), (" ", "je")):
        with pytest.raises(InputError, match="target sentence" if source.strip() else "nothing to translate"):
            words.force(source, target)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_an_explanation_is_of_the_translation_under_its_edit(
    words: Translator, kind: AttentionKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = HeadEdits((HeadEdit("cross", 0, 0, "uniform"),))
    translation = words.translate("I read red books", GREEDY, edit=edit)
    assert translation.seq != words.translate("I read red books", GREEDY, prefix=translation.path).seq
    run = Mock(wraps=words.loaded.transformer.forward)
    monkeypatch.setattr(words.loaded.transformer, "forward", run)
    monkeypatch.setattr(module, "decode_recorded", None)
    explanation = words.explain(translation, (kind, 0, 1), 1)
    assert run.call_count == 1 or kind == "encoder", "one run, which decodes nothing"
    row, weights = explanation.details.rows[1], translation.trace.weights(kind)[0, 1]
    np.testing.assert_allclose(row.weights, weights[1, : len(row.weights)], rtol=0, atol=1e-6)
    np.testing.assert_allclose(explanation.terms.scores[1, : len(row.scores)], row.scores, rtol=0, atol=1e-5)
    assert explanation.terms.table(1, 0).sum() == pytest.approx(float(row.scores[0]), abs=1e-5)
    # A changed row has weights for the keys that had been read.
    row_edit = HeadEdits((HeadEdit("decoder", 0, 0, "row", row=1, values=np.array([1, 3], np.float32)),))
    monkeypatch.undo()
    edited = words.explain(words.translate("I read red books", GREEDY, edit=row_edit), ("decoder", 0, 0), 1)
    assert edited.details.rows[1].weights == pytest.approx([0.25, 0.75])
    # Without a causal mask it is of what was read by then.
    if kind != "encoder":
        unmasked = Translator(load_model(CHECKPOINTS / "adjective-swap-unmasked"))
        translation = unmasked.translate("I read red books", GREEDY)
        explanation = unmasked.explain(translation, (kind, 1, 0), 2)
        row, weights = explanation.details.rows[2], translation.trace.weights(kind)[1, 0, 2]
        np.testing.assert_allclose(row.weights, weights[: len(row.weights)], rtol=0, atol=1e-6)
        np.testing.assert_allclose(explanation.terms.scores[2], row.scores, rtol=0, atol=1e-5)
