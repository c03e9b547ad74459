"""The Masks page in Streamlit's test harness: its numbers are the model's, and its switches do what they say."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.masked_reading import sentence_of
from explorer.screens.masks.readings import longer_than, masked_reading
from explorer.web import runtime
from model.analysis.mask_effects import Switches
from model.config import ATTENTION_KINDS, AttentionKind, DecodeConfig
from model.trace import FUTURE, PADDING
from tests.explorer.sent import Message, messages
from tests.pages.page import choose, maps, tables, visit, words

SENTENCE = "I read red books"


def masks(tab: str = "The masks", **query: str) -> AppTest:
    return visit("masks", **({"model": "adjective-swap", "text": SENTENCE, "masks_tab": tab} | query))


def sent(at: AppTest) -> list[Message]:
    return [message for message in messages(at) if "column_title" in message[0]]


def is_open(z: Any) -> np.ndarray:
    return ~np.isnan(z)


@pytest.mark.usefixtures("toys")
def test_the_masks_on_screen_are_those_of_the_model_and_say_why_a_cell_is_closed() -> None:
    at = masks()
    # No example is longer than the visitor's sentence: its own first words make a longer one.
    assert f"up to the length of the longer one in its batch: “{SENTENCE} I read”." in words(at)
    assert "as long as the model reads" not in words(at)
    (before, drawn), (after, hatched) = sent(at)
    codes = hatched["mask"]
    assert np.array_equal(drawn["closing"], codes), "the cells that the masks close are marked before they do"
    assert "closing" not in hatched
    assert (before["zeros"], after["zeros"]) == (True, False), "every score has a number"
    for code, name in ((FUTURE, "in the future ╱"), (PADDING, "padding ╳")):
        assert f"{(codes == code).sum()} {name}" in words(at)
    scores, weights = maps(at)
    both = is_open(weights)
    assert is_open(scores).all(), "scores are computed for every cell"
    assert before["top"] == pytest.approx(np.abs(scores).max()), "the scale covers every number on screen"
    exponents = np.where(both, np.exp(scores), 0.0)
    expected = exponents / exponents.sum(axis=1, keepdims=True)
    assert np.allclose(weights[both], expected[both], atol=1e-5)
    real = int((codes[0] != PADDING).sum())
    furthest = max(scores[:real, :real].flat, key=abs)
    assert f"The score furthest from 0 is {furthest:+.3f}".replace("-", "−") in words(at)
    assert words(at).count("Cells of padding do not count for this.") == 2
    assert "Real tokens give padding" not in words(at)
    assert "tokens look ahead" not in words(at)
    names = [name.split(" ", 1)[1] for name in after["rows"]]
    hidden = f"“{names[1]}”, for example, cannot look ahead to “{names[2]}”"
    assert f"closes {real * (real - 1) // 2} cells of real tokens: {hidden}" in words(at)
    choose(at, masks_causal=False)
    padding = is_open(maps(at)[1])
    ahead = np.triu(np.nan_to_num(maps(at)[1])[:real, :real], k=1)
    row, key = np.unravel_index(ahead.argmax(), ahead.shape)
    assert "cells of real tokens" not in words(at)
    assert f"tokens look ahead: “{names[row]}” gives {100 * ahead.max():.0f} % to “{names[key]}”" in words(at)
    assert f"on average {100 * ahead.sum(axis=1).mean():.0f} % goes to later positions" in words(at)
    target = runtime.translate("adjective-swap", SENTENCE, DecodeConfig()).trace
    assert names == [*target.read_tokens, *["<pad>"] * 2], "the visitor's own sentence, with padding"
    assert padding[0].sum() == real == len(target.read_tokens)
    assert np.array_equal(both, np.tril(padding))
    choose(at, masks_padding=False)
    assert is_open(maps(at)[1]).all()
    padded = maps(at)[1][:real, real:].sum(axis=1).mean()
    assert f"Real tokens give padding {100 * padded:.0f} % of their attention on average." in words(at)
    assert "No cell is closed" in words(at)
    assert "closing" not in sent(at)[0][1]
    assert "hatched edges" not in words(at)
    choose(at, text="We eat")
    assert "the longer one in its batch: “I read red books”." in words(at), "an example"


@pytest.mark.usefixtures("shipped")
def test_padding_fills_the_visitors_sentence_if_the_model_reads_a_longer_one() -> None:
    """Of any length, in source and target; padding leaves the weights of its tokens as they are alone."""
    for model, text in (
        ("multi30k-en-de", "Two children are playing football on the grass near a house."),
        ("multi30k-en-de", "Dog"),
        ("reverse", "headlight"),
        ("reverse-decoder", "abcdefghijklmnopqrstuvwxyz"),
    ):
        translation = runtime.translate(model, text, DecodeConfig())
        alone, longer = sentence_of(translation), longer_than(translation)
        assert len(longer.path) > len(alone.path)
        kind: AttentionKind
        for kind in ATTENTION_KINDS if translation.trace.src_tokens else ("decoder",):
            bare, padded = (
                masked_reading(model, alone, Switches(), (kind, 0, 0), each).weights for each in (None, longer)
            )
            rows, keys = bare.shape
            assert padded.shape > bare.shape
            assert np.allclose(padded[:rows, :keys], bare, atol=1e-5)
            assert not padded[:rows, keys:].any()


@pytest.mark.usefixtures("shipped")
def test_a_sentence_as_long_as_the_model_reads_has_no_padding_and_says_so() -> None:
    at = masks(model="dates", text="3 March 2024" * 20)
    source = runtime.translate("dates", "3 March 2024" * 20, DecodeConfig()).source.ids
    assert len(source) == runtime.describe("dates").model_config.longest_source
    assert "as long as the model reads" not in words(at), "its target is shorter"
    choose(at, masks_kind="encoder")
    assert "This is as long as the model reads, so no longer sentence can give it padding." in words(at)
    assert "longer one in its batch" not in words(at)


@pytest.mark.usefixtures("toys")
def test_the_source_has_no_future_and_one_sentence_no_padding() -> None:
    at = masks()
    for kind in ("encoder", "cross"):
        choose(at, masks_kind=kind)
        assert len(maps(at)) == 2
        assert "no row has a future to hide" in words(at)
    at = masks()
    choose(at, masks_batch="this sentence")
    assert "padding ╳" not in words(at)
    assert "Cells of padding do not count" not in words(at)
    assert "the future ╱" in words(at)
    assert "longer one in its batch" not in words(at)


@pytest.mark.usefixtures("shipped")
def test_the_right_translation_comes_from_the_data_or_is_typed() -> None:
    at = masks("Given target", model="adjective-swap-unmasked")
    field = at.text_input(key="given_reference")
    assert (field.value, field.placeholder) == ("", "je lis livres rouge")
    table = tables(at)[-1]
    assert table["must predict"].tolist() == ["je", "lis", "livres", "rouge", "<eos>"]
    assert table["masked (%)"][0] < 50 < 95 < table["lifted (%)"][0], "it can only copy"
    assert "has learned to copy it" in words(at)
    field.set_value("je lis pommes vert").run()
    assert tables(at)[-1]["must predict"].tolist() == ["je", "lis", "pommes", "vert", "<eos>"]
    choose(at, text="We eat green apples")
    assert at.text_input(key="given_reference").value == "", "it was the translation of another sentence"
    assert tables(at)[-1]["must predict"][0] == "nous"
    choose(at, text="I read red green books")
    assert "Probability of the model's own token" in words(at), "no right one is known"
    choose(at, given_reference="je lis livres")
    assert "Probability of the right token" in words(at)


@pytest.mark.usefixtures("shipped")
def test_the_model_without_the_mask_has_a_low_loss_and_a_wrong_translation() -> None:
    at = masks("Trained without it")
    scores = "with the mask 100.0 % of 48 sentences (step 300), without it 0.0 % of 48 sentences (step 300)."
    assert f"exact match at the end: {scores}" in words(at)
    table = tables(at)[0]
    assert table["target given: right token (%)"].min() > 95
    right, wrong = table["on its own it says"]
    assert right == "je lis livres rouge" != wrong
    assert "looks one token ahead" in words(at)
    (weights,) = maps(at)
    ahead = np.diag(weights, 1)
    assert f"The largest weight is {ahead.max():.3f}, where" in words(at)
    assert "Only weights one token ahead count for this." in words(at)
    assert weights.max() > ahead.max()
