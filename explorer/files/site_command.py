"""The command line: a folder of pages for every example of every model, or one page for one sentence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer.decoding.examples import examples_of, word_for
from explorer.decoding.translator import Translator
from explorer.files.site_index import index_page
from explorer.files.site_recorded import Example, recorded
from explorer.locale.text import plural
from model.checkpoint import find_model, load_model
from model.commands import CommandError, OneSentenceParser, add_checkpoints, typed
from model.folder import list_models, summarize

MOST_FORKS = 12
INDEX = "index.html"


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    made = OneSentenceParser(
        prog=typed("explorer.site"),
        description="Write translations as web pages that step, with every head's attention. They need no server, no "
        "network and nothing installed: put the folder on any web server, or open index.html in a browser.",
    )
    made.add_argument("out", type=Path, metavar="OUT", help="the folder to write, or one page if it ends in .html")
    made.add_argument("sentences", nargs="*", metavar="TEXT", help="sentences (default: the models' examples)")
    made.add_argument("--model", action="append", metavar="NAME", help="a model; repeat it for several (default: all)")
    made.add_argument(
        "--forks", type=int, default=3, metavar="N", help="other continuations to record per sentence (%(default)s)"
    )
    made.add_argument("--overwrite", action="store_true", help="replace files of the same names")
    add_checkpoints(made)
    return made


def main(arguments: Sequence[str]) -> int:
    """Write the pages; returns the exit code.

    Raises:
        CommandError: what is asked for does not fit together, or a file would be overwritten.
        CheckpointError, InputError: a model cannot be opened, or a sentence is empty.
    """
    options = parser().parse_intermixed_args(arguments)  # a sentence may stand after an option
    if not 0 <= options.forks <= MOST_FORKS:
        raise CommandError(f"--forks is a number from 0 to {MOST_FORKS}, not {options.forks}.")
    one_page = options.out.suffix.lower() in (".html", ".htm")
    if one_page and (len(options.sentences) != 1 or len(options.model or ()) != 1):
        raise CommandError("One page shows one sentence and one model: name both, the model with --model.")
    if one_page:
        (example,) = _examples(options.model[0], options)
        _write(options.out, example.page, options.overwrite)
        print(f"{options.out}: {len(example.page) / 1000:,.0f} kB.")
        return 0
    names = options.model or [
        str(one["name"]) for one in list_models(options.checkpoints) if one["error"] is None and one["trained"]
    ]
    if not names:
        raise CommandError(
            f"There is no trained model in {options.checkpoints}; name another folder with --checkpoints."
        )
    return _write_folder(names, options)


def _write_folder(names: Sequence[str], options: argparse.Namespace) -> int:
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    groups: list[tuple[dict[str, Any], list[Example]]] = []
    size = 0
    for name in names:
        examples = _examples(name, options, INDEX)
        for example in examples:
            _write(out / example.file, example.page, options.overwrite)
            size += len(example.page)
        groups.append((summarize(find_model(options.checkpoints, name)), examples))
        print(f"{name}: {plural(len(examples), 'page')}.", flush=True)
    _write(out / INDEX, index_page(groups), options.overwrite)
    pages = plural(sum(len(examples) for _, examples in groups), "page")
    print(f"{pages}, {size / 1e6:.1f} MB. Open {out / INDEX}.")
    return 0


def _examples(name: str, options: argparse.Namespace, index: str = "") -> list[Example]:
    """The pages of one model, whose weights are held no longer than they are made."""
    folder = find_model(options.checkpoints, name)
    loaded = load_model(folder)
    translator, summary = Translator(loaded), summarize(folder)
    prompts = examples_of(summary)
    sentences = options.sentences or [prompt.source for prompt in prompts]
    return [
        recorded(
            translator,
            sentence,
            number,
            word=word_for(sentence, prompts),
            forks=options.forks,
            trained=bool(summary["trained"]),
            index=index,
        )
        for number, sentence in enumerate(sentences, start=1)
    ]


def _write(path: Path, content: bytes, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise CommandError(f"{path} exists already; name another place, or add --overwrite.")
    path.write_bytes(content)
