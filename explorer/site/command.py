"""The command that writes the site: a folder for any web server, one page, or packages for learning platforms."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from explorer.browser.lesson_structs import LessonOnSite
from explorer.decoding.examples import examples_of, word_for
from explorer.decoding.translator import Translator
from explorer.files import live_site
from explorer.files.site import Example, index_page, moved, recorded
from explorer.lessons.folder_models import models_in
from explorer.lessons.library import FOLDER, lesson_files, read_library
from explorer.lessons.scorm_packages import TITLE, packages
from explorer.lessons.site_lessons import models_of, site_lessons
from explorer.lessons.translation import in_language
from explorer.locale import language
from explorer.locale.catalogue import packs
from explorer.locale.text import plural
from model.checkpoint import load_model
from model.commands import CommandError, OneSentenceParser, add_checkpoints, typed
from model.folder import find_model, list_models, summarize

MOST_FORKS = 12
INDEX, EXAMPLES = "index.html", "examples"


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    result = OneSentenceParser(
        prog=typed("explorer.site"),
        description="Write web pages that translate in the browser, with every head's attention: put the folder on any "
        "web server, or write one page, which opens from a disk as well. Recorded examples stand beside them.",
    )
    result.add_argument("out", type=Path, metavar="OUT", help="the folder to write, or one page if it ends in .html")
    # With a default, an error about OUT does not call TEXT missing, too.
    result.add_argument("sentences", nargs="*", default=[], metavar="TEXT", help="sentences (default: the models' own)")
    result.add_argument(
        "--model", action="append", metavar="NAME", help="a model; repeat it for several (default: all)"
    )
    result.add_argument(
        "--forks", type=int, default=3, metavar="N", help="other continuations to record per sentence (%(default)s)"
    )
    result.add_argument(
        "--examples", type=int, metavar="N", help="recorded examples per model (default: all that it comes with)"
    )
    result.add_argument(
        "--no-live", action="store_true", help="only recordings: pages that step, but translate nothing else"
    )
    result.add_argument(
        "--scorm", action="store_true", help="write the lessons as SCORM 1.2 packages for a learning platform instead"
    )
    result.add_argument(
        "--lang",
        default=language.ENGLISH,
        metavar="CODE",
        help="the language of the pages, one of the packs in explorer/locale/packs or HEADLIGHT_LOCALES (%(default)s)",
    )
    result.add_argument("--overwrite", action="store_true", help="replace files of the same names")
    add_checkpoints(result)
    return result


def main(arguments: Sequence[str]) -> int:
    """Write the pages; returns the exit code.

    Raises:
        CommandError: the options cannot be combined, or a file would be overwritten.
        CheckpointError, InputError: a model cannot be opened, or cannot translate a sentence.
    """
    options = parser().parse_intermixed_args(arguments)  # a sentence may follow an option
    if not 0 <= options.forks <= MOST_FORKS:
        raise CommandError(
            "--forks is a number from 0 to {most_forks}, not {forks}.", most_forks=MOST_FORKS, forks=options.forks
        )
    one_page = options.out.suffix.lower() in (".html", ".htm")
    if one_page and (len(options.sentences) != 1 or len(options.model or ()) != 1):
        raise CommandError("One page shows one sentence of one model: give both, the model with --model.")
    if options.examples is not None and options.examples < 0:
        raise CommandError("--examples is a number from 0, not {examples}.", examples=options.examples)
    if options.examples is not None and options.sentences:
        raise CommandError("--examples counts a model's own sentences: leave it out where you give sentences.")
    if not all(sentence.strip() for sentence in options.sentences):
        raise CommandError("A sentence is empty; type one between quotation marks.")
    if options.lang not in packs():
        raise CommandError(
            "There is no language '{code}'; the packs here are {codes}.", code=options.lang, codes=", ".join(packs())
        )
    if options.scorm and (one_page or options.no_live or options.sentences):
        raise CommandError("--scorm writes packages into a folder; it goes with --model and --checkpoints only.")
    if one_page:
        with language.written_in(options.lang):
            page = _single(options.model[0], options)
        _write(options.out, page, options.overwrite)
        print(f"{options.out}: {len(page) / 1000:,.0f} kB.")
        return 0
    names = options.model or [
        str(summary["name"])
        for summary in list_models(options.checkpoints)
        if summary["error"] is None and summary["trained"]
    ]
    if not names:
        raise CommandError(
            "There is no trained model in {checkpoints}; name another folder with --checkpoints.",
            checkpoints=options.checkpoints,
        )
    with language.written_in(options.lang):
        return _write_packages(names, options) if options.scorm else _write_folder(names, options)


def _single(name: str, options: argparse.Namespace) -> bytes:
    """One page for one sentence: with its model, or recorded."""
    if not options.no_live:
        try:
            model = live_site.live_model(find_model(options.checkpoints, name))
        except live_site.NotLive as reason:
            print(f"{reason} The page has a recording.")
        else:
            return live_site.single_page([model], {"text": options.sentences[0]})
    (example,) = _examples(name, options)
    return example.page


def _write_folder(names: Sequence[str], options: argparse.Namespace) -> int:
    out: Path = options.out
    live = [] if options.no_live else _live(names, options)
    recordings = out / EXAMPLES if live else out
    groups: list[tuple[dict[str, Any], list[Example]]] = []
    size = 0
    for name in names:
        examples = _examples(name, options, INDEX)
        recordings.mkdir(parents=True, exist_ok=True)
        for example in examples:
            _write(recordings / example.file, example.page, options.overwrite)
            if live:  # until this version, recordings stood in the folder itself
                _write(out / example.file, moved(f"{EXAMPLES}/{quote(example.file)}"), options.overwrite)
            size += len(example.page)
        groups.append((summarize(find_model(options.checkpoints, name)), examples))
        print(f"{name}: {plural(len(examples), 'recorded page')}.", flush=True)
    _write(recordings / INDEX, index_page(groups, live=bool(live)), options.overwrite)
    pages = plural(sum(len(examples) for _, examples in groups), "recorded page")
    if live:
        files = live_site.site_pages(live, _lessons(options.checkpoints, live))
        for address, content in files.items():
            (out / address).parent.mkdir(parents=True, exist_ok=True)
            _write(out / address, content, options.overwrite)
        size += sum(map(len, files.values()))
        print(f"{plural(len(live), 'model')} and {pages}, {size / 1e6:.1f} MB. Put {out} on a web server.")
        return 0
    print(f"{pages}, {size / 1e6:.1f} MB. Open {recordings / INDEX}.")
    return 0


def _live(names: Sequence[str], options: argparse.Namespace) -> list[live_site.LiveModel]:
    """Read the models that the browser can compute."""
    folders = [find_model(options.checkpoints, name) for name in names]  # all of them, before one is read
    models = []
    for folder in folders:
        try:
            models.append(live_site.live_model(folder))
        except live_site.NotLive as reason:
            print(f"{reason} Its examples are recordings.")
    return models


def _lessons(checkpoints: Path, live: Sequence[live_site.LiveModel]) -> list[LessonOnSite]:
    """The lessons, if their models are here; on a site of other models there are none."""
    names = [model.card.name for model in live]
    written = [in_language(lesson) for lesson in read_library(lesson_files(FOLDER)).lessons]
    lessons = site_lessons(written, models_in(checkpoints), names)
    return lessons if any(lesson.steps for lesson in lessons) else []


def _write_packages(names: Sequence[str], options: argparse.Namespace) -> int:
    """Write a package for each lesson and one with all, each with the models that it needs."""
    live = {model.card.name: model for model in _live(names, options)}
    lessons = _lessons(options.checkpoints, list(live.values()))
    if not lessons:
        raise CommandError("No lesson is about these models.")

    def page(chosen: tuple[LessonOnSite, ...]) -> bytes:
        needed = [live[name] for name in models_of(chosen)] or list(live.values())[:1]
        return live_site.single_page(needed, {}, lessons=chosen, title=chosen[0].title if len(chosen) == 1 else TITLE)

    options.out.mkdir(parents=True, exist_ok=True)
    for file, content in packages(lessons, page):
        _write(options.out / file, content, options.overwrite)
        print(f"{options.out / file}: {len(content) / 1e6:.1f} MB.", flush=True)
    return 0


def _examples(name: str, options: argparse.Namespace, index: str = "") -> list[Example]:
    """Make the pages of one model; its weights are freed afterwards."""
    folder = find_model(options.checkpoints, name)
    loaded = load_model(folder)
    translator, summary = Translator(loaded), summarize(folder)
    prompts = examples_of(summary)
    sentences = options.sentences or [prompt.source for prompt in prompts][: options.examples]
    return [
        recorded(translator, sentence, number, word=word_for(sentence, prompts), forks=options.forks, index=index)
        for number, sentence in enumerate(sentences, start=1)
    ]


def _write(path: Path, content: bytes, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise CommandError("{path} exists already; choose another path, or add --overwrite.", path=path)
    path.write_bytes(content)
