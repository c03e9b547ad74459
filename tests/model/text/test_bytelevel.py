"""Byte-level BPE equals that of `transformers` on strange strings, offsets included; descriptions are distrusted."""

from typing import Any

import pytest

from model.config import EOS, SOS, UNK
from model.importing.reading import read_translator
from model.importing.source_folder import SourceFolder
from model.text.bytelevel import LETTERS, ByteLevelTokenizer
from model.text.pieces import TokenizerError
from model.text.tokenizer import Tokenizer
from model.text.tokenizer_kinds import tokenizer_from_dict
from tests.model.importing import bart_peer
from tests.model.text.test_sentencepiece import imported as imported_pieces
from tests.model.text.test_sentencepiece import strange_strings
from tests.model.text.test_sentencepiece import toy as toy_pieces

MERGES = ["Ġ a", "a b", "Ã ¤", "Ġ Ġ", "Ġ x", "Ġx x"]


def toy(**changes: Any) -> ByteLevelTokenizer:
    """Every byte, the results of `MERGES`, and two entries that no text contains."""
    pieces = ["<s>", *LETTERS.values(), *(merge.replace(" ", "") for merge in MERGES), "<mask>"]
    settings: dict[str, Any] = {"pieces": pieces, "merges": MERGES, "lang": "de", "begin": "<s>"}
    return ByteLevelTokenizer(**(settings | changes))


@pytest.mark.parametrize("prefix_space", [False, True])
def test_ids_and_offsets_are_those_of_transformers(prefix_space: bool) -> None:
    """Special tokens in the text are text here and special there, so there are none."""
    imported = read_translator(SourceFolder(bart_peer.standard())).source
    assert isinstance(imported, ByteLevelTokenizer)
    theirs = bart_peer.tokenizer(add_prefix_space=prefix_space)
    ours = ByteLevelTokenizer(imported.pieces, imported.merges, begin="<s>", prefix_space=prefix_space)
    strings = [text for text in strange_strings(1600) if text and "<" not in text][:1000]
    assert len(strings) == 1000
    names = theirs.get_vocab()
    letters = {i: name for name, i in names.items()}
    for text in strings:
        expected = theirs(text, return_offsets_mapping=True)
        encoding = ours.encode(text)
        assert [letters[i] for i in expected["input_ids"][:-1]] == [ours.pieces[i - 4] for i in encoding.ids], text
        assert [tuple(span) for span in expected["offset_mapping"][:-1]] == list(encoding.offsets), text
        assert UNK not in encoding.ids
        there = theirs.decode(expected["input_ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert there.removeprefix(" " * prefix_space) == ours.decode(encoding.ids), text
        if not prefix_space:
            assert ours.decode(encoding.ids) == text


def test_pieces_are_shown_as_text_and_bytes_by_their_number() -> None:
    tokenizer = toy()
    encoding = tokenizer.encode("ab a  ä Ã€")
    assert encoding.tokens == ("<s>", "ab", "a", "␣", "␣", "ä", "␣", "<0xC3>", "<0x83>", "<0xE2>", "<0x82>", "<0xAC>")
    assert encoding.offsets[:4] == ((0, 0), (0, 2), (3, 4), (5, 5))
    assert tokenizer.decode(encoding.ids) == "ab a  ä Ã€"
    assert tokenizer.piece(tokenizer.encode("ä").ids[1]) == "ä"
    assert tokenizer.encode("").ids == ()
    encoding = tokenizer.encode("abé a. 日本")
    assert encoding.words == (0, 1, 1, 1, 2, 3, 4, 5, 5, 5, 6, 6, 6), "no word ends inside a character"
    assert tokenizer.words_of([SOS, *encoding.ids, EOS]) == (-1, *encoding.words, -1)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lowercase": True}, "must be false"),
        ({"begin": None}, "wrong at 'begin'"),
        ({"begin": "a"}, "no special entry"),
        ({"begin": "<x>"}, "no special entry"),
        ({"merges": ["Ġ a", "Ġa xyz"]}, "merge 2"),
        ({"merges": ["Ġ Ġ a"]}, "merge 1"),
        ({"merges": ["a"]}, "merge 1"),
        ({"merges": ["x y"]}, "lacks 'xy'"),
        ({"pieces": ["a", "b"]}, "lacks '!'"),
        ({"merges": ["a" * 2**n + " " + "a" * 2**n for n in range(12)]}, "no word can hold"),
    ],
)
def test_a_damaged_description_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(TokenizerError, match=says):
        tokenizer_from_dict(toy().to_dict() | change)


@pytest.mark.parametrize("kind", ["bytes", "sentencepiece"])
def test_an_imported_tokenizer_is_stored_and_read_back_and_not_trained_here(kind: str) -> None:
    tokenizers: list[Tokenizer] = [imported_pieces(), toy_pieces(punctuation="de")]
    if kind == "bytes":
        imported = read_translator(SourceFolder(bart_peer.standard())).source
        tokenizers = [imported, toy(), toy(prefix_space=True, begin="")]
    for tokenizer in tokenizers:
        again = tokenizer_from_dict(tokenizer.to_dict())
        assert again == tokenizer
        assert again.encode("Ein Mann — “so”.") == tokenizer.encode("Ein Mann — “so”.")
        with pytest.raises(TokenizerError, match="choose subwords"):
            type(tokenizer).train(["a"])
