"""Further training pairs for a task, such as those that `python -m model.relabel` writes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from model.config import DataConfig
from model.data.files import Pairs, read_pairs, same_source
from model.data.task import DataError, Example, Task

Languages = tuple[str, str]


def direction(data: DataConfig, side: str) -> Languages:
    """The languages that a model reads and writes if it writes the `side` ("target" or "source") of these data."""
    return (data.src_lang, data.tgt_lang) if side == "target" else (data.tgt_lang, data.src_lang)


def fits(model: Languages, wanted: Languages) -> bool:
    """Whether a model of these languages may translate in the wanted direction; "xx" is whatever the model has."""
    return all(want in ("xx", have) for have, want in zip(model, wanted, strict=True))


@dataclass(frozen=True)
class AddedFile:
    """One file of training pairs, and the SHA-256 of its bytes, by which a resumed run recognises it."""

    name: str
    sha256: str
    pairs: Pairs


def read_added(paths: Sequence[Path], task: Task) -> tuple[AddedFile, ...]:
    """The files of further pairs, in this order; columns are found as in a user's own data.

    Raises:
        DataError: a file cannot be read, or fewer than half of its rows can be used.
    """
    data = task.data
    read = [(path, read_pairs(path, src_lang=data.src_lang, tgt_lang=data.tgt_lang)) for path in paths]
    return tuple(AddedFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), pairs) for path, pairs in read)


def with_added(task: Task, files: Sequence[AddedFile]) -> tuple[Task, list[dict[str, Any]]]:
    """The task with the union of its training pairs and those of the files, and what config.json stores about these.

    A pair that is there already is left out, and so is one whose source is held out in another split, with whatever
    capitals and spaces. The entries name each file without its folder, its SHA-256, and how many pairs it brought.
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
    """Refuse to continue a run with other added files than those that its config.json names.

    Raises:
        DataError: a file is missing, has changed, or is new.
    """
    if [file.sha256 for file in files] != [entry.get("sha256") for entry in stored]:
        names = ", ".join(str(entry.get("file")) for entry in stored) or "none"
        raise DataError(
            f"this run was started with other added data (files: {names}); give the same files, in the same order, "
            f"with --add-data."
        )
