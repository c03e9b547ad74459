"""Hypotheses and chosen paths as lists to open, on translations of `reverse`."""

import pytest

from explorer.decoding.other_paths import OtherPath, chosen_paths, fork_of, hypotheses
from explorer.decoding.translator import Translation, Translator
from explorer.locale.text import percent
from model.checkpoint import load_model
from model.config import DecodeConfig
from tests.paths import ROOT

TEXT = "abc"


@pytest.fixture(scope="module")
def reverse() -> Translator:
    return Translator(load_model(ROOT / "checkpoints" / "reverse"))


@pytest.fixture(scope="module")
def own(reverse: Translator) -> Translation:
    return reverse.translate(TEXT, DecodeConfig(method="beam", beam_size=3))


def forked(reverse: Translator, shown: Translation, step: int) -> tuple[Translation, OtherPath]:
    """The second likeliest token at a step, and greedy after that."""
    token = int(shown.trace.top_ids[step - 1][1])
    translation = reverse.translate(TEXT, DecodeConfig(), prefix=(*shown.path[: step - 1], token))
    return translation, fork_of(shown, translation, step, token)


def test_a_fork_says_what_was_chosen_in_place_of_what(reverse: Translator, own: Translation) -> None:
    translation, fork = forked(reverse, own, 2)
    assert (fork.path, fork.text, fork.step) == (translation.path, translation.text, 2)
    chosen = own.trace.top_tokens[1][1]
    assert chosen == translation.trace.predicted_tokens[1]
    probability = percent(float(own.trace.top_probabilities[1][1]), 1)
    assert fork.detail == f"step 2: “{chosen}” ({probability}) instead of “b”"
    assert chosen_paths(own, []) == ()
    assert chosen_paths(own, [fork]) == (OtherPath(own.text, "the model's own choice", None), fork)
    with pytest.raises(ValueError, match="not in list"):
        fork_of(own, translation, 2, -1)


def test_hypotheses_are_listed_best_first_and_the_best_is_the_models_own(reverse: Translator, own: Translation) -> None:
    listed = hypotheses(own)
    assert [each.text for each in listed] == [f"{rank}. {own.hypotheses[rank - 1][0]}" for rank in (1, 2, 3)]
    assert [each.path for each in listed] == [None, own.hypotheses[1][1].path, own.hypotheses[2][1].path]
    text, best = own.hypotheses[0]
    assert (text, best.path) == (own.text, own.path)
    scores = [found.score for _, found in own.hypotheses]
    assert scores == sorted(scores, reverse=True)
    assert listed[0].detail == f"score {best.score:.3f}".replace("-", "−")
    greedy = reverse.translate(TEXT, DecodeConfig())
    assert hypotheses(greedy) == (), "without beam search"
    cut = reverse.translate(TEXT, DecodeConfig(method="beam", beam_size=2, max_length=2))
    assert [each.detail.endswith(" · cut off") for each in hypotheses(cut)] == [True, True]
