"""Write the site: pages that compute their models in the browser, and recorded translations; or one such page."""

from __future__ import annotations

import argparse
import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from explorer.browser import assets
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import step_worth_seeing
from explorer.decoding.examples import examples_of, word_for
from explorer.decoding.model_summary import story
from explorer.decoding.other_paths import fork_of
from explorer.decoding.translator import Translation, Translator
from explorer.files import live_site
from explorer.files.html_page import document
from explorer.files.standalone_page import ADVICE, Recording, theme_style, translation_page
from explorer.locale.text import plural, printable
from model.checkpoint import load_model
from model.commands import CommandError, OneSentenceParser, add_checkpoints, typed
from model.config import DecodeConfig
from model.folder import find_model, list_models, summarize

MOST_FORKS = 12
INDEX, EXAMPLES = "index.html", "examples"
MIN_PROBABILITY = 0.02  # of a token whose continuation is recorded
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


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
        raise CommandError(f"--forks is a number from 0 to {MOST_FORKS}, not {options.forks}.")
    one_page = options.out.suffix.lower() in (".html", ".htm")
    if one_page and (len(options.sentences) != 1 or len(options.model or ()) != 1):
        raise CommandError("One page shows one sentence of one model: give both, the model with --model.")
    if options.examples is not None and options.examples < 0:
        raise CommandError(f"--examples is a number from 0, not {options.examples}.")
    if options.examples is not None and options.sentences:
        raise CommandError("--examples counts a model's own sentences: leave it out where you give sentences.")
    if not all(sentence.strip() for sentence in options.sentences):
        raise CommandError("A sentence is empty; type one between quotation marks.")
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
            f"There is no trained model in {options.checkpoints}; name another folder with --checkpoints."
        )
    return _write_folder(names, options)


def _single(name: str, options: argparse.Namespace) -> bytes:
    """One page for one sentence: with its model, or recorded."""
    if not options.no_live:
        try:
            model = live_site.live_model(find_model(options.checkpoints, name))
        except live_site.NotLive as reason:
            print(f"{reason} The page has a recording.")
        else:
            return live_site.single_page(model, {"text": options.sentences[0]})
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
                _write(out / example.file, _moved(f"{EXAMPLES}/{quote(example.file)}"), options.overwrite)
            size += len(example.page)
        groups.append((summarize(find_model(options.checkpoints, name)), examples))
        print(f"{name}: {plural(len(examples), 'recorded page')}.", flush=True)
    _write(recordings / INDEX, index_page(groups, live=bool(live)), options.overwrite)
    pages = plural(sum(len(examples) for _, examples in groups), "recorded page")
    if live:
        files = live_site.site_pages(live)
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


def _moved(address: str) -> bytes:
    """A document that leads to another address."""
    target = html.escape(address)
    body = f'<p>This page is <a href="{target}">here</a> now.</p>'
    return document("Moved", body, refresh=target)


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
        raise CommandError(f"{path} exists already; choose another path, or add --overwrite.")
    path.write_bytes(content)


@dataclass(frozen=True, eq=False)
class Example:
    """A page of the folder: the name of its file, its sentences, the number of forks, and its content."""

    file: str
    source: str
    text: str
    n_forks: int
    page: bytes


def recorded(
    translator: Translator, sentence: str, number: int, *, word: str = "", forks: int = 3, index: str = ""
) -> Example:
    """Make the page of one sentence, with the `forks` likeliest other continuations.

    It opens at the step that predicts `word`, or at the closest race between two words. `number` is part of the file
    name, and `index` the address of the page with the list of examples.

    Raises:
        InputError: the sentence is empty.
    """
    own = translator.translate(sentence, DecodeConfig())
    others = [_continued(translator, own, row, rank) for row, rank in runners_up(own, forks)]
    step = step_worth_seeing(own.trace, word)
    page = translation_page(
        [Recording(own, own.text, "the model's own choice", step), *others],
        shown=own,
        place=Place("cross", own.trace.cross.shape[0], 0, row=step, step=step),
        facts=own.notes,
        index=index,
    )
    name = f"{translator.name}-{number}.html"
    return Example(name, own.source.text, own.text, len(others), page)


def runners_up(own: Translation, most: int) -> list[tuple[int, int]]:
    """Choose the likeliest tokens that the model did not take, at most `most`: (row, rank) from 0, sorted."""
    trace, candidates = own.trace, []
    for row, token in enumerate(own.path):
        for rank, other in enumerate(trace.top_ids[row]):
            if int(other) != token and float(trace.top_probabilities[row, rank]) >= MIN_PROBABILITY:
                candidates.append((float(trace.top_probabilities[row, rank]), row, rank))
    best = sorted(candidates, key=lambda candidate: (-candidate[0], candidate[1]))[:most]
    return sorted((row, rank) for _, row, rank in best)


def _continued(translator: Translator, own: Translation, row: int, rank: int) -> Recording:
    """Record the decoding that takes this token instead, and continues by itself."""
    token = int(own.trace.top_ids[row, rank])
    other = translator.translate(own.source.text, DecodeConfig(), prefix=(*own.path[:row], token))
    return Recording(other, other.text, fork_of(own, other, row + 1, token).detail, row + 1)


def index_page(groups: Sequence[tuple[dict[str, Any], Sequence[Example]]], *, live: bool = False) -> bytes:
    """Write the page with the list of examples; each group is a model's summary and its examples.

    `live`: above it is a page that translates any sentence.
    """
    sections = "\n".join(_section(summary, examples) for summary, examples in groups)
    back = '<p><a href="../">← Translate a sentence of your own</a></p>' if live else ""
    body = f"""<main>
{back}<h1>What a translator looks at</h1>
<p>Small translation models, recorded while they translate. Each page steps through one sentence: which words the model
looks at for every word that it writes, head by head, and what it would have written instead.</p>
{sections}
</main>
<footer><p>{html.escape(ADVICE)}</p><p>Made with Headlight. These pages load nothing and send nothing.</p></footer>"""
    return document("What a translator looks at", body, style=theme_style() + assets.style("site"), policy=_POLICY)


def _section(summary: dict[str, Any], examples: Sequence[Example]) -> str:
    items = "\n".join(_item(example) for example in examples)
    name, about = html.escape(printable(str(summary["name"]))), html.escape(printable(story(summary)))
    return f"<section>\n<h2>{name}</h2>\n<p>{about}</p>\n<ul>\n{items}\n</ul>\n</section>"


def _item(example: Example) -> str:
    source, text = (html.escape(printable(words)) for words in (example.source, example.text))
    forks = f" <small>{plural(example.n_forks, 'other continuation')}</small>" if example.n_forks else ""
    link = html.escape(quote(example.file))
    return f'<li><a href="{link}"><bdi>{source}</bdi></a> <span>→ <bdi>{text}</bdi></span>{forks}</li>'
