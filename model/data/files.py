"""Sentence pairs from files: your own data (read, checked, split, stored with a run), and pairs added to a task."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from model.config import DataConfig
from model.data.tables import Table, read_table
from model.data.task import DataError, Example, Splits, Task
from model.data.text_files import parallel, read_lines
from model.file_formats import FormatError, StoredPair, checked, decode, pair_problem
from model.folder import write_bytes
from model.text.pieces import clean
from model.user_error import readable
from model.wording import later, t

Languages = tuple[str, str]


def direction(data: DataConfig, side: str) -> Languages:
    """The languages that a model reads and writes to produce the `side` ("target" or "source") of these data."""
    return (data.src_lang, data.tgt_lang) if side == "target" else (data.tgt_lang, data.src_lang)


def fits(model: Languages, wanted: Languages) -> bool:
    """Whether a model of these languages may translate in the wanted direction; "xx" fits any language."""
    return all(want in ("xx", have) for have, want in zip(model, wanted, strict=True))


@dataclass(frozen=True)
class AddedFile:
    """One file of training pairs, and the SHA-256 of its bytes, by which a resumed run recognises it."""

    name: str
    sha256: str
    pairs: Pairs


def read_added(paths: Sequence[Path], task: Task) -> tuple[AddedFile, ...]:
    """Read files of further pairs, in this order; columns are found as in your own data.

    Raises:
        DataError: a file cannot be read, or fewer than half of its rows can be used.
    """
    data = task.data
    read = [(path, read_pairs(path, src_lang=data.src_lang, tgt_lang=data.tgt_lang)) for path in paths]
    return tuple(AddedFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), pairs) for path, pairs in read)


def with_added(task: Task, files: Sequence[AddedFile]) -> tuple[Task, list[dict[str, Any]]]:
    """Add the pairs of files to a task's training pairs; returns the new task and the entries for config.json.

    A pair is left out if it is already there, or if its source is held out in another split (capitals and spaces do not
    matter). Each entry has a file's name without its folder, its SHA-256, and the number of pairs that it added.
    """
    if not files:
        return task, []
    splits = task.splits
    held_out = {
        same_source(example.source) for split, examples in splits.items() if split != "train" for example in examples
    }
    present = {(example.source, example.target) for example in splits["train"]}
    train: list[Example] = list(splits["train"])
    entries = []
    for file in files:
        before = len(train)
        for example in file.pairs.examples:
            pair = (example.source, example.target)
            if pair not in present and same_source(example.source) not in held_out:
                present.add(pair)
                train.append(example)
        entries.append({"file": file.name, "sha256": file.sha256, "pairs": len(train) - before})
    union = {**splits, "train": tuple(train)}
    return replace(task, build=lambda: union), entries


def check_added(files: Sequence[AddedFile], stored: Sequence[Mapping[str, Any]]) -> None:
    """Raise a DataError if the added files are not those in the config.json of the run that is resumed."""
    if [file.sha256 for file in files] != [entry.get("sha256") for entry in stored]:
        names = ", ".join(str(entry.get("file")) for entry in stored) or "none"
        raise DataError(
            "this run was started with other added data (files: {names}); give the same files, in the same order, "
            "with --add-data.",
            names=names,
        )


DATA_FILE = "data.jsonl"
MAX_VALID = 1000
VALID_FRACTION = 0.1
LARGE = 5000  # with fewer pairs, a model without dropout memorises them
_SOURCE_NAMES = ("source", "src", "input", "original", "question")
_TARGET_NAMES = ("target", "tgt", "output", "translation", "reference", "answer")
_PUNCTUATION = ".,;:!?…¡¿\"'“”„‘’«»()。！？，"
_MAX_LISTED = 5  # line numbers or columns in a message
SHOWN = 20  # pairs, or unusable rows of a kind, that are kept to look at
_LONGEST_ROW = 120  # characters of an unusable row that are kept


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs from one or two files.

    `skipped` maps each reason to the line numbers of unusable rows, and `rows` has the texts of the first of them;
    `unused` names the columns that were not read; `lines` has the line of each pair, if they come from a file.
    """

    examples: tuple[Example, ...]
    skipped: Mapping[str, tuple[int, ...]]
    source_name: str
    target_name: str
    unused: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_skipped(self) -> int:
        """Number of rows that were skipped."""
        return sum(map(len, self.skipped.values()))

    def columns_sentence(self) -> str:
        """A sentence on which columns of a table were read; empty if there are no others."""
        if not self.unused:
            return ""
        return t(
            "The sources are column '{source}', the targets '{target}'; not read: {columns}.",
            source=self.source_name,
            target=self.target_name,
            columns=_first_of(self.unused),
        )

    def skipped_sentence(self) -> str:
        """A sentence on which rows were skipped and why, with the first line numbers; empty if none were."""
        if not self.skipped:
            return ""
        reasons = "; ".join(f"{why} ({name_lines(lines)})" for why, lines in self.skipped.items())
        return t("{n} row left out: {reasons}.", "{n:,} rows left out: {reasons}.", n=self.n_skipped, reasons=reasons)


def name_lines(lines: tuple[int, ...]) -> str:
    """The first few line numbers as text, and the number of the others."""
    return t("line {lines}", "lines {lines}", n=len(lines), lines=_first_of(lines))


def _first_of(items: Sequence[object]) -> str:
    listed, more = ", ".join(map(str, items[:_MAX_LISTED])), len(items) - _MAX_LISTED
    return t("{items} and {n} more", items=listed, n=more) if more > 0 else listed


def read_pairs(
    path: Path,
    *,
    source_column: str | None = None,
    target_column: str | None = None,
    src_lang: str = "",
    tgt_lang: str = "",
    header: bool | None = None,
    encoding: str | None = None,
) -> Pairs:
    """Read the pairs in a table; `header` and `encoding` as for :func:`model.data.tables.read_table`.

    A column is given by its heading or by its number from 1. Otherwise it is the column named after the language, or
    one with a common name (source, target, …), or the first free column, except those that only number rows.

    Raises:
        DataError: the file cannot be read, has no such column, or fewer than half of its rows can be used.
    """
    headings = [heading for heading in (source_column, target_column, src_lang, tgt_lang) if heading]
    table = read_table(path, headings=headings, header=header, encoding=encoding)
    if len(table.columns) < 2:
        raise DataError(
            "{name} has only one column ('{columns}'); source and target need one each.",
            name=path.name,
            columns=table.columns[0],
        )
    source = _column(table, source_column, (src_lang, *_SOURCE_NAMES))
    target = _column(table, target_column, (tgt_lang, *_TARGET_NAMES))
    taken = {column for column in (source, target) if column is not None}
    skipped = table.numbers if len(taken) < 2 else ()
    free = (n for n in range(len(table.columns)) if n not in taken and n not in skipped)
    source = next(free) if source is None else source
    target = next(free) if target is None else target
    if source == target:
        raise DataError(
            "source and target are both column '{columns}' of {name}; choose two.",
            columns=table.columns[source],
            name=path.name,
        )
    rows = (
        (row.line, row.problem, row.cells if row.problem else (row.cells[source], row.cells[target]))
        for row in table.rows
    )
    pairs = _checked(path.name, list(rows), table.columns[source], table.columns[target])
    unused = tuple(column for n, column in enumerate(table.columns) if n not in (source, target))
    return replace(pairs, unused=unused)


def read_parallel(source: Path, target: Path, *, encoding: str | None = None) -> Pairs:
    """Read the pairs in two text files that correspond line by line.

    Raises:
        DataError: a file cannot be read, or the numbers of lines differ.
    """
    pairs = zip(*parallel(source, target, encoding=encoding), strict=True)
    rows = [(line, "", pair) for line, pair in enumerate(pairs, start=1)]
    return _checked(f"{source.name} with {target.name}", rows, source.name, target.name)


def _column(table: Table, name: str | None, common_names: tuple[str, ...]) -> int | None:
    if name:
        return table.column(name)
    headings = [heading.casefold() for heading in table.columns]
    at = next((headings.index(common) for common in common_names if common.casefold() in headings), None)
    if at is None and common_names[0]:  # en of a translation memory may be called en-GB
        regions = [heading.partition("-")[0] for heading in headings]
        at = regions.index(common_names[0]) if common_names[0] in regions else None
    return at


def _checked(name: str, rows: Sequence[tuple[int, str, tuple[str, ...]]], source_name: str, target_name: str) -> Pairs:
    """The pairs in the usable rows; each row is given as (line, problem, cells): source and target, if no problem."""
    examples: list[Example] = []
    lines: list[int] = []
    skipped: dict[str, list[int]] = {}
    texts: dict[str, list[str]] = {}
    for line, problem, cells in rows:
        cells = tuple(clean(cell).strip() for cell in cells)
        problem = problem or pair_problem(*cells)
        if problem:
            skipped.setdefault(problem, []).append(line)
            if len(kept := texts.setdefault(problem, [])) < SHOWN:
                kept.append(readable(" → ".join(cell or t("(empty)") for cell in cells), _LONGEST_ROW))
        else:
            source, target = cells
            examples.append(Example(source, target))
            lines.append(line)
    unusable = {why: tuple(numbers) for why, numbers in skipped.items()}
    shown = {why: tuple(kept) for why, kept in texts.items()}
    pairs = Pairs(tuple(examples), unusable, source_name, target_name, lines=tuple(lines), rows=shown)
    if len(examples) < pairs.n_skipped:
        raise DataError(
            "{name} has more unusable rows than pairs ({examples}). {skipped_sentence}",
            name=name,
            examples=len(examples),
            skipped_sentence=pairs.skipped_sentence(),
        )
    if len(examples) < 2:
        raise DataError(
            "{name} has {pairs}; at least 2 are needed, and some hundreds to learn from.",
            name=name,
            pairs=later("{n} pair", "{n:,} pairs", n=len(examples)),
        )
    return pairs


def split_pairs(pairs: Pairs, *, valid_fraction: float = VALID_FRACTION, split_seed: int = 0) -> Splits:
    """Split pairs into training and validation; pairs with the same source stay in one split.

    Sources are the same if they differ only in capitals, spaces, and punctuation around words.

    Raises:
        DataError: all sources are the same, so validation would have nothing unseen.
    """
    if not 0 < valid_fraction < 1:
        raise DataError(
            "the share of pairs held out for validation is between 0 and 1, not {valid_fraction:g}.",
            valid_fraction=valid_fraction,
        )
    by_source: dict[str, list[Example]] = {}
    for example in pairs.examples:
        by_source.setdefault(held_out_key(example.source), []).append(example)
    if len(by_source) < 2:
        raise DataError(
            "all {examples:,} pairs have the source '{source}'; validation needs a "
            "source that training has not seen, so bring at least two different ones.",
            examples=len(pairs.examples),
            source=pairs.examples[0].source[:80],
        )
    sources = list(by_source)
    random.Random(f"files {split_seed}").shuffle(sources)
    wanted = max(1, min(round(len(pairs.examples) * valid_fraction), MAX_VALID))
    valid: list[Example] = []
    while len(valid) < wanted and len(sources) > 1:
        valid += by_source[sources.pop()]
    train_sources = set(sources)
    train = tuple(example for example in pairs.examples if held_out_key(example.source) in train_sources)
    return {"train": train, "valid": tuple(valid)}


def given_splits(train: Pairs, valid: Pairs) -> Splits:
    """Training and validation pairs that were given as such, without the training pairs that validation has, too.

    Raises:
        DataError: nothing is left to train on.
    """
    held_out = {held_out_key(example.source) for example in valid.examples}
    kept = tuple(example for example in train.examples if held_out_key(example.source) not in held_out)
    if not kept:
        raise DataError(
            "the source of every training pair is among the validation pairs, too; a model that has seen a pair only "
            "has to remember it, so bring other pairs to one of the two."
        )
    return {"train": kept, "valid": valid.examples}


def same_source(source: str) -> str:
    """The key of a source; sources that differ only in capitals and spaces have the same key."""
    return " ".join(source.casefold().split())


def held_out_key(source: str) -> str:
    """The key by which pairs stay in one split: as :func:`same_source`, without punctuation around words."""
    words = (word.strip(_PUNCTUATION) for word in source.casefold().split())
    return " ".join(word for word in words if word) or same_source(source)


def save_splits(splits: Splits, folder: Path) -> str:
    """Store the pairs in a run's folder, so that it can be resumed without the original files; return the SHA-256."""
    lines = (
        json.dumps({"split": split, "source": example.source, "target": example.target}, ensure_ascii=False) + "\n"
        for split, examples in splits.items()
        for example in examples
    )
    data = "".join(lines).encode("utf-8")
    write_bytes(folder / DATA_FILE, data)
    return hashlib.sha256(data).hexdigest()


def load_splits(folder: Path) -> Splits:
    """Read the pairs that :func:`save_splits` stored.

    Raises:
        DataError: the file is missing or damaged.
    """
    path = folder / DATA_FILE
    if not path.is_file():
        raise DataError(
            "{folder} has no {data_file}; name your own data with --data FILE, or --source and --target.",
            folder=folder,
            data_file=DATA_FILE,
        )
    splits: dict[str, list[Example]] = {"train": [], "valid": []}
    for number, line in enumerate(read_lines(path), start=1):
        try:
            pair, _ = checked(decode(line.encode()), StoredPair)
        except FormatError as error:
            reason = str(error).removesuffix(".")
            raise DataError(
                "line {number} of {path} is damaged (it {reason}); provide the data again.",
                number=number,
                path=path,
                reason=reason,
            ) from error
        splits[pair.split].append(Example(pair.source, pair.target))
    return {split: tuple(examples) for split, examples in splits.items()}


def files_task(splits: Splits | None = None, *, folder: Path | None = None, data: DataConfig | None = None) -> Task:
    """The task of your own pairs: those in `splits`, tokenised as configured in `data`, or those stored in `folder`.

    Raises:
        DataError: neither is given.
    """
    if splits is None and folder is None:
        raise DataError("the task 'files' needs data: name it with --data FILE, or with --source FILE --target FILE.")
    return Task(
        name="files",
        title="Your own data",
        description=(
            "Your own sentence pairs. Some are held out for validation and never trained on; pairs with the same "
            "source stay together."
        ),
        data=data or DataConfig(task="files", src_lang="xx", tgt_lang="xx"),
        default_preset="tiny",
        build=(lambda: splits) if splits is not None else partial(load_splits, Path(folder or ".")),
    )
