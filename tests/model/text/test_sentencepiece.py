"""Unigram pieces equal SentencePiece's own on strange strings, offsets included; files and folders are distrusted."""

import functools
import random
import re
from typing import Any

import msgspec
import pytest

from model.importing.reading import read_translator
from model.importing.source_folder import SourceFolder
from model.text.pieces import TokenizerError
from model.text.punctuation import normalize_punctuation
from model.text.sentencepiece import PieceModel, Segmenter, SentencePieceTokenizer, read_piece_model
from model.text.tokenizer_kinds import tokenizer_from_dict
from tests.model.importing import peer

# Alone and glued to each other: normalised, combining, invisible and joined characters of many scripts.
STRANGE = [
    *"abcdeAAAA  ..,;:'\"()éßüÅ½①ﬁ日本Ж０％…“”‘’▁><",
    *"\u3000\u00a0\t\n\u200b\ufeff\u0301\u0308\u00ad\x01\u2028\u1e9b\u0323\uac00\u1100\u1161\ufdfa",
    *("e\u0301\u0323", "😀", "👨‍👩‍👧", "🇩🇪", "ก็", "नमस्ते", "the", "young", " man", ">>fra<<", "</s>", "<unk>"),
]
PLAIN = PieceModel(("▁a", "▁", "a", "b", "aa"), (-1.0, -2.0, -1.5, -3.0, -2.5), b"", True, True)


def strange_strings(n: int) -> list[str]:
    chance = random.Random(5)
    lines = [*peer.TEXT["en"], *peer.TEXT["de"]]
    mixed = ["".join(chance.choice(STRANGE) for _ in range(chance.randint(0, 30))) for _ in range(n // 2)]
    return mixed + [
        chance.choice(lines)[chance.randint(0, 9) :] + chance.choice(STRANGE) * chance.randint(0, 4) for _ in mixed
    ]


@pytest.mark.parametrize("rule", ["nmt_nfkc", "nmt_nfkc_cf", "identity"])
def test_pieces_and_offsets_are_those_of_sentencepiece(rule: str) -> None:
    processor = peer.require("sentencepiece").SentencePieceProcessor(model_proto=peer.spm("en", rule))
    ours = Segmenter(read_piece_model(peer.spm("en", rule)))
    strings = strange_strings(1000)
    for text in strings:
        content = text.encode()
        expected = [
            (each.piece, len(content[: each.begin].decode()), len(content[: each.end].decode()))
            for each in processor.encode(text, return_type="proto").pieces
        ]
        assert list(ours.cut(text)) == expected, repr(text)
    assert len(set(strings)) > 500


@functools.cache
def imported() -> SentencePieceTokenizer:
    found = read_translator(SourceFolder(peer.standard())).source
    assert isinstance(found, SentencePieceTokenizer)
    return found


def toy(**changes: Any) -> SentencePieceTokenizer:
    settings: dict[str, Any] = {"pieces": [" a", " ", "a", "b", ">>fra<<", "."], "unigram": PLAIN, "lang": "en"}
    return SentencePieceTokenizer(**(settings | changes))


def test_a_target_label_is_one_token_at_the_beginning_only() -> None:
    tokenizer = toy()
    assert tokenizer.labels == (">>fra<<",)
    encoding = tokenizer.encode(">>fra<< a")
    assert encoding.tokens == (">>fra<<", "a")
    assert encoding.offsets == ((0, 7), (8, 9))
    assert encoding.words == (0, 1)
    assert ">>fra<<" not in tokenizer.encode("a >>fra<<").tokens
    assert tokenizer.encode(">>deu<< a").unknown == (True, False)


def test_punctuation_is_that_of_the_language_and_keeps_its_place() -> None:
    for lang in ("en", "de", "fr", "cs", "xx"):
        normalize = __import__("sacremoses").MosesPunctNormalizer(lang).normalize
        for text in strange_strings(300):
            normal, origins = normalize_punctuation(text, lang)
            assert normal == (normalize(text) if text else "")
            assert len(origins) == len(normal) + 1
            assert list(origins) == sorted(origins)
            assert all(text[at] == letter for letter, at in zip(normal, origins, strict=False) if letter.isalnum())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lowercase": True}, "must be false"),
        ({"unigram": None}, "wrong at 'unigram': expected `object`"),
        ({"unigram": {"scores": [0.0]}}, "score for each"),
        ({"unigram": {"scores": [float("nan")] * 5}}, "expected `float` >="),
        ({"unigram": {"charsmap": "%%%"}}, "wrong at 'unigram.charsmap': invalid base64"),
        ({"unigram": {"charsmap": "AAAA"}}, "damaged"),
        ({"unigram": {"pieces": ["a", "a", "b", "c", "d"]}}, "each piece once"),
        ({"unigram": {"pieces": ["x" * 300, "a", "b", "c", "d"]}}, "256"),
        ({"unigram": {"pieces": [], "scores": []}}, "expected `array` of length >= 1"),
    ],
)
def test_a_damaged_description_is_refused(change: dict[str, Any], says: str) -> None:
    values = toy().to_dict()
    if isinstance(change.get("unigram"), dict):
        change = {"unigram": values["unigram"] | change["unigram"]}
    with pytest.raises(TokenizerError, match=says):
        tokenizer_from_dict(values | change)


def test_a_file_of_another_kind_or_cut_off_is_refused_or_a_smaller_model() -> None:
    for model_type in ("char", "word"):
        with pytest.raises(TokenizerError, match="only Unigram"):
            read_piece_model(peer.spm("en", model_type=model_type), "source.spm")
    content, smaller = peer.spm("en"), 0
    for end in range(0, len(content), 97):
        try:
            smaller += len(read_piece_model(content[:end], "source.spm").pieces) > 0
        except TokenizerError as refused:
            assert re.search(r"source\.spm|SentencePiece model", str(refused))  # noqa: PT017
    assert smaller < 0.1 * len(content) / 97
    out_of_bounds = (4).to_bytes(4, "little") + (0xFFFFFC00).to_bytes(4, "little") + b"a\0"
    with pytest.raises(TokenizerError, match="damaged"):
        Segmenter(msgspec.structs.replace(PLAIN, charsmap=out_of_bounds))
