"""The Positions page in Streamlit's test harness: the tables on screen are those of the model and of the formulas."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from explorer.locale.text import fixed
from model.analysis.word_order import answer
from model.checkpoint import load_model
from model.config import EOS
from model.data import get_task
from model.positions import sinusoidal_table
from tests.pages.page import assert_says, choose, click, has_key, maps, plotted, tables, visit, words
from tests.paths import CHECKPOINTS

TOY = {"model": "post", "text": "I read red books"}


def positions(tab: str = "The table", **query: str) -> AppTest:
    return visit("positions", **(TOY | {"positions_tab": tab} | query))


@pytest.mark.usefixtures("toys")
def test_the_table_on_screen_is_the_buffer_in_the_model_until_a_slider_changes_it(toys: Path) -> None:
    at = positions(pe_length="40")
    assert np.array_equal(maps(at)[0], load_model(toys / "post").model.positions_src.sinusoidal[:40].numpy())
    assert "These are the rows that the loaded model adds." in words(at)
    choose(at, pe_width=20, pe_length=30, pe_base=100.0)
    assert np.allclose(maps(at)[0], sinusoidal_table(30, 20, 100.0).numpy(), atol=1e-7)
    assert "These are the rows" not in words(at)
    assert "The loaded model adds the rows of d_model 16 and base 10,000." in words(at)


@pytest.mark.usefixtures("toys")
def test_curves_and_products_are_those_of_the_table() -> None:
    at, table = positions(), sinusoidal_table(64, 16).numpy()
    choose(at, pe_beside="curves")
    at.multiselect[0].set_value([3, 6]).run()
    for i, trace in zip((3, 6), plotted(at)[1]["data"], strict=True):
        assert np.allclose(trace["y"], table[:, i])
    at.multiselect[0].set_value([]).run()
    choose(at, pe_beside="dot product")
    assert np.allclose(maps(at)[-1], table @ table.T, atol=1e-5)


def test_one_word_and_its_place(toys: Path) -> None:
    at = positions("One word")
    loaded = load_model(toys / "post")
    embedding = 4.0 * loaded.model.src_embedding.weight[next(iter(loaded.source.encode(TOY["text"]).ids))]
    word, position, both = maps(at)[0]
    assert np.allclose(word, embedding.detach().numpy(), atol=1e-6)
    assert np.allclose(position, loaded.model.positions_src.sinusoidal[0].numpy(), atol=1e-6)
    assert np.allclose(both, word + position, atol=1e-6)
    assert len(tables(at)[0]) == 5


@pytest.mark.usefixtures("toys")
def test_the_rotation_is_verified_live() -> None:
    at = positions("The rotation", pe_length="30", pe_offset="9")
    assert "PE(p + 9) = M · PE(p) holds at all 21 positions" in words(at)
    choose(at, pe_length=64)
    choose(at, pe_offset=63)
    assert "PE(p + 63) = M · PE(p) holds at the only position that is left" in words(at)
    assert [slider.disabled for slider in at.slider if slider.label == "Position p"] == [True]
    (error,) = re.findall(r"the largest error is (\S+) \(float64\)", words(at))
    assert float(error.replace("−", "-")) < 1e-12


def test_a_learned_table_is_shown_before_the_formula(toys: Path) -> None:
    loaded = load_model(toys / "learned")
    weight = loaded.model.positions_src.embedding.weight.detach().numpy()
    sources = [loaded.source.encode(example.source) for example in get_task(loaded.data_config.task).splits["train"]]
    at = positions(model="learned")
    drawn = weight[: max(map(len, sources)) + 1]
    assert np.allclose(maps(at)[0], drawn), "with <eos>; training reached no other row"
    likeness = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    likeness = likeness @ likeness.T
    lead = np.diag(likeness, 1).mean() - likeness[np.triu_indices(len(drawn), 2)].mean()
    assert f"that of rows further apart is {fixed(lead, 2, signed=True)};" in words(at)
    choose(at, pe_rows="of the formula")
    assert "The loaded model learned its positions" in words(at)


@pytest.mark.parametrize(
    ("name", "alike"),
    [("multi30k-en-de", "A man chases a dog."), ("multi30k-de-en", "Ein Mann sieht einen Hund.")],
)
@pytest.mark.usefixtures("shipped")
def test_a_sentence_is_offered_in_which_the_order_decides(name: str, alike: str) -> None:
    loaded, sentence = load_model(CHECKPOINTS / name), get_task(name).order_matters
    ids = (*loaded.source.encode(sentence).ids, EOS)
    placed, bare = (loaded.target.decode(answer(loaded.model, ids, positions=each).path) for each in (True, False))
    assert placed != bare
    at = positions("Shuffle the words", model=name, text=alike)
    click(at, "pe_order_matters")
    assert at.text_input(key="text").value == sentence
    assert {placed, bare} <= set(tables(at)[-1]["original sentence gives"])
    assert not has_key(at, "pe_order_matters")


@pytest.mark.usefixtures("toys")
def test_rotation_and_distance_alone_depend_on_the_distance_alone() -> None:
    at = positions("In the scores", model="learned")
    found = tables(at)[0].set_index("positions")
    assert set(found.index[found["distance alone decides"] == "✓ exactly"]) == {"RoPE", "ALiBi"}
    assert found.loc["learned (this model)", "distance alone decides"].startswith("✗ varies by")
    assert found.loc["none", "distance alone decides"] == "all scores are equal"
    assert found.loc["ALiBi", "before ≠ after"] == "no" != found.loc["RoPE", "before ≠ after"]
    choose(at, pe_in="none")
    assert_says(at, "All scores are equal: neither the distance nor the place makes a difference.")
    assert "the distance alone decides" not in words(at), "nothing decides where all are equal"
    choose(at, pe_in="ALiBi", pe_slope=2)
    assert_says(at, "the distance alone decides")
    scores = maps(at)[0]
    assert np.allclose(scores[5, 5] - scores[5, 1:5], [1, 0.75, 0.5, 0.25]), "head 2 of 8 takes off a quarter a step"


@pytest.mark.usefixtures("toys")
def test_shuffled_words_without_positions_keep_their_attention() -> None:
    at = positions("Shuffle the words")
    before, after, bare = maps(at)
    assert not np.allclose(before, after, atol=1e-3)
    choose(at, pe_seed=9)
    assert np.allclose(maps(at)[2], bare, atol=1e-6), "whatever the order"
    assert not np.allclose(maps(at)[1], after, atol=1e-3)
    assert "Attention follows the words: over all heads no weight" in words(
        positions("Shuffle the words", model="unplaced", text="abcd")
    )


@pytest.mark.usefixtures("toys")
def test_longer_than_trained() -> None:
    at = positions("Longer than trained")
    assert "In training the longest sentence had **4 tokens**" in words(at)
    (table,) = tables(at)
    tokens = [int(each) for each in table["tokens"]]
    assert tokens[:2] == [4, 8]
    assert max(tokens) <= 47, "the model reads no more"


@pytest.mark.usefixtures("shipped")
def test_the_longest_training_sentence_is_known_without_the_corpus() -> None:
    at = positions("Longer than trained", model="multi30k-en-de", text="Two dogs run across the grass.")
    second = "The sinusoidal table has no end, but rows beyond the trained length were never used"
    assert f"In training the longest sentence had **49 tokens** (without `<eos>`). {second}" in words(at)
    (table,) = tables(at)
    assert [f"{n} ×" for n in range(1, 8)] == list(table["input"])[:7], "past the longest in training"
    assert next(iter(table["came through"])) == "1 of 1"
    assert words(at).count("translation, word for word") == 1


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(
    ("model", "text", "claim"),
    [
        ("reverse", "hello", "here the length is the likely reason."),
        ("multi30k-en-de", "A man in a red shirt is riding a bicycle.", "the reason is several sentences in one input"),
    ],
)
def test_what_is_lost_is_said_with_its_reason(model: str, text: str, claim: str) -> None:
    at = positions("Longer than trained", model=model, text=text)
    assert_says(at, claim)
    table = tables(at)[-1]
    counts = [each.split(" of ") for each in table["came through"]]
    lost = next(i for i, (found, n) in enumerate(counts) if found != n)
    found, n = counts[lost]
    tokens = table["tokens"][lost]
    said = f"At {n} × ({tokens} tokens) the answer has the sentence's translation, word for word, {found} × instead of"
    assert_says(at, f"{said} {n} ×.")
