"""Text to ids and back: exactness, offsets, specials, hostile input and hostile files."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.config import EOS, PAD, SOS, SPECIALS, UNK
from model.text.pieces import TokenizerError, is_marked
from model.text.subwords import SubwordTokenizer
from model.text.tokenizer import CharacterTokenizer, Tokenizer, WhitespaceTokenizer, WordTokenizer
from model.text.tokenizer_kinds import tokenizer_from_dict, tokenizers_from_dict, tokenizers_to_dict
from tests.paths import ROOT

SUBWORDS = SubwordTokenizer.train(["two young children don't like playing football in the park"] * 3, lang="en")
KINDS: dict[str, Callable[..., Tokenizer]] = {
    "words": partial(WordTokenizer.train, lang="en"),
    "characters": CharacterTokenizer.train,
    "whitespace": WhitespaceTokenizer.train,
    "subwords": lambda texts, **options: SubwordTokenizer(SUBWORDS.merges, lang="en", **options),
}
every_kind = pytest.mark.parametrize("kind", KINDS)

AWKWARD = (
    *("j'aime les chats", "I don't like pizza.", "मुझे पिज़्ज़ा पसंद है।", "two  spaces", " leading", "trailing ", "  both  "),
    *("a\ttab", "no-break\u00a0space", "mixed \u00a0\t gap", "two\nlines\r\n", "", " ", "   ", "\x00\x01 \x1f\x7f"),
    *(
        "family 👨‍👩‍👧‍👦 and flag 🇩🇪",
        "e\u0301 and \u0301alone",
        "שלום עולם",
        "مرحبا بالعالم",
        "我喜欢红色的书。",
        " 我  我 我",
    ),
    *("<eos> <pad>a<unk> <sos>", "<0xC3> <eos>", "▁ Ġ ▁word ##ing @@ </w>", "</script><img src=x onerror=alert(1)>"),
    *("z. B. um 10 Uhr", "zero\u200bwidth", "İstanbul'da", "İİ x İ我"),
)
# The same cut into words, spaces and punctuation, and glued otherwise.
PARTS = [part for sentence in AWKWARD for part in re.split(r"(\W)", sentence)]
text = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PARTS), max_size=15).map("".join))


def comes_back(tokenizer: Tokenizer, sentence: str) -> None:
    encoding = tokenizer.encode(sentence)
    assert tokenizer.decode(encoding.ids) == sentence
    assert tokenizer.words_of(encoding.ids) == encoding.words


@every_kind
@given(sentence=text)
def test_any_text_comes_back(kind: str, sentence: str) -> None:
    comes_back(KINDS[kind]([sentence]), sentence)
    lowered = KINDS[kind]([sentence], lowercase=True)
    back = lowered.decode(lowered.encode(sentence).ids)
    assert back in ("".join(c.lower() for c in sentence), sentence.lower())


@pytest.mark.parametrize("lang", ["de", "fr", "hi", "zh", "ar", "xx"])
@settings(max_examples=25)
@given(sentence=text)
def test_words_come_back_in_every_language(lang: str, sentence: str) -> None:
    comes_back(WordTokenizer.train([sentence], lang=lang), sentence)


@every_kind
@pytest.mark.parametrize("lowercase", [False, True])
@given(sentence=text, known=text)
@example(sentence="İİ İx I", known="i")
def test_offsets_words_and_ids_are_consistent(kind: str, lowercase: bool, sentence: str, known: str) -> None:
    tokenizer = KINDS[kind]([known], lowercase=lowercase)
    encoding = tokenizer.encode(sentence)
    assert len(encoding.ids) == len(encoding.tokens) == len(encoding.offsets) == len(encoding.words) == len(encoding)
    assert all(i == UNK or len(SPECIALS) <= i < len(tokenizer) for i in encoding.ids)
    assert encoding.unknown == tuple(i == UNK for i in encoding.ids)
    covered: set[int] = set()
    for i, (start, end), token in zip(encoding.ids, encoding.offsets, encoding.tokens, strict=True):
        assert 0 <= start < end <= len(sentence)
        assert token
        covered.update(range(start, end))
        if i != UNK and kind != "subwords":  # which may be bytes
            piece = tokenizer.piece(i)
            surface = sentence[start:end]
            spelling = piece[1:] if is_marked(piece) else piece
            assert spelling == surface or (lowercase and (spelling == surface.lower() or spelling in surface.lower()))
    assert all(c == " " for k, c in enumerate(sentence) if k not in covered)
    assert list(encoding.offsets) == sorted(encoding.offsets)
    assert list(encoding.words) == sorted(encoding.words)
    assert set(encoding.words) == set(range(len(set(encoding.words))))
    assert kind != "subwords" or UNK not in encoding.ids


@every_kind
def test_specials_are_labelled_skipped_and_never_what_was_typed(kind: str) -> None:
    typed = " ".join(SPECIALS)
    tokenizer = KINDS[kind]([typed, "".join(SPECIALS), *SPECIALS])
    assert [tokenizer.label(i) for i in range(4)] == list(SPECIALS)
    ids = tokenizer.encode(typed).ids
    assert min(ids) >= len(SPECIALS)
    assert tokenizer.decode([SOS, *ids, EOS, PAD]) == typed
    words = tokenizer.words_of([SOS, *ids, EOS, PAD])
    assert (words[0], words[-2:]) == (-1, (-1, -1))
    assert min(KINDS[kind](["x"]).encode(typed).ids) >= UNK


@every_kind
def test_awkward_text_comes_back_and_so_does_a_stored_tokenizer(kind: str) -> None:
    tokenizer = KINDS[kind](AWKWARD, lowercase=True)
    again = tokenizer_from_dict(json.loads(json.dumps(tokenizer.to_dict())))
    assert again == tokenizer
    assert type(again) is type(tokenizer)
    for sentence in (*AWKWARD, "a \ud800 b"):
        assert again.encode(sentence) == tokenizer.encode(sentence)
    for sentence in AWKWARD:
        comes_back(KINDS[kind]([sentence]), sentence)


@pytest.mark.parametrize(
    ("character", "label"),
    [
        (" ", "␣"),
        ("\t", "⇥"),
        ("\n", "↵"),
        ("\u00a0", "⍽"),
        ("\x00", "␀"),
        ("\u0301", "◌\u0301"),
        ("\u200d", "U+200D"),
        ("\u2003", "U+2003"),
        ("\x7f", "U+007F"),
        ("a", "a"),
    ],
)
def test_invisible_characters_are_labelled(character: str, label: str) -> None:
    tokenizer = CharacterTokenizer.train([character])
    assert tokenizer.encode(character).tokens == (label,)
    assert tokenizer.label(len(SPECIALS)) == label


def test_rare_words_become_unknown_and_frequencies_are_kept() -> None:
    tokenizer = WordTokenizer.train(["a b", "a c", "a b"], lang="en", min_frequency=2)
    assert [tokenizer.label(i) for i in range(4, len(tokenizer))] == ["a", "b"]
    assert tokenizer.counts == (3, 2)
    assert tokenizer.encode("b c").ids == (5, UNK)


@pytest.mark.parametrize("bad_id", [-1, 10_000])
def test_ids_outside_the_vocabulary_are_refused(bad_id: int) -> None:
    tokenizer = CharacterTokenizer.train(["ab"])
    with pytest.raises(TokenizerError, match="outside this vocabulary of 6 ids"):
        tokenizer.decode([bad_id])
    with pytest.raises(TokenizerError, match="outside"):
        tokenizer.label(bad_id)


GOOD = CharacterTokenizer.train(["ab"]).to_dict()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "word"}, "Did you mean 'words'"),
        ({"kind": None}, "no kind of tokenizer"),
        ({"kind": ["words"]}, "no kind of tokenizer"),
        ({"pieces": "ab"}, "wrong at 'pieces': expected `array`"),
        ({"pieces": ["a", ""]}, "expected `str` of length >= 1"),
        ({"pieces": ["a", "b" * 5001]}, "expected `str` of length <= 5000"),
        ({"pieces": ["a", "a"]}, "'a' twice among its pieces"),
        ({"counts": [1]}, "1 'counts' for 2 pieces"),
        ({"counts": [1, -1]}, "expected `int` >= 0"),
        ({"lang": "../../etc"}, "language code"),
        ({"extra": 1}, "unknown field `extra`"),
    ],
)
def test_hostile_json_gets_a_message(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(TokenizerError, match=sentence):
        tokenizer_from_dict({**GOOD, **change})


@pytest.mark.parametrize("path", sorted((ROOT / "checkpoints").glob("*/tokenizer.json")), ids=lambda p: p.parent.name)
def test_shipped_files_are_written_as_they_were_read(path: Path) -> None:
    stored = json.loads(path.read_bytes())
    assert json.dumps(tokenizers_to_dict(*tokenizers_from_dict(stored))) == json.dumps(stored)


def test_hostile_folder_files_get_a_message() -> None:
    with pytest.raises(TokenizerError, match="missing required field `pieces`"):
        tokenizer_from_dict({k: v for k, v in GOOD.items() if k != "pieces"})
    strange: tuple[Any, ...] = (None, [], {}, {"format_version": 1}, "words")
    for values in strange:
        with pytest.raises(TokenizerError, match=r"tokenizer\.json must hold"):
            tokenizers_from_dict(values)
    with pytest.raises(TokenizerError, match="version 2"):
        tokenizers_from_dict({"format_version": 2, "source": GOOD, "target": GOOD})
    with pytest.raises(TokenizerError, match="no kind of tokenizer"):
        tokenizers_from_dict({"format_version": 1, "source": GOOD, "target": {"same_as": "elsewhere"}})
    with pytest.raises(TokenizerError, match="language code"):
        tokenizers_from_dict({"format_version": 1, "source": GOOD, "target": {"same_as": "source", "lang": "../x"}})


def test_languages_that_cannot_be_split_get_a_message() -> None:
    with pytest.raises(TokenizerError, match="cannot split words of language 'qq'"):
        WordTokenizer.train(["a"], lang="qq")
    with pytest.raises(TokenizerError, match="not a language code"):
        WordTokenizer.train(["a"], lang="English")
