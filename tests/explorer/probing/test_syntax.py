"""Attention by grammar, with a small pipeline that is defined here, and by closed lists of function words."""

import numpy as np
import pytest
import spacy
from spacy.language import Language

from explorer.probing import syntax
from explorer.probing.syntax import Parsed, by_relation, by_tag, parse, word_class
from model.analysis.recorded_batches import Observed, Sample, written_sample
from model.config import DataConfig
from model.data.task import Example
from model.text.tokenizer import Tokenizer
from model.text.tokenizer_kinds import build_tokenizers
from tests.explorer import toy_grammar  # noqa: F401 - spaCy knows its component by name
from tests.explorer.probed import HEADS, observed, one_hot


@pytest.fixture(scope="module")
def nlp() -> Language:
    made = spacy.blank("en")
    made.add_pipe("toy_parser")
    return made


SENTENCES = ("the red dog sees a cat", "a cat sees the dog", "the dog sees the red cat")


def tokenizers(kind: str) -> tuple[Tokenizer, Tokenizer]:
    config = DataConfig(tokenizer=kind, src_lang="en", tgt_lang="en", vocab_size=300)
    return build_tokenizers(config, list(SENTENCES) * 3, list(SENTENCES) * 3)


def sample(kind: str = "words") -> Sample:
    source, target = tokenizers(kind)
    return written_sample([Example(text, text) for text in SENTENCES], source, target, 99)


def test_words_get_tags_relations_and_heads(nlp: Language) -> None:
    first = parse(nlp, sample().sources)[0]
    assert first.tags == ("DET", "ADJ", "NOUN", "VERB", "DET", "NOUN", "")
    assert first.relations == ("det", "amod", "nsubj", "", "det", "obj", "")
    assert first.heads == (2, 2, 3, -1, 5, 3, -1)
    assert parse(nlp, [tokenizers("words")[0].encode("")]) == [Parsed(("",), ("",), (-1,))]


def to_head(parsed: Parsed):
    """A head that knows grammar: each word looks at the one that it depends on, the others at <eos>."""
    return lambda q, n: one_hot(parsed.heads[q] if parsed.heads[q] >= 0 else n - 1, n)


def planted(parsed: list[Parsed]) -> list[Observed]:
    return [
        observed(len(p.tags), 4, encoder=(to_head(p), HEADS["next"], HEADS["uniform"]), cross=(HEADS["first"],))
        for p in parsed
    ]


def test_a_head_that_knows_grammar_differs_from_one_with_a_fixed_distance(nlp: Language) -> None:
    few = parse(nlp, sample().sources)
    assert by_relation(planted(few), few).clear("det") == [], "few words show no relation"
    parsed = few * 10
    found = by_relation(planted(parsed), parsed)
    assert found.rows == {"det": 60, "amod": 20, "nsubj": 30, "obj": 30}
    assert all(found.accuracy[relation][0, 0] == 1.0 for relation in found.rows)
    # det: one word away in 4 of 6 words per round, two away before an adjective.
    assert found.offset["det"] == (1, pytest.approx(4 / 6))
    assert found.accuracy["det"][0, 1] == pytest.approx(4 / 6), "'always the next word' scores what the baseline scores"
    assert found.clear("det") == [(0, 0)]
    assert found.clear("amod") == [], "where a fixed distance is always right, no head can beat it"
    assert found.weight["det"][0, 0] == 1.0
    assert "det" in syntax.relation_sentence(found)
    row = syntax.relation_rows(found)[0]
    assert (row["relation"], row["best head"], row["best distance"]) == ("det", "L1 H1", "+1")


def test_noise_is_not_called_above_uniform_attention(nlp: Language) -> None:
    parsed = parse(nlp, sample().sources) * 10
    tags = [sentence.tags for sentence in parsed]
    claims = []
    for seed in range(10):
        rng = np.random.default_rng(seed)

        def noise(_: int, n: int, rng: np.random.Generator = rng) -> np.ndarray:
            return rng.dirichlet(np.ones(n)).astype(np.float32)

        items = [observed(len(p.tags), 4, encoder=(noise,) * 8) for p in parsed]
        claims.append(syntax.tag_sentence(by_tag(items, tags, "encoder")))
    said = "No head is above uniform attention on any part of speech, beyond chance in 32 comparisons."
    assert claims.count(said) >= 8, "of ten samples, more than two by chance alone would be too many"


def test_weight_by_part_of_speech(nlp: Language) -> None:
    parsed = parse(nlp, sample().sources)
    found = by_tag(planted(parsed), [sentence.tags for sentence in parsed], "encoder")
    expected = np.mean([sum(tag == "NOUN" for tag in p.tags) / len(p.tags) for p in parsed])
    assert found.uniform["NOUN"] == pytest.approx(expected)
    assert found.mean["NOUN"][0, 2] == pytest.approx(expected)
    assert found.sentences == {"DET": 3, "ADJ": 2, "NOUN": 3, "VERB": 3}
    by_hand = np.mean([np.mean([h >= 0 and p.tags[h] == "NOUN" for h in p.heads]) for p in parsed])
    assert found.mean["NOUN"][0, 0] == pytest.approx(by_hand)
    cross = by_tag(planted(parsed), [sentence.tags for sentence in parsed], "cross")
    assert cross.mean["DET"][0, 0] == 1.0
    rows = syntax.tag_rows(cross)
    assert rows[0]["head"] == "uniform"
    assert rows[1]["DET"] == 1.0
    own = next(row for row in syntax.head_tag_rows(cross, 0, 0) if row["kind of word"] == "DET")
    low, high = (f"{float(end):+.2f}".replace("-", "−") for end in cross.gain["DET"].at(0, 0)[1:])
    assert (own["weight"], own["sentences"]) == ("1.00", 3)
    assert own["above uniform"].endswith(f"({low} to {high})")
    assert syntax.tag_sentence(cross).startswith("No head is above"), "three sentences show nothing"
    many = parsed * 10
    clear = syntax.tag_sentence(by_tag(planted(many), [sentence.tags for sentence in many], "cross"))
    assert clear.startswith("Most clearly above uniform attention, of 4 heads and parts of speech: L1 H1 on DET (")
    assert "The interval holds for all 4 at once." in clear
    with pytest.raises(ValueError, match="target words"):
        by_tag(planted(parsed), [sentence.tags for sentence in parsed], "decoder")


@pytest.mark.parametrize(
    ("lang", "wanted", "words"),
    [
        ("en", "function", ("The", "can’t")),
        ("en", "content", ("dog", "der")),
        ("de", "function", ("unter", "Unter")),
        ("de", "content", ("Hund", "42")),
        ("de", "punctuation", ("...",)),
        ("fr", "function", ("elle",)),
    ],
)
def test_the_class_of_a_word(lang: str, wanted: str, words: tuple[str, ...]) -> None:
    assert {word_class(word, lang) for word in words} == {wanted}
