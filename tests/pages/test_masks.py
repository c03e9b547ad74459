"""The Masks page in Streamlit's test harness: its numbers are the model's, and its switches do what they say."""

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.masked_reading import sentence_of
from explorer.screens.masks import readings
from explorer.screens.masks.readings import MOST_COLUMNS, longer_than, masked_reading
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


def named(at: AppTest) -> str:
    """The sentence that is said to give this one padding."""
    found = re.search(r"“([^”]+)”(?: in its batch|, made longer for this picture,) needs as many\.", words(at))
    assert found
    return found[1]


def is_open(z: Any) -> np.ndarray:
    return ~np.isnan(z)


@pytest.mark.usefixtures("shipped")
def test_the_masks_on_screen_are_those_of_the_model_and_say_why_a_cell_is_closed() -> None:
    at = masks()
    # This model writes no longer target, whatever it reads: no sentence is named that would not give this padding.
    assert "A longer sentence in its batch would have the same effect." in words(at)
    assert "needs as many" not in words(at)
    assert "Padding is pale, rows and columns." in words(at)
    assert "as long as the model reads" not in words(at)
    (before, drawn), (after, hatched) = sent(at)
    codes = hatched["mask"]
    assert np.array_equal(drawn["closing"], codes), "the cells that the masks close are marked before they do"
    assert "closing" not in hatched
    assert (before["zeros"], after["zeros"]) == (True, False), "every score has a number"
    for code, name in ((FUTURE, "in the future ╱"), (PADDING, "padding ╳")):
        assert words(at).count(f"{(codes == code).sum()} {name}") == 1, "once on the screen"
    scores, weights = maps(at)
    both = is_open(weights)
    assert is_open(scores).all(), "scores are computed for every cell"
    exponents = np.where(both, np.exp(scores), 0.0)
    expected = exponents / exponents.sum(axis=1, keepdims=True)
    assert np.allclose(weights[both], expected[both], atol=1e-5)
    real = int((codes[0] != PADDING).sum())
    furthest = max(scores[:real, :real].flat, key=abs)
    assert "hatched edges" in before["caption"]
    assert before["top"] == pytest.approx(abs(furthest)), "padding does not set the scale"
    assert (before["padding"], after["padding"]) == (len(scores) - real,) * 2
    assert f"The score furthest from 0 is {furthest:.3f}".replace("-", "−") in before["caption"]
    assert all("Padding does not count here: nothing" in each["caption"] for each in (before, after))
    assert f"The decoder's {real} tokens are padded to {len(scores)}." in words(at)
    assert "Real tokens give padding" not in words(at)
    assert "tokens look ahead" not in words(at)
    names = [name.split(" ", 1)[1] for name in after["rows"]]
    assert f"The causal mask closes the future: “{names[1]}” cannot look ahead to “{names[2]}”." in words(at)
    choose(at, masks_causal=False)
    padding = is_open(maps(at)[1])
    ahead = np.triu(np.nan_to_num(maps(at)[1])[:real, :real], k=1)
    row, key = np.unravel_index(ahead.argmax(), ahead.shape)
    assert "closes the future" not in words(at)
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
    assert re.search(r"All \d+ cells are open", words(at))
    assert "Rows of padding are pale." in words(at)
    assert "columns" not in words(at)
    scores = maps(at)[0]
    assert sent(at)[0][0]["top"] == pytest.approx(np.abs(scores[:real]).max()), "an open column counts"
    assert "Rows of padding do not count here." in sent(at)[0][0]["caption"]
    assert "nothing uses" not in sent(at)[0][0]["caption"], "tokens read padding"
    assert "closing" not in sent(at)[0][1]
    assert "hatched edges" not in sent(at)[0][0]["caption"]
    choose(at, text="books")
    assert "“I read red books” in its batch needs as many." in words(at), "an example"


@pytest.mark.usefixtures("shipped")
def test_padding_fills_the_visitors_sentence_if_the_model_reads_a_longer_one() -> None:
    """Of any length, in source and target; padding leaves the weights of its tokens as they are alone."""
    for model, text in (
        ("multi30k-en-de", "Two children are playing football on the grass near a house."),
        ("multi30k-en-de", "Dog"),
        ("reverse", "headlight"),
        ("dates", "3 March 2024"),
        ("reverse-decoder", "abcdefghijklmnopqrstuvwxyz"),
    ):
        translation = runtime.translate(model, text, DecodeConfig())
        alone, longer = sentence_of(translation), longer_than(translation)
        assert longer.tgt > len(alone.read_tokens)
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
@pytest.mark.parametrize(
    ("model", "text", "partner", "made"),
    [
        ("reverse-decoder", "cat", "headlight", False),
        ("reverse-decoder", "headlight", "headlighth", True),  # its next example would not fit
        ("reverse-decoder", "abcdefghijklmn", "abcdefghijklmna", True),
        ("multi30k-en-de", "Dog", "The dog is not playing with the ball.", False),
        ("multi30k-en-de", "A man who is wearing a red hat is reading a newspaper.", "Five people are standing", False),
        ("multi30k-en-de", "a young man in a red shirt is playing guitar for his small children", "A white dog", False),
    ],
)
def test_the_sentence_that_is_named_is_read_and_has_the_length_of_the_padding(
    model: str, text: str, partner: str, made: bool
) -> None:
    at = masks(model=model, text=text)
    own = runtime.translate(model, text, DecodeConfig())
    read = longer_than(own)
    assert read.text.startswith(partner)
    assert len(read.text.split()) > len(text.split()) or " " not in text, "also in words"
    assert read.text.startswith(named(at).removesuffix("…"))
    longer = runtime.translate(model, read.text, DecodeConfig())
    assert ("made longer for this picture" in words(at)) == made
    lengths = [len(each.trace.read_tokens) for each in (own, longer)]
    (header, _), _ = sent(at)
    names = [name.split(" ", 1)[1] for name in header["columns"]]
    assert names == [*own.trace.read_tokens, *["<pad>"] * (lengths[1] - lengths[0])]
    counted = "The decoder's {} tokens are" if own.trace.src_tokens else "Beginning and answer, {} tokens, are"
    assert f"{counted.format(lengths[0])} padded to {lengths[1]}." in words(at)
    assert lengths[0] < len(names) <= MOST_COLUMNS
    if model == "multi30k-en-de":
        choose(at, masks_kind="encoder")
        (header, _), _ = sent(at)
        sources = [len(each.trace.src_tokens) for each in (own, longer)]
        assert len(header["columns"]) == sources[1]
        assert f"The encoder's {sources[0]} tokens are padded to {sources[1]}." in words(at)


@pytest.mark.usefixtures("shipped")
def test_a_large_model_translates_no_other_sentence_for_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    translation = runtime.translate("multi30k-en-de", "Dog", DecodeConfig())
    monkeypatch.setattr(readings, "MOST_BYTES", 1)
    monkeypatch.setattr(runtime, "translate", pytest.fail)
    longer = longer_than(translation)
    read = (len(translation.trace.src_tokens), len(translation.trace.read_tokens))
    assert (longer.src, longer.tgt, longer.text) == (read[0] + 2, read[1] + 2, "")


@pytest.mark.usefixtures("shipped")
def test_a_sentence_as_long_as_the_model_reads_has_no_padding_and_says_so() -> None:
    at = masks(model="dates", text="3 March 2024" * 20)
    source = runtime.translate("dates", "3 March 2024" * 20, DecodeConfig()).source.ids
    assert len(source) == runtime.describe("dates").model_config.longest_source
    assert "as long as the model reads" not in words(at), "its target is shorter"
    choose(at, masks_kind="encoder")
    assert "This is as long as the model reads, so no longer sentence can give it padding." in words(at)
    assert "padded to" not in words(at)


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
    assert "pale" not in words(at)
    assert [each["padding"] for each, _ in sent(at)] == [0, 0]
    assert not any("does not count here" in each["caption"] for each, _ in sent(at))
    assert "the future ╱" in words(at)
    assert "padded to" not in words(at)


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
def test_a_small_probability_is_not_written_as_0() -> None:
    (table,) = masks("Given target").dataframe
    small = table.value["lifted (%)"].between(0, 0.005, inclusive="neither")
    assert small.any()
    written = pa.ipc.open_stream(table.proto.arrow_data.styler.display_values).read_pandas()
    assert written["lifted (%)"][small].eq("< 0.01").all()
    assert "0.00" not in written["lifted (%)"].to_numpy()


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
