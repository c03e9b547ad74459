"""Build the task of your own sentence pairs from command-line options: files, columns, split and tokens."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model.commands import CommandError
from model.config import DataConfig, from_dict
from model.data.checks import Checked, check
from model.data.files import Pairs, files_task, read_pairs, read_parallel
from model.data.proposal import Proposal, propose, unspellable_sentence
from model.data.task import Task
from model.training.settings import parsed

HEADERS = {"auto": None, "yes": True, "no": False}


def own_task(
    options: argparse.Namespace, assignments: Mapping[str, str], *, split_seed: int, quiet: bool = False
) -> tuple[Task, Proposal | None, dict[str, Any]]:
    """The task, the proposal for its tokens and settings, and the entry of config.json: the arguments without folders.

    There is no proposal if an initial model determines the tokens. The proposal is printed with its reason unless
    `quiet`, or unless `assignments` (of `--set`) name the tokens.

    Raises:
        CommandError: the options contradict each other.
        DataError: the data cannot be used.
    """
    pairs, checked = _checked(options, split_seed)
    splits = checked.splits
    for report in (pairs.columns_sentence(), *(finding.text() for finding in checked.findings)):
        if report and not quiet:
            print(report, file=sys.stderr)
    languages = {"src_lang": options.source_lang, "tgt_lang": options.target_lang}
    data = from_dict(DataConfig, {"task": "files", **languages, **parsed(DataConfig, assignments)})
    stored = {"own_data": _words(options)}
    if options.init:
        return files_task(splits, data=data), None, stored
    proposal = propose(splits, data)
    if not quiet and "tokenizer" not in assignments:
        print(f"{proposal.reason} (--set tokenizer=… chooses others.)", file=sys.stderr)
        tokens = proposal.of(proposal.data.tokenizer)
        if tokens is not None and tokens.unspellable:
            print(unspellable_sentence(tokens), file=sys.stderr)
    return files_task(splits, data=proposal.data), proposal, stored


def named(options: argparse.Namespace) -> list[str]:
    """The given options among those that name your own data: "data", "source", "target", "valid_data"."""
    return [name for name in ("data", "source", "target", "valid_data") if getattr(options, name) is not None]


def refuse_for_others(options: argparse.Namespace) -> None:
    """Raise a CommandError if your own data are given for a task that has its own."""
    if options.task != "files" and (given := named(options)):
        raise CommandError(
            "--{option} brings your own data: use it with --task files.", option=given[0].replace("_", "-")
        )


def given_task(options: argparse.Namespace) -> Task:
    """The task of the pairs that the options name, split as a run does by default."""
    data = DataConfig(task="files", src_lang=options.source_lang, tgt_lang=options.target_lang)
    return files_task(_checked(options, split_seed=0)[1].splits, data=data)


def _checked(options: argparse.Namespace, split_seed: int) -> tuple[Pairs, Checked]:
    """The pairs of the data, what was found in them, and their division into training and validation."""
    if [name for name in named(options) if name != "valid_data"] not in (["data"], ["source", "target"]):
        raise CommandError("--task files takes either --data FILE, or --source FILE and --target FILE.")
    if options.valid_data and options.valid_share is not None:
        raise CommandError("--valid-data brings the validation pairs; leave out --valid-share.")
    pairs = (
        _table(options, options.data)
        if options.data
        else read_parallel(options.source, options.target, encoding=options.encoding)
    )
    valid = _table(options, options.valid_data) if options.valid_data else None
    return pairs, check(
        pairs,
        valid,
        keep=options.keep,
        leave_out=options.leave_out,
        valid_fraction=options.valid_share,
        split_seed=split_seed,
    )


def _table(options: argparse.Namespace, path: Path) -> Pairs:
    return read_pairs(
        path,
        source_column=options.source_column,
        target_column=options.target_column,
        src_lang=options.source_lang,
        tgt_lang=options.target_lang,
        header=HEADERS[options.header],
        encoding=options.encoding,
    )


def _words(options: argparse.Namespace) -> list[str]:
    """The arguments that name the data and their division, without folders."""
    words = []
    for name in ("data", "source", "target", "valid_data"):
        if getattr(options, name):
            words += [f"--{name.replace('_', '-')}", getattr(options, name).name]
    for name in ("source_column", "target_column", "valid_share", "encoding"):
        if getattr(options, name):
            words += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    if options.header != "auto":
        words += ["--header", options.header]
    for name in ("keep", "leave_out"):
        for fault in getattr(options, name):
            words += [f"--{name.replace('_', '-')}", fault]
    return [*words, "--source-lang", options.source_lang, "--target-lang", options.target_lang]
