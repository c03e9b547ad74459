"""Scores, checked against numbers worked out by hand."""

import math

import pytest
import torch

from model.config import PAD, DecodeConfig
from model.data.batching import encode_pairs
from model.data.task import Example
from model.metrics import TokenScores, bleu, bleu_lc_tok, exact_match, flat, moses_tokens, token_scores
from model.scoring import evenly_spaced, score_examples, scoring_batches, teacher_forced, translate_pairs
from model.text.tokenizer import CharacterTokenizer
from tests.tiny import tiny_model

LETTERS = CharacterTokenizer.train(["abcdefghi"])


def test_without_numbers_a_mean_is_nan_which_is_null_in_json() -> None:
    assert token_scores(torch.zeros(1, 2, 5), torch.full((1, 2), PAD)) == TokenScores(0.0, 0, 0)
    nothing = {"a": TokenScores().loss, "b": TokenScores().accuracy, "c": exact_match([])}
    assert all(map(math.isnan, nothing.values()))
    assert exact_match([True, False, True, True]) == 0.75
    told = flat(nothing | {"d": math.inf, "e": 1.5, "f": None, "g": 2})
    assert told == {"a": None, "b": None, "c": None, "d": None, "e": 1.5, "f": None, "g": 2}
    assert [evenly_spaced(n, 5) for n in (10, 3, 0)] == [(0, 2, 4, 6, 8), (0, 1, 2), ()]


def test_bleu_is_sacrebleus_with_its_signature() -> None:
    """A textbook case: 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 quadruples match; equal lengths."""
    found = bleu(["the cat sat down here"], ["the cat sat down now"])
    by_hand = 100 * math.exp(sum(map(math.log, (4 / 5, 3 / 4, 2 / 3, 1 / 2))) / 4)
    assert found.score == pytest.approx(by_hand, abs=1e-6)
    assert "tok:13a" in found.signature
    assert "case:mixed" in found.signature
    assert bleu(["Ein Hund rennt schnell."], ["Ein Hund rennt schnell."]).score == pytest.approx(100)
    assert bleu(["EIN HUND RENNT SCHNELL."], ["ein hund rennt schnell."]).score < 20
    papers = bleu_lc_tok(["EIN HUND RENNT SCHNELL."], ["ein hund rennt schnell."], "de")
    assert papers.score == pytest.approx(100)
    assert "tok:none" in papers.signature
    with pytest.raises(ValueError, match="as many predictions as references"):
        bleu(["a"], [])


def test_texts_are_tokenized_as_in_papers() -> None:
    """Lower-cased before the rules apply, quotes straightened, French apostrophes split, nothing escaped."""
    assert moses_tokens(["Ein Mann, namens „El Corazon“ — im T-Shirt."], "de") == [
        'ein mann , namens " el corazon " - im t-shirt .'
    ]
    assert moses_tokens(["L’homme & l'eau."], "fr") == ["l' homme & l' eau ."]
    assert moses_tokens(["A man's dog isn't <here>."], "en") == ["a man 's dog isn 't < here > ."]
    assert moses_tokens(["मुझे पिज़्ज़ा पसंद है।", ""], "hi") == ["मुझे पिज़्ज़ा पसंद है ।", ""]
    assert moses_tokens(["Hello, World!"], "xx") == ["hello , world !"]


def test_scores_do_not_depend_on_how_sentences_are_batched() -> None:
    """In batches of short and long sentences, each gets the same translation and loss as alone."""
    examples = [Example(text, text[::-1]) for text in ("a", "abcdefghi", "bc", "hgfedcba", "dd")]
    model = tiny_model()
    together = score_examples(model, LETTERS, LETTERS, examples, DecodeConfig())
    pairs = encode_pairs(examples, LETTERS, LETTERS)
    assert sorted(i for batch in scoring_batches(pairs) for i in batch) == list(range(5))
    total = TokenScores()
    for example, prediction in zip(examples, together.predictions, strict=True):
        alone = encode_pairs([example], LETTERS, LETTERS)
        assert translate_pairs(model, alone, LETTERS, DecodeConfig()) == [prediction]
        total += teacher_forced(model, alone)
    assert total.tokens == together.tokens.tokens
    assert total.nll == pytest.approx(together.tokens.nll, rel=1e-5)
