"""Subwords: spaCy words segmented by byte-pair encoding, with bytes for rare characters, so that nothing is unknown.

The ``tokenizers`` library learns the merges. :class:`Merges` applies them: it keeps the marks for preceding spaces and
the offsets exact, needs no library to load a model, and draws BPE-dropout from a seed, which the library cannot. A mark
that is not merged becomes a token of its own, a space between two words; where the text has no space (at its start, or
after other whitespace) it is dropped.
"""

from __future__ import annotations

import codecs
import functools
import itertools
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, field

from model.config import SPECIALS, UNK, DataConfig
from model.text.pieces import (
    Merge,
    Piece,
    TokenizerError,
    check_merges,
    clean,
    is_marked,
    join,
    mark_spaces,
    word_spans,
)
from model.text.tokenizer import Stored, Tokenizer

N_BYTES = 256
FIRST_BYTE = len(SPECIALS)
FIRST_PIECE = FIRST_BYTE + N_BYTES
RARE_CHARACTER = 3  # a character seen less often than this is represented by its bytes
LONGEST_WORD = 100  # characters; longer words are merged in parts, because merging takes quadratic time
_MAX_NODES = 500_000  # partly merged words in the cache

Ids = tuple[int, ...]


class _Node:
    """A partly merged word, its possible next merges, and their results so far."""

    __slots__ = ("merges", "next", "symbols")

    def __init__(self, symbols: Ids, merges: list[tuple[int, int, int]]) -> None:
        self.symbols = symbols
        self.merges = merges
        self.next: list[_Node | None] = [None] * len(merges)


class Merges:
    """An alphabet and its merges in the order learned. Ids: the 256 bytes, then the alphabet, then merged pieces."""

    def __init__(self, alphabet: Sequence[str], merges: Sequence[Merge]) -> None:
        self.alphabet = tuple(alphabet)
        self.merges = tuple(merges)
        self.pieces = tuple(dict.fromkeys((*alphabet, *(left + right for left, right in merges))))
        self.ids = {piece: i for i, piece in enumerate(self.pieces, start=FIRST_PIECE)}
        self._letters = {letter: self.ids[letter] for letter in alphabet}
        # The rank of each pair of ids, and the id of their merge.
        self._table = {
            (self.ids[left], self.ids[right]): (rank, self.ids[left + right])
            for rank, (left, right) in enumerate(merges)
        }
        self._nodes: dict[Ids, _Node] = {}
        self._roots: dict[str, _Node] = {}

    def symbols(self, word: str) -> Ids:
        """A word before any merge: one id for each character of the alphabet, the UTF-8 bytes of any other."""
        ids: list[int] = []
        for character in word:
            letter = self._letters.get(character)
            if letter is None:
                ids.extend(FIRST_BYTE + byte for byte in character.encode("utf-8"))
            else:
                ids.append(letter)
        return tuple(ids)

    def apply(self, word: str) -> Ids:
        """The word's ids after all merges; each time the earliest learned merge applies, at its leftmost position."""
        if len(word) > LONGEST_WORD:
            return tuple(i for part in _parts(word) for i in self.apply(part))
        symbols = self.symbols(word)
        while options := self._options(symbols):
            symbols = _merged(symbols, options[0])
        return symbols

    def apply_dropout(self, word: str, dropout: float, rng: random.Random) -> Ids:
        """The word's ids under BPE-dropout: each possible merge is skipped with probability `dropout` at every step.

        The merges of each partly merged word are cached, so that common words cost little; the ids depend on `rng`
        alone. Source: Provilkov et al. 2020, §3.1.
        """
        if len(word) > LONGEST_WORD:
            return tuple(i for part in _parts(word) for i in self.apply_dropout(part, dropout, rng))
        node = self._roots.get(word)
        if node is None:
            node = self._roots[word] = self._node(self.symbols(word))
        draw = rng.random
        while True:
            for n, merged in enumerate(node.next):
                if draw() >= dropout:
                    if merged is None:
                        merged = node.next[n] = self._node(_merged(node.symbols, node.merges[n]))
                    node = merged
                    break
            else:
                return node.symbols

    def _node(self, symbols: Ids) -> _Node:
        """The node of these symbols, created if it is new; a full cache is cleared first."""
        if len(self._nodes) >= _MAX_NODES:
            self._nodes.clear()
            self._roots.clear()
        node = self._nodes.get(symbols)
        if node is None:
            node = self._nodes[symbols] = _Node(symbols, self._options(symbols))
        return node

    def _options(self, symbols: Ids) -> list[tuple[int, int, int]]:
        """The possible merges in the order in which they are tried: (rank, position, merged id)."""
        options = []
        for position, pair in enumerate(itertools.pairwise(symbols)):
            merge = self._table.get(pair)
            if merge is not None:
                options.append((merge[0], position, merge[1]))
        options.sort()
        return options


def _merged(symbols: Ids, merge: tuple[int, int, int]) -> Ids:
    _, position, merged = merge
    return (*symbols[:position], merged, *symbols[position + 2 :])


def _parts(word: str) -> list[str]:
    return [word[start : start + LONGEST_WORD] for start in range(0, len(word), LONGEST_WORD)]


def learn_merges(words: Mapping[str, int], vocab_size: int) -> Merges:
    """Learn merges from words and their counts until there are `vocab_size` ids, specials and bytes included.

    Source: Sennrich et al. 2016, §3.2, as implemented by the ``tokenizers`` library.

    Raises:
        TokenizerError: `vocab_size` has no room for the alphabet.
    """
    from tokenizers import Tokenizer as Library
    from tokenizers.models import BPE
    from tokenizers.trainers import BpeTrainer

    characters: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            characters[character] += count
    alphabet = sorted({" ", *(c for c, n in characters.items() if n >= RARE_CHARACTER)})
    if FIRST_PIECE + len(alphabet) > vocab_size:
        raise TokenizerError(
            "vocab_size={vocab_size} has no room for {reserved} specials and bytes and {alphabet} different "
            "characters; set it to {needed} or more.",
            vocab_size=vocab_size,
            reserved=FIRST_PIECE,
            alphabet=len(alphabet),
            needed=FIRST_PIECE + len(alphabet),
        )
    library = Library(BPE())
    trainer = BpeTrainer(
        vocab_size=vocab_size - FIRST_PIECE, initial_alphabet=alphabet, min_frequency=2, show_progress=False
    )
    letters = set(alphabet)
    repeated = (word for word, n in sorted(words.items()) if letters.issuperset(word) for _ in range(n))
    library.train_from_iterator(repeated, trainer)
    merges = json.loads(library.to_str())["model"]["merges"]
    return Merges(alphabet, [(left, right) for left, right in merges])


_WORD_CACHE = 1 << 16
_BYTE_KEY = 0xDC00  # the key of a byte is a lone surrogate, which no text contains


class _Stored(Stored):
    pieces: list[Annotated[str, Meta(min_length=1, max_length=1)]] = field(name="alphabet")
    merges: list[Merge]


class SubwordTokenizer(Tokenizer):
    """Pieces of spaCy words. Ids: `SPECIALS`, the 256 bytes, the alphabet, then merged pieces."""

    kind = "subwords"
    stored = _Stored

    def __init__(
        self, merges: Merges, counts: Sequence[int] = (), *, lang: str = "xx", lowercase: bool = False
    ) -> None:
        pieces = (*(f"<0x{byte:02X}>" for byte in range(N_BYTES)), *merges.pieces)
        super().__init__(pieces, counts or (0,) * len(pieces), lang=lang, lowercase=lowercase)
        self.merges = merges
        self._ids = {chr(_BYTE_KEY + byte): FIRST_BYTE + byte for byte in range(N_BYTES)} | merges.ids
        self._subwords = functools.lru_cache(_WORD_CACHE)(merges.apply)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        lang: str = "xx",
        lowercase: bool = False,
        min_frequency: int = 1,
        vocab_size: int = 6000,
    ) -> SubwordTokenizer:
        """Learn at most `vocab_size` ids; no word is unknown, so `min_frequency` has no effect."""
        config = DataConfig(tokenizer="subwords", src_lang=lang, lowercase=lowercase, vocab_size=vocab_size)
        return train_joint(config, texts, ())[0]

    def _words(self, text: str) -> Iterator[Piece]:
        return mark_spaces(text, word_spans(text, self.lang))

    def _cut(self, text: str) -> Iterator[Piece]:
        end = 0
        for word in self._words(text):
            spaced = word.start > end  # by exactly one space; any other whitespace is a word of its own
            position = word.start - is_marked(word.key)
            bytes_left = 0
            for i in self._subwords(word.key):
                if i < FIRST_PIECE:
                    bytes_left = (bytes_left or len(text[position].encode())) - 1
                    yield Piece(chr(_BYTE_KEY + i - FIRST_BYTE), position, position + 1, word.word)
                    position += bytes_left == 0
                    continue
                key = self.merges.pieces[i - FIRST_PIECE]
                start, position = position, position + len(key)
                if position > word.start:
                    yield Piece(key, max(start, word.start), position, word.word)
                elif spaced:
                    yield Piece(key, start, position, word.word)
            end = word.end

    def _texts(self, ids: Iterable[int], unknown: str) -> Iterator[str]:
        return join(self._spellings(ids, unknown))

    def _spellings(self, ids: Iterable[int], unknown: str) -> Iterator[str]:
        """The text of each id before spaces are resolved; a byte adds nothing until its character is complete."""
        for is_byte, run in itertools.groupby(ids, lambda i: FIRST_BYTE <= i < FIRST_PIECE):
            if not is_byte:
                yield from (self._spelling(i, unknown) for i in run)
                continue
            decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
            values = [i - FIRST_BYTE for i in run]
            for n, value in enumerate(values, start=1):
                yield decoder.decode(bytes([value]), final=n == len(values))

    def words_of(self, ids: Sequence[int]) -> tuple[int, ...]:
        """See :meth:`Tokenizer.words_of`; a word is a spaCy word of the text that the ids spell."""
        texts = list(self._texts(ids, "\ufffd"))
        decoded = "".join(texts)
        word_at = [0] * (len(decoded) + 1)  # the word of each character; the space before a word belongs to it
        end = last = 0
        for word in self._words(decoded):
            word_at[end : word.end] = [word.word] * (word.end - end)
            end, last = word.end, word.word
        word_at[end:] = [last] * (len(word_at) - end)
        starts = itertools.accumulate(map(len, texts), initial=0)
        return tuple(
            -1 if i < UNK else word_at[start + (len(text) > 1 and text[0] == " ")]
            for i, text, start in zip(ids, texts, starts, strict=False)
        )

    def keys(self, text: str) -> tuple[str, ...]:
        """The words of `text` in the form that :meth:`encode_with_dropout` takes, so that spaCy runs only once."""
        text = clean(text)
        return tuple(word.key for word in self._words(text.lower() if self.lowercase else text))

    def encode_with_dropout(self, keys: Iterable[str], dropout: float, rng: random.Random) -> Ids:
        """The ids of a text whose words are `keys`, with BPE-dropout; with `dropout` 0 the ids of :meth:`encode`."""
        ids: list[int] = []
        no_space = True  # at the start and after whitespace, a mark that is not merged is dropped
        for key in keys:
            word = self.merges.apply_dropout(key, dropout, rng)
            bare_mark = is_marked(key) and no_space and word[0] == self.merges.ids[" "]
            ids.extend(word[1:] if bare_mark else word)
            no_space = key.isspace()
        return tuple(ids)

    def to_dict(self) -> dict[str, Any]:
        """JSON values; the pieces follow from alphabet and merges."""
        return {
            "kind": self.kind,
            "lang": self.lang,
            "lowercase": self.lowercase,
            "alphabet": list(self.merges.alphabet),
            "merges": [list(merge) for merge in self.merges.merges],
            "counts": list(self.counts),
        }

    @classmethod
    def _restored(cls, stored: _Stored) -> SubwordTokenizer:
        if " " not in stored.pieces:
            raise TokenizerError("the tokenizer's 'alphabet' must have the space among its characters.")
        check_merges(stored.merges, stored.pieces)
        merges = Merges(stored.pieces, stored.merges)
        return cls(merges, stored.counts, lang=stored.lang, lowercase=stored.lowercase)


def train_joint(
    config: DataConfig, sources: Iterable[str], targets: Iterable[str]
) -> tuple[SubwordTokenizer, SubwordTokenizer]:
    """Train a source and a target tokenizer with one vocabulary, learned from both sides.

    Raises:
        TokenizerError: `config.vocab_size` has no room for the alphabet.
    """
    words: Counter[str] = Counter()
    for texts, lang in ((sources, config.src_lang), (targets, config.tgt_lang)):
        cutter = SubwordTokenizer(Merges([" "], ()), lang=lang, lowercase=config.lowercase)
        words.update(key for text in texts for key in cutter.keys(text))
    merges = learn_merges(words, config.vocab_size)
    counts = [0] * (N_BYTES + len(merges.pieces))
    for word, n in words.items():
        for i in merges.apply(word):
            counts[i - FIRST_BYTE] += n
    source = SubwordTokenizer(merges, counts, lang=config.src_lang, lowercase=config.lowercase)
    same = config.src_lang == config.tgt_lang
    return source, source if same else source.with_lang(config.tgt_lang)
