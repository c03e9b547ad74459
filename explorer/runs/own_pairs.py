"""A person's own pairs before a run: how their file is read, how many are held out, and what is proposed for them.

A large file takes many times its size in memory, so that its pairs may be too many to be held. What the page says of
them is held by itself: the page is then drawn again without reading the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from explorer.decoding.cache import cached
from explorer.locale.text import plural
from model.config import DataConfig
from model.data.files import VALID_FRACTION, Pairs, given_splits, read_pairs, read_parallel, split_pairs
from model.data.proposal import Proposal, propose
from model.data.tables import read_table

FIRST = 3  # pairs under "How it is read"


@dataclass(frozen=True)
class Source:
    """Where pairs are read from: a table with two of its columns, or two parallel texts; the key of a cache."""

    paths: tuple[str, ...]
    columns: tuple[str, str] | None = None
    header: bool | None = None


@dataclass(frozen=True)
class Overview:
    """What the page says of pairs: headings, the first few, how many there are, and what of the file is not used."""

    source_name: str
    target_name: str
    first: tuple[dict[str, str], ...]
    n_pairs: int
    notes: str


@dataclass(frozen=True)
class Reading:
    """How pairs are read and divided: their source, the share held out or a file of validation pairs, languages."""

    source: Source
    share: float = VALID_FRACTION
    valid: Source | None = None
    src_lang: str = "xx"
    tgt_lang: str = "xx"

    def arguments(self) -> tuple[str, ...]:
        """The arguments of the training command that name these data."""
        source = self.source
        if len(source.paths) == 2:
            words: tuple[str, ...] = ("--source", source.paths[0], "--target", source.paths[1])
        else:
            columns = source.columns or ("1", "2")
            words = ("--data", source.paths[0], "--source-column", columns[0], "--target-column", columns[1])
            words += () if source.header is None else ("--header", "yes" if source.header else "no")
        if self.valid is not None:
            words += ("--valid-data", self.valid.paths[0])
        elif self.share != VALID_FRACTION:
            words += ("--valid-share", f"{self.share:g}")
        return (*words, "--source-lang", self.src_lang, "--target-lang", self.tgt_lang)


@dataclass(frozen=True)
class Division:
    """Pairs divided into those to learn from and those held out: how many there are, and what is proposed for them."""

    n_train: int
    n_valid: int
    proposal: Proposal

    def sentence(self, source: Source, pairs: Overview) -> str:
        """What was read, in a sentence or two: pairs, headings, division, and what was left out."""
        headings = f", with the headings “{pairs.source_name}” and “{pairs.target_name}”" if source.header else ""
        return (
            f"{plural(pairs.n_pairs, 'pair')}{headings}: {self.n_train:,} to learn from, {self.n_valid:,} held out to "
            f"check what was learned. {pairs.notes}"
        ).strip()


@cached
def columns_of(path: str, header: bool | None) -> tuple[tuple[str, ...], bool]:
    """The columns of a table, and whether its first row holds their names.

    Raises:
        DataError: the file cannot be read.
    """
    table = read_table(Path(path), header=header)
    return table.columns, table.has_header


@cached
def overview(source: Source) -> Overview:
    """What a file of pairs holds.

    Raises:
        DataError: it cannot be used.
    """
    pairs = _pairs(source)
    names = pairs.source_name, pairs.target_name
    first = tuple({names[0]: pair.source, names[1]: pair.target} for pair in pairs.examples[:FIRST])
    notes = f"{pairs.columns_sentence()} {pairs.skipped_sentence()}".strip()
    return Overview(*names, first, len(pairs.examples), notes)


@cached
def divide(reading: Reading) -> Division:
    """The pairs as they would be trained on.

    Raises:
        DataError: they cannot be divided so.
    """
    pairs = _pairs(reading.source)
    if reading.valid is None:
        splits = split_pairs(pairs, valid_fraction=reading.share)
    else:
        splits = given_splits(pairs, _pairs(reading.valid))
    data = DataConfig(task="files", src_lang=reading.src_lang, tgt_lang=reading.tgt_lang)
    return Division(len(splits["train"]), len(splits["valid"]), propose(splits, data))


@cached
def added_overview(path: str, changed: float, src_lang: str, tgt_lang: str, *, within: bool = False) -> str:
    """How many pairs a file of further ones holds, one of them, and what was left out; read again if it has `changed`.

    The pair is the first or, `within`, a later one: models begin with the shortest sentences.

    Raises:
        DataError: the file cannot be used.
    """
    pairs = read_pairs(Path(path), src_lang=src_lang, tgt_lang=tgt_lang)
    words, at = ("such as", len(pairs.examples) // 4) if within else ("the first", 0)
    pair = pairs.examples[at]
    number = plural(len(pairs.examples), "pair")
    return f"{number}, {words} “{pair.source}” → “{pair.target}”. {pairs.skipped_sentence()}".strip()


@cached
def _pairs(source: Source) -> Pairs:
    paths = [Path(path) for path in source.paths]
    if len(paths) == 2:
        return read_parallel(*paths)
    src, tgt = source.columns or (None, None)
    return read_pairs(paths[0], source_column=src, target_column=tgt, header=source.header)
