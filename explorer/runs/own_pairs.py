"""Read a user's own pairs before a run: how the file is read, how many pairs are held out, and proposed settings.

Pairs take many times the size of their file in memory, so they may be too large to cache. The summaries that the page
shows are cached separately, so that the page is drawn again without reading the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from explorer.decoding.cache import cached
from explorer.locale.messages import t
from model.config import DataConfig, PairFault
from model.data.checks import Finding, check
from model.data.files import Pairs, read_pairs, read_parallel
from model.data.proposal import Proposal, propose
from model.data.tables import read_table
from model.data.task import Example

N_FIRST = 3  # pairs that are shown as they are


@dataclass(frozen=True)
class Source:
    """Where pairs are read from: two columns of a table, or two parallel texts. Serves as a cache key.

    `encoding` is that of files that are neither UTF-8 nor UTF-16.
    """

    paths: tuple[str, ...]
    columns: tuple[str, str] | None = None
    header: bool | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class Overview:
    """A summary of pairs for the page: headings, the first few, and a note on columns that are not read."""

    source_name: str
    target_name: str
    first: tuple[Example, ...]
    notes: str


@dataclass(frozen=True)
class Reading:
    """How pairs are read and split: their source, the share held out or a file of validation pairs, and languages.

    Without a share, as many are held out as the check proposes.
    `keep` and `leave_out` name what the check of the pairs found and what was decided about it.
    """

    source: Source
    share: float | None = None
    valid: Source | None = None
    src_lang: str = "xx"
    tgt_lang: str = "xx"
    keep: tuple[PairFault, ...] = ()
    leave_out: tuple[PairFault, ...] = ()

    def arguments(self) -> tuple[str, ...]:
        """The arguments of the training command that name these data."""
        source = self.source
        if len(source.paths) == 2:
            words: tuple[str, ...] = ("--source", source.paths[0], "--target", source.paths[1])
        else:
            columns = source.columns or ("1", "2")
            words = ("--data", source.paths[0], "--source-column", columns[0], "--target-column", columns[1])
            words += () if source.header is None else ("--header", "yes" if source.header else "no")
        words += () if source.encoding is None else ("--encoding", source.encoding)
        if self.valid is not None:
            words += ("--valid-data", self.valid.paths[0])
        elif self.share is not None:
            words += ("--valid-share", f"{self.share:g}")
        words += tuple(word for fault in self.keep for word in ("--keep", fault))
        words += tuple(word for fault in self.leave_out for word in ("--leave-out", fault))
        return (*words, "--source-lang", self.src_lang, "--target-lang", self.tgt_lang)


@dataclass(frozen=True)
class Division:
    """The split of checked pairs into training and held-out ones: their numbers, findings, and proposed settings.

    `n_rows`: the rows that were given, with those that cannot be used and those that are left out.
    """

    n_rows: int
    n_train: int
    n_valid: int
    findings: tuple[Finding, ...]
    proposal: Proposal

    def sentence(self, source: Source, pairs: Overview) -> str:
        """Describe what is used: number of pairs, headings, and split."""
        parts = t(
            "{train:,} to learn from, {held_out:,} held out to check what was learned",
            train=self.n_train,
            held_out=self.n_valid,
        )
        used = self.n_train + self.n_valid
        n = t("{n} pair", "{n:,} pairs", n=used)
        if used < self.n_rows:
            n = t("{used:,} of {n} pair", "{used:,} of {n:,} pairs", n=self.n_rows, used=used)
        no_test = t("There is no test set: the held-out pairs also choose the best weights.")
        if source.header:
            said = t(
                "{pairs}, with the headings “{source}” and “{target}”: {parts}.",
                pairs=n,
                source=pairs.source_name,
                target=pairs.target_name,
                parts=parts,
            )
        else:
            said = t("{pairs}: {parts}.", pairs=n, parts=parts)
        return f"{said} {no_test} {pairs.notes}".strip()


@cached
def columns_of(path: str, header: bool | None, encoding: str | None = None) -> tuple[tuple[str, ...], bool]:
    """Read the columns of a table, and whether its first row has their names.

    Raises:
        DataError: the file cannot be read. EncodingError: its encoding has to be chosen.
    """
    table = read_table(Path(path), header=header, encoding=encoding)
    return table.columns, table.has_header


@cached
def overview(source: Source) -> Overview:
    """Summarise a file of pairs.

    Raises:
        DataError: the file cannot be used.
    """
    pairs = _pairs(source)
    names = pairs.source_name, pairs.target_name
    return Overview(*names, pairs.examples[:N_FIRST], pairs.columns_sentence())


@cached
def divide(reading: Reading) -> Division:
    """Check and split the pairs as training would.

    Raises:
        DataError: they cannot be split like this.
    """
    checked = check(
        _pairs(reading.source),
        None if reading.valid is None else _pairs(reading.valid),
        keep=reading.keep,
        leave_out=reading.leave_out,
        valid_fraction=reading.share,
    )
    given = [_pairs(each) for each in (reading.source, reading.valid) if each is not None]
    rows = sum(len(pairs.examples) + pairs.n_skipped for pairs in given)
    splits = checked.splits
    data = DataConfig(task="files", src_lang=reading.src_lang, tgt_lang=reading.tgt_lang)
    return Division(rows, len(splits["train"]), len(splits["valid"]), checked.findings, propose(splits, data))


@cached
def _pairs(source: Source) -> Pairs:
    paths = [Path(path) for path in source.paths]
    if len(paths) == 2:
        return read_parallel(*paths, encoding=source.encoding)
    src, tgt = source.columns or (None, None)
    return read_pairs(paths[0], source_column=src, target_column=tgt, header=source.header, encoding=source.encoding)
