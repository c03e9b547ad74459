"""Text to ids and back: exactness, offsets, specials, hostile input and hostile files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.config import EOS, PAD, SOS, SPECIALS, UNK, DataConfig
from model.text.pieces import TokenizerError, is_marked
from model.text.tokenizer import CharacterTokenizer, Tokenizer, WhitespaceTokenizer, WordTokenizer
from model.text.tokenizer_kinds import build_tokenizers, tokenizer_from_dict, tokenizers_from_dict, tokenizers_to_dict
from tests.paths import ROOT

KINDS = (WordTokenizer, CharacterTokenizer, WhitespaceTokenizer)

AWKWARD = (
    "j'aime les chats",
    "I don't like pizza.",
    "मुझे पिज़्ज़ा पसंद है।",
    "two  spaces",
    " leading",
    "trailing ",
    "  both  ",
    "a\ttab",
    "no-break\u00a0space",
    "mixed \u00a0\t gap",
    "two\nlines\r\n",
    "",
    " ",
    "   ",
    "\x00\x01 \x1f\x7f",
    "family 👨‍👩‍👧‍👦 and flag 🇩🇪",
    "e\u0301 and \u0301alone",
    "שלום עולם",
    "مرحبا بالعالم",
    "我喜欢红色的书。",
    "<eos> <pad>a<unk> <sos>",
    "▁ Ġ ▁word ##ing @@ </w>",
    "</script><img src=x onerror=alert(1)>",
    "z. B. um 10 Uhr",
    "zero\u200bwidth",
    "İstanbul'da",
)

any_text = st.text(max_size=60)
# Text as people type it: words of several scripts, glued with every kind of whitespace and punctuation.
typed_text = st.lists(
    st.sampled_from(
        [
            "don't",
            "I",
            "j'aime",
            "है।",
            "z.B.",
            "😀",
            "e\u0301",
            "<eos>",
            "İ",
            "ß",
            "▁",
            ".",
            ",",
            "(",
            "'",
            " ",
            "  ",
            "\t",
            "\u00a0",
            "\n",
        ]
    ),
    max_size=15,
).map("".join)
text = st.one_of(any_text, typed_text)


@pytest.mark.parametrize("cls", KINDS)
@pytest.mark.parametrize("sentence", AWKWARD)
def test_awkward_text_comes_back(cls: type[Tokenizer], sentence: str) -> None:
    tokenizer = cls.train([sentence], lang="en")
    assert tokenizer.decode(tokenizer.encode(sentence).ids) == sentence


@pytest.mark.parametrize("lang", ["en", "de", "fr", "hi", "zh", "ar", "xx"])
@settings(max_examples=25, deadline=None)
@given(sentence=text)
@example(sentence="a  b")
def test_words_come_back_in_every_language(lang: str, sentence: str) -> None:
    tokenizer = WordTokenizer.train([sentence], lang=lang)
    assert tokenizer.decode(tokenizer.encode(sentence).ids) == sentence


@pytest.mark.parametrize("cls", [CharacterTokenizer, WhitespaceTokenizer])
@given(sentence=text)
def test_characters_and_whitespace_come_back(cls: type[Tokenizer], sentence: str) -> None:
    tokenizer = cls.train([sentence])
    assert tokenizer.decode(tokenizer.encode(sentence).ids) == sentence


@pytest.mark.parametrize("cls", KINDS)
@settings(deadline=None)
@given(sentence=text)
@example(sentence="İİ İx")
def test_lowercased_text_comes_back_lowercased(cls: type[Tokenizer], sentence: str) -> None:
    tokenizer = cls.train([sentence], lang="en", lowercase=True)
    back = tokenizer.decode(tokenizer.encode(sentence).ids)
    assert back == "".join(c.lower() for c in sentence) or back == sentence.lower()


@pytest.mark.parametrize("cls", KINDS)
@pytest.mark.parametrize("lowercase", [False, True])
@settings(deadline=None)
@given(sentence=text, known=text)
@example(sentence="İİ İx I", known="i")
def test_offsets_words_and_ids_are_consistent(cls: type[Tokenizer], lowercase: bool, sentence: str, known: str) -> None:
    tokenizer = cls.train([known], lang="en", lowercase=lowercase)
    encoding = tokenizer.encode(sentence)
    assert len(encoding.ids) == len(encoding.tokens) == len(encoding.offsets) == len(encoding.words) == len(encoding)
    assert all(i == UNK or len(SPECIALS) <= i < len(tokenizer) for i in encoding.ids)
    covered = set()
    for i, (start, end), token in zip(encoding.ids, encoding.offsets, encoding.tokens, strict=True):
        assert 0 <= start < end <= len(sentence)
        assert token
        covered.update(range(start, end))
        if i != UNK:
            piece = tokenizer.piece(i)
            surface = sentence[start:end]
            spelling = piece[1:] if is_marked(piece) else piece
            assert spelling == surface or (lowercase and (spelling == surface.lower() or spelling in surface.lower()))
    missed = [c for k, c in enumerate(sentence) if k not in covered]
    assert all(c == " " for c in missed)
    assert list(encoding.offsets) == sorted(encoding.offsets)
    assert list(encoding.words) == sorted(encoding.words)
    assert set(encoding.words) == set(range(len(set(encoding.words))))


@pytest.mark.parametrize("cls", KINDS)
@settings(deadline=None)
@given(sentence=typed_text)
def test_encoding_what_was_decoded_gives_the_same_ids(cls: type[Tokenizer], sentence: str) -> None:
    tokenizer = cls.train([sentence], lang="en")
    ids = tokenizer.encode(sentence).ids
    assert tokenizer.encode(tokenizer.decode(ids)).ids == ids


def test_words_split_clitics_and_punctuation_and_know_their_place() -> None:
    tokenizer = WordTokenizer.train(["I don't like pizza."], lang="en")
    encoding = tokenizer.encode("I don't  like pizza.")
    assert encoding.tokens == ("I", "do", "n't", "␣", "␣", "like", "pizza", ".")
    assert encoding.offsets[1:3] == ((2, 4), (4, 7))
    assert encoding.unknown == (False, False, False, True, True, False, False, False)
    assert encoding.words == tuple(range(8))


def test_a_word_after_a_tab_or_at_the_start_is_the_known_word() -> None:
    tokenizer = WordTokenizer.train(["we like books"], lang="en")
    assert not any(tokenizer.encode("books like we").unknown)
    assert tokenizer.encode("we\tlike").unknown == (False, True, False)
    assert tokenizer.encode("welike").unknown == (True,)


def test_unknown_words_are_shown_as_typed_and_decoded_as_unknown() -> None:
    tokenizer = WordTokenizer.train(["i like books"], lang="en", lowercase=True)
    encoding = tokenizer.encode("I like Zebras, İ")
    assert encoding.tokens == ("i", "like", "Zebras", ",", "İ")
    assert encoding.unknown == (False, False, True, True, True)
    assert tokenizer.decode(encoding.ids[:3]) == "i like <unk>"
    assert tokenizer.decode(encoding.ids[:3], unknown="") == "i like"
    assert tokenizer.decode(encoding.ids[2:3]) == "<unk>"
    characters = CharacterTokenizer.train(["ab"])
    assert characters.decode(characters.encode("axb").ids, unknown="?") == "a?b"


@pytest.mark.parametrize("cls", KINDS)
def test_typed_specials_never_become_special_ids(cls: type[Tokenizer]) -> None:
    typed = " ".join(SPECIALS)
    tokenizer = cls.train([typed, "".join(SPECIALS), *SPECIALS], lang="en")
    assert min(tokenizer.encode(typed).ids) >= len(SPECIALS)
    assert min(tokenizer.encode("<eos>").ids) >= len(SPECIALS)
    assert set(cls.train(["x"], lang="en").encode(typed).ids) <= {UNK} | set(
        cls.train(["x"], lang="en").encode("x").ids
    )


@pytest.mark.parametrize("cls", KINDS)
def test_specials_are_labelled_and_skipped(cls: type[Tokenizer]) -> None:
    tokenizer = cls.train(["a b"])
    assert [tokenizer.label(i) for i in range(4)] == list(SPECIALS)
    ids = tokenizer.encode("a b").ids
    assert tokenizer.decode([SOS, *ids, EOS, PAD]) == "a b"
    assert tokenizer.words_of([SOS, *ids, EOS])[0] == -1
    assert tokenizer.words_of([SOS, *ids, EOS, PAD])[-2:] == (-1, -1)


@pytest.mark.parametrize("cls", KINDS)
@settings(deadline=None)
@given(sentence=text)
def test_words_of_ids_are_the_words_of_the_text(cls: type[Tokenizer], sentence: str) -> None:
    tokenizer = cls.train([sentence], lang="en")
    encoding = tokenizer.encode(sentence)
    assert tokenizer.words_of(encoding.ids) == encoding.words


def test_a_lone_surrogate_is_read_as_a_replacement_character() -> None:
    for cls in KINDS:
        tokenizer = cls.train(["a b"], lang="en")
        encoding = tokenizer.encode("a \ud800 b")
        assert encoding.text == "a \ufffd b"
        assert encoding.ids.count(UNK) == 1
        assert [encoding.text[s:e] for s, e in encoding.offsets][-1] == "b"


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
        ("。", "。"),
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


@pytest.mark.parametrize("cls", KINDS)
def test_json_round_trip(cls: type[Tokenizer]) -> None:
    tokenizer = cls.train(AWKWARD, lang="fr", lowercase=True)
    again = tokenizer_from_dict(json.loads(json.dumps(tokenizer.to_dict())))
    assert again == tokenizer
    assert type(again) is cls
    assert again.encode(AWKWARD[0]) == tokenizer.encode(AWKWARD[0])


def test_the_folder_format_writes_one_vocabulary_once() -> None:
    config = DataConfig(tokenizer="characters")
    source, target = build_tokenizers(config, ["ab"], ["ab"])
    values = json.loads(json.dumps(tokenizers_to_dict(source, target)))
    assert values["target"] == {"same_as": "source", "lang": "en"}
    assert tokenizers_from_dict({**values, "target": {"same_as": "source"}}) == (source, target)
    again = tokenizers_from_dict(values)
    assert again == (source, target)
    assert again[0] is again[1]
    other = build_tokenizers(DataConfig(tgt_lang="de"), ["a book"], ["ein Buch"])
    assert other[1].lang == "de"
    assert tokenizers_from_dict(json.loads(json.dumps(tokenizers_to_dict(*other)))) == other


GOOD = CharacterTokenizer.train(["ab"]).to_dict()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "word"}, "did you mean 'words'"),
        ({"kind": None}, "no kind of tokenizer"),
        ({"kind": ["words"]}, "no kind of tokenizer"),
        ({"pieces": "ab"}, "wrong at 'pieces': expected `array`"),
        ({"pieces": ["a", ""]}, "expected `str` of length >= 1"),
        ({"pieces": ["a", 1]}, "expected `str`, got `int`"),
        ({"pieces": ["a", "b" * 5001]}, "expected `str` of length <= 5000"),
        ({"pieces": ["a", "a"]}, "'a' twice among its pieces"),
        ({"counts": [1]}, "1 'counts' for 2 pieces"),
        ({"counts": [1, -1]}, "expected `int` >= 0"),
        ({"counts": [1, True]}, "expected `int`, got `bool`"),
        ({"counts": {"a": 1}}, "wrong at 'counts': expected `array`"),
        ({"lang": "../../etc"}, "language code"),
        ({"lang": 3}, "wrong at 'lang': expected `str`"),
        ({"lowercase": "yes"}, "wrong at 'lowercase': expected `bool`"),
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
    for values in (None, [], {}, {"format_version": 1}, "words"):
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


def test_five_thousand_words_are_encoded() -> None:
    tokenizer = WordTokenizer.train(["word"], lang="en")
    assert len(tokenizer.encode("word " * 4999 + "word")) == 5000
