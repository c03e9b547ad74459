"""A task: sentence pairs in fixed splits, with the title and description that pages and cards show."""

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
"""The task of a model from elsewhere, whose training data are unknown here."""

Alignment = tuple[tuple[int, ...], ...]


class DataError(UserError):
    """Data that cannot be obtained or read; the message says what is wrong, where, and what to do."""


class MissingCorpusError(DataError):
    """A corpus that is not on this machine, where nobody has asked for a download."""


@dataclass(frozen=True)
class Example:
    """One sentence pair.

    `alignment` lists, for each target token (without ``<eos>``), the positions of its source tokens, counted from 0;
    the list may be empty. It is None where there is no gold alignment. `links` are the sure and possible links between
    words, where people have drawn them.
    """

    source: str
    target: str
    alignment: Alignment | None = None
    links: WordLinks | None = None


@dataclass(frozen=True)
class Prompt:
    """An example source sentence, with one line on what to look for in its attention.

    `word` is the predicted token at whose step there is most to see; empty where the closest race between tokens is.
    The note is shown only with a translation that bears it out: one that contains each of `says`, whose row predicting
    the first of a pair in `looks` attends most to the second, and in which a head of cross-attention has `pattern`.
    """

    source: str
    note: str
    word: str = ""
    says: tuple[str, ...] = ()
    looks: tuple[tuple[str, str], ...] = ()
    pattern: str = ""


Splits = Mapping[str, tuple[Example, ...]]


def one_group(example: Example) -> str:
    """The only group of a task whose score is a single number."""
    return "all"


def same_text(prediction: str, example: Example) -> bool:
    """Exact match, the measure of every task but those with several right answers."""
    return prediction == example.target


@dataclass(frozen=True)
class Task:
    """What a model can be trained on. `splits` is built on first use and cached.

    Every task has the splits ``train`` and ``valid``. All but ``files`` (a person's own data) have ``test``, and some
    have more (``long``). `group` names the group in which an example is scored, such as its length; `equivalent` says
    whether a prediction is correct. `story` says in one sentence what a model trained on it does, `trained_on` what its
    sources are; `order_matters` is a source that means something else when its words change places; `longest` is the
    largest number of source tokens in training, 0 where that is no matter of principle. `complete` says that the splits
    hold every source that there is. Where they do not, but it can be decided whether a text is a source, `is_source`
    decides it, and `not_a_source` is the sentence about one that is not. `confidence` is that (geometric mean of the
    likeliest tokens' probabilities) which at least 95 % of the validation sentences exceed with the models that come
    with it; 0 where it is unknown. `most_pieces` is the number of tokens which no word exceeds in 99 % of the
    validation sentences with those models; 0 where it is unknown or no word is cut.
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
        """The examples of a split, one that needs no corpus included; None where there is no split of this name.

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
