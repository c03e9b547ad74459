"""A task: sentence pairs in fixed splits, with its title and description for pages and cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from model.config import DataConfig
from model.user_error import UserError

Span = tuple[int, int]
Link = tuple[int, int]


@dataclass(frozen=True)
class WordLinks:
    """Links between the words of a pair, (source word, target word) counted from 0 (Och & Ney 2003, section 5.1).

    Words are given by the start and end of their characters. `possible` includes `sure`.
    """

    source: tuple[Span, ...]
    target: tuple[Span, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]

    def swapped(self) -> WordLinks:
        """The same pair read in the other direction."""
        sure, possible = (frozenset((j, i) for i, j in links) for links in (self.sure, self.possible))
        return WordLinks(self.target, self.source, sure, possible)


IMPORTED = "imported"
"""The task of an imported model, whose training data are unknown here."""

Alignment = tuple[tuple[int, ...], ...]


class DataError(UserError):
    """Data that cannot be obtained or read; the message says what is wrong, where, and what to do."""


class MissingCorpusError(DataError):
    """A corpus that is not on this machine and was not to be downloaded."""


@dataclass(frozen=True)
class Example:
    """One sentence pair.

    `alignment` lists, for each target token (without ``<eos>``), the positions of its source tokens, counted from 0;
    the list may be empty. It is None if there is no gold alignment. `links` are annotated links between words.
    """

    source: str
    target: str
    alignment: Alignment | None = None
    links: WordLinks | None = None


@dataclass(frozen=True)
class Prompt:
    """An example source sentence, with one line on what to look for in its attention.

    `word` is the predicted token whose step shows most; if empty, it is the step with the closest race between tokens.
    The note is shown only with a translation that confirms it: one that contains each of `says`, whose row predicting
    the first of a pair in `looks` attends most to the second, in which a head of cross-attention has `pattern`, and
    which offers the token `instead` where it predicts `word`; the page then offers to choose it there.
    """

    source: str
    note: str
    word: str = ""
    says: tuple[str, ...] = ()
    looks: tuple[tuple[str, str], ...] = ()
    pattern: str = ""
    instead: str = ""


Splits = Mapping[str, tuple[Example, ...]]


def one_group(example: Example) -> str:
    """The group of every example in a task without groups."""
    return "all"


def same_text(prediction: str, example: Example) -> bool:
    """Exact match, the measure of every task without several right answers."""
    return prediction == example.target


@dataclass(frozen=True)
class Task:
    """Sentence pairs to train and test on. `splits` is built on first use and cached.

    Every task has the splits ``train`` and ``valid``. All but ``files`` (your own data) have ``test``, and some have
    more (``long``). `group` names the group in which an example is scored, such as its length; `equivalent` decides
    whether a prediction is correct. `story` says in one sentence what a model trained on it does, `trained_on` what its
    sources are. `order_matters` is a source whose meaning changes with the order of its words. `longest` and
    `longest_words` are the largest numbers of source tokens and of words in training, or 0 if the task sets no limit.
    `complete`: whether the splits contain every possible source. If not, `is_source` (if known) decides whether a text
    is a source, and `not_a_source` is the sentence about one that is not. `confidence` is the confidence (geometric
    mean of the likeliest tokens' probabilities) that at least 95 % of the validation sentences exceed with the shipped
    models, or 0 if unknown. `most_pieces` is the number of tokens that no word exceeds in 99 % of the validation
    sentences with these models, or 0 if it is unknown or words are not cut.
    """

    name: str
    title: str
    description: str
    data: DataConfig
    default_preset: str
    build: Callable[[], Splits] = field(repr=False)
    examples: tuple[Prompt, ...] = ()
    group: Callable[[Example], str] = field(default=one_group, repr=False)
    equivalent: Callable[[str, Example], bool] = field(default=same_text, repr=False)
    licence: str = ""
    story: str = ""
    trained_on: str = ""
    longest: int = 0
    longest_words: int = 0
    order_matters: str = ""
    complete: bool = False
    is_source: Callable[[str], bool] | None = field(default=None, repr=False)
    not_a_source: str = ""
    confidence: float = 0.0
    most_pieces: int = 0
    from_folder: bool = False  # reads a corpus: from --data-dir, or downloaded
    own_splits: Mapping[str, Callable[[], tuple[Example, ...]]] = field(default_factory=dict, repr=False)
    """Splits that come with Headlight, so that they need no corpus."""

    def split(self, name: str) -> tuple[Example, ...] | None:
        """The examples of a split (also of `own_splits`); None if there is no split of this name.

        Raises:
            DataError: the data cannot be obtained or read.
        """
        if name in self.own_splits:
            return self.own_splits[name]()
        return self.splits.get(name)

    @cached_property
    def splits(self) -> Splits:
        """The examples of each split, by name.

        Raises:
            DataError: the data cannot be obtained or read.
        """
        return self.build()
