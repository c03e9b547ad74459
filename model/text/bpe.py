"""Byte-pair encoding: learning a ranked list of merges, and applying it to words."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence

from model.config import SPECIALS
from model.text.pieces import TokenizerError

N_BYTES = 256
FIRST_BYTE = len(SPECIALS)
FIRST_PIECE = FIRST_BYTE + N_BYTES
RARE_CHARACTER = 3  # a character seen less often than this is represented by its bytes
LONGEST_WORD = 100  # characters; longer words are merged in parts, because merging takes quadratic time
_MEMORY = 500_000  # partly merged words in the cache

Ids = tuple[int, ...]
Merge = tuple[str, str]


class _Node:
    """A partly merged word, and the results of one more merge as far as they have come up."""

    __slots__ = ("merges", "next", "symbols")

    def __init__(self, symbols: Ids, merges: list[tuple[int, int, int]]) -> None:
        self.symbols = symbols
        self.merges = merges
        self.next: list[_Node | None] = [None] * len(merges)


class Merges:
    """An alphabet and its merges in the order learned. Ids: the 256 bytes, the alphabet, the results of merges."""

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

        (Provilkov et al. 2020, §3.1.) The merges of each partly merged word are cached, so that common words cost
        little; the ids depend on `rng` alone.
        """
        if len(word) > LONGEST_WORD:
            return tuple(i for part in _parts(word) for i in self.apply_dropout(part, dropout, rng))
        node = self._roots.get(word)
        if node is None:
            node = self._roots[word] = self._node(self.symbols(word))
        draw = rng.random
        while True:
            for n, following in enumerate(node.next):
                if draw() >= dropout:
                    if following is None:
                        following = node.next[n] = self._node(_merged(node.symbols, node.merges[n]))
                    node = following
                    break
            else:
                return node.symbols

    def _node(self, symbols: Ids) -> _Node:
        """The node of these symbols, created if it is new; a full cache is cleared first."""
        if len(self._nodes) >= _MEMORY:
            self._nodes.clear()
            self._roots.clear()
        node = self._nodes.get(symbols)
        if node is None:
            node = self._nodes[symbols] = _Node(symbols, self._options(symbols))
        return node

    def _options(self, symbols: Ids) -> list[tuple[int, int, int]]:
        """The possible merges in the order in which they are tried: (rank, position, merged id)."""
        options = []
        for place, pair in enumerate(itertools.pairwise(symbols)):
            merge = self._table.get(pair)
            if merge is not None:
                options.append((merge[0], place, merge[1]))
        options.sort()
        return options


def _merged(symbols: Ids, merge: tuple[int, int, int]) -> Ids:
    _, place, merged = merge
    return (*symbols[:place], merged, *symbols[place + 2 :])


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
            f"vocab_size={vocab_size} has no room for {FIRST_PIECE} specials and bytes and {len(alphabet)} different "
            f"characters; set it to {FIRST_PIECE + len(alphabet)} or more."
        )
    library = Library(BPE())
    trainer = BpeTrainer(
        vocab_size=vocab_size - FIRST_PIECE, initial_alphabet=alphabet, min_frequency=2, show_progress=False
    )
    known = set(alphabet)
    repeated = (word for word, n in sorted(words.items()) if known.issuperset(word) for _ in range(n))
    library.train_from_iterator(repeated, trainer)
    merges = json.loads(library.to_str())["model"]["merges"]
    return Merges(alphabet, [(left, right) for left, right in merges])
