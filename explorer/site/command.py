"""The command that writes the site: a folder for any web server, one page, or packages for learning platforms."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from explorer.browser.lesson_structs import LessonOnSite
from explorer.decoding.examples import examples_of, word_for
from explorer.decoding.translator import Translator
from explorer.files import live_site
from explorer.files.site import Example, index_page, moved, recorded
from explorer.lessons.folder_models import models_in
from explorer.lessons.library import FOLDER, lesson_files, read_library
from explorer.lessons.scorm_packages import TITLE, packages
from explorer.lessons.site_lessons import site_lessons
from explorer.lessons.translation import in_language
from explorer.locale import language
from explorer.locale.catalogue import packs
from explorer.locale.messages import translated
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
        action="append",
        metavar="CODE",
        help="a language of the pages, one of the packs in explorer/locale/packs or HEADLIGHT_LOCALES; repeat it for "
        "several (default: English and each complete language; the first for one page, --no-live and --scorm)",
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
    known = packs()
    options.lang = list(dict.fromkeys(options.lang or [code for code in known if known[code].is_offered]))
    if unknown := [code for code in options.lang if code not in known]:
        raise CommandError(
            "There is no language '{code}'; the packs here are {codes}.", code=unknown[0], codes=", ".join(known)
        )
    if options.scorm and (one_page or options.no_live or options.sentences):
        raise CommandError("--scorm writes packages into a folder; it goes with --model and --checkpoints only.")
    if one_page:
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
    return _write_packages(names, options) if options.scorm else _write_folder(names, options)


def _single(name: str, options: argparse.Namespace) -> bytes:
    """One page for one sentence: with its model, or recorded."""
    code = options.lang[0]
    if not options.no_live:
        try:
            models = live_site.live_models(find_model(options.checkpoints, name), [code])
        except live_site.NotLive as reason:
            print(f"{reason} The page has a recording.")
        else:
            with language.written_in(code):
                return live_site.single_page([models[code]], {"text": options.sentences[0]})
    (example,) = _examples(name, [code], options)[code]
    return example.page


def _write_folder(names: Sequence[str], options: argparse.Namespace) -> int:
    out: Path = options.out
    live = {} if options.no_live else _live(names, options)
    first = options.lang[0]
    folders = {first: out}
    if live:
        folders = {code: out / live_site.examples_folder(code, first) for code in options.lang}
    groups: dict[str, list[tuple[dict[str, Any], list[Example]]]] = {code: [] for code in folders}
    size = n_pages = 0
    for name in names:
        # Where the browser computes the model, recordings in one language are enough: the others link to that page.
        codes = [first] if name in live else list(folders)
        for code, examples in _examples(name, codes, options, INDEX).items():
            folders[code].mkdir(parents=True, exist_ok=True)
            for example in examples:
                _write(folders[code] / example.file, example.page, options.overwrite)
                if live and code == first:  # until this version, recordings stood in the folder itself
                    with language.written_in(code):
                        page = moved(f"{EXAMPLES}/{quote(example.file)}")
                    _write(out / example.file, page, options.overwrite)
                size += len(example.page)
            groups[code].append((summarize(find_model(options.checkpoints, name)), examples))
            n_pages += len(examples)
        for code in folders.keys() - set(codes):
            linked = [replace(each, address=f"../../?{urlencode({'lang': code, **each.place})}") for each in examples]
            groups[code].append((groups[first][-1][0], linked))
        print(f"{name}: {plural(len(examples), 'recorded page')}.", flush=True)
    for code, folder in folders.items():
        folder.mkdir(parents=True, exist_ok=True)
        back = "" if not live else "../" if code == first else f"../../?lang={code}"
        with language.written_in(code):
            _write(folder / INDEX, index_page(groups[code], back=back), options.overwrite)
    pages = plural(n_pages, "recorded page")
    if live:
        by_code = {code: [models[code] for models in live.values()] for code in options.lang}
        lessons = _lessons(options, list(live))
        files = live_site.site_pages({code: (by_code[code], lessons[code]) for code in options.lang})
        for address, content in files.items():
            (out / address).parent.mkdir(parents=True, exist_ok=True)
            _write(out / address, content, options.overwrite)
        size += sum(map(len, files.values()))
        print(f"{plural(len(live), 'model')} and {pages}, {size / 1e6:.1f} MB. Put {out} on a web server.")
        return 0
    print(f"{pages}, {size / 1e6:.1f} MB. Open {out / INDEX}.")
    return 0


def _live(names: Sequence[str], options: argparse.Namespace) -> dict[str, dict[str, live_site.LiveModel]]:
    """Read the models that the browser can compute, by name and language."""
    folders = {name: find_model(options.checkpoints, name) for name in names}  # all of them, before one is read
    models = {}
    for name, folder in folders.items():
        try:
            models[name] = live_site.live_models(folder, options.lang)
        except live_site.NotLive as reason:
            print(f"{reason} Its examples are recordings.")
    return models


def _lessons(options: argparse.Namespace, live: Sequence[str]) -> dict[str, list[LessonOnSite]]:
    """The lessons by language, if their models are here; on a site of other models there are none."""
    found, models = {}, models_in(options.checkpoints)
    for code in options.lang:
        with language.written_in(code):
            written = [in_language(lesson) for lesson in read_library(lesson_files(FOLDER)).lessons]
            lessons = site_lessons(written, models, live)
        found[code] = lessons if any(lesson.steps for lesson in lessons) else []
    return found


def _write_packages(names: Sequence[str], options: argparse.Namespace) -> int:
    """Write a package for each lesson and one with all, each with the models that it needs."""
    options.lang, code = options.lang[:1], options.lang[0]
    live = {name: models[code] for name, models in _live(names, options).items()}
    lessons = _lessons(options, list(live))[code]
    if not lessons:
        raise CommandError("No lesson is about these models.")

    def page(chosen: tuple[LessonOnSite, ...]) -> bytes:
        names = sorted({step.query["model"] for lesson in chosen for step in lesson.steps if step.page})
        needed = [live[name] for name in names] or list(live.values())[:1]
        heading = chosen[0].title if len(chosen) == 1 else translated(TITLE)
        return live_site.single_page(needed, {}, lessons=chosen, title=heading)

    options.out.mkdir(parents=True, exist_ok=True)
    with language.written_in(code):
        for file, content in packages(lessons, page):
            _write(options.out / file, content, options.overwrite)
            print(f"{options.out / file}: {len(content) / 1e6:.1f} MB.", flush=True)
    return 0


def _examples(
    name: str, languages: Sequence[str], options: argparse.Namespace, index: str = ""
) -> dict[str, list[Example]]:
    """Make the pages of one model in each language; its weights are freed afterwards."""
    folder = find_model(options.checkpoints, name)
    translator, summary = Translator(load_model(folder)), summarize(folder)
    found = {}
    for code in languages:
        with language.written_in(code):
            prompts = examples_of(summary)
            sentences = options.sentences or [prompt.source for prompt in prompts][: options.examples]
            found[code] = [
                recorded(translator, text, number, word=word_for(text, prompts), forks=options.forks, index=index)
                for number, text in enumerate(sentences, start=1)
            ]
    return found


def _write(path: Path, content: bytes, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise CommandError("{path} exists already; choose another path, or add --overwrite.", path=path)
    path.write_bytes(content)
