"""Write pages that compute their models in the browser: a folder for any web server, or one file that contains all.

A folder has the models' own files under `models/`, the program under `code/`, and one small document a page. What
changes has a hash of its content in its address, so that a browser may keep it for ever; the documents are loaded anew
at each visit, and name the rest.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from explorer.browser import assets, bundle, wire
from explorer.browser.lesson_structs import LessonOnSite
from explorer.browser.machine_model import exported
from explorer.browser.site_structs import GridShape, SiteDoubt, SiteExample, SiteFile, SiteHeader, SiteModel
from explorer.browser.word_rules import word_rules
from explorer.browser.words import catalogue
from explorer.decoding.domain import LOW, sources
from explorer.decoding.examples import examples_of, hint_for, offer_of
from explorer.decoding.model_summary import facts, story, title
from explorer.decoding.translator import Translator
from explorer.files.html_page import document
from explorer.files.standalone_page import ADVICE, script_hash, theme_style
from explorer.locale.glossary import GLOSSARY, address_of
from explorer.locale.messages import message, t, translated
from explorer.locale.text import printable
from explorer.probing.edit_effect import means_over
from explorer.probing.importance import SENTENCES
from explorer.probing.reporting import unheard
from explorer.probing.sample import SampleError, default_choice, gather, subsample
from model.checkpoint import load_model, read_tokenizers, snapshot_path, snapshot_steps
from model.config import ATTENTION_KINDS, DecodeConfig
from model.data import TASKS, get_task
from model.data.dates import FIRST, LAST, TEMPLATES, is_spelling
from model.folder import CONFIG, SHIPPED, TOKENIZER, WEIGHTS, CheckpointError, summarize
from model.text.tokenizer import Tokenizer
from model.user_error import UserError

PAGES = ("translate", "attention", "inside", "lessons", "class")
_OF_DESK = 3  # the first pages show the desk
MOST_EXAMPLES = 8
MOST_WEIGHTS = 100_000_000  # bytes
HERE = message("The model runs in this browser: nothing is sent to translate.")
MOST_EARLIER = 8_000_000  # bytes of weights of earlier steps of training
_COMPUTED = {
    "layer_norm": ("standard", "scalar"),
    "key_value_heads": (0,),
    "rope_base": (10_000.0,),
    "norm_epsilon": (1e-5,),
    "bias": (True,),
    "head_width": (0,),
    "feed_forward": ("plain",),
    "activation": ("relu", "gelu", "silu"),
    "positions": ("sinusoidal", "learned", "rope", "alibi", "none"),
}
"""The values of settings that the browser can compute, where it cannot compute all; others are imported models'."""
_LEVEL = 6  # of compression, as in standalone_page.py
_COMMON = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"


class NotLive(UserError):
    """A model that the browser cannot compute; the message says why."""


@dataclass(frozen=True, eq=False)
class LiveModel:
    """A model for the page, and the content of its files by their address below the root."""

    card: SiteModel
    files: Mapping[str, bytes]


def live_model(folder: Path, translator: Translator | None = None) -> LiveModel:
    """Read a model folder for the page; `translator` has its model, if that has been loaded already.

    Raises:
        NotLive: the browser cannot compute this model.
        CheckpointError: the model cannot be opened.
    """
    summary, rules = _checked(folder)
    translator = translator or Translator(load_model(folder))
    contents = {part: (folder / name).read_bytes() for part, name in _FILES.items()}
    contents |= _means(translator)
    name = str(summary["name"])
    named = _FILES | {"means": _MEANS}
    files = {part: _file(f"models/{name}/{named[part]}", content) for part, content in contents.items()}
    words = {lang: _file(f"models/words-{lang}.json", content) for lang, content in rules.items()}
    config = translator.loaded.model.config
    described = json.dumps(exported(config), separators=(",", ":"), default=vars).encode()
    machine = _file(f"models/{name}/machine.json", described)
    earlier = _earlier(folder)
    card = SiteModel(
        name=name,
        title=printable(title(summary)),
        trained=bool(summary["trained"]),
        story=printable(story(summary)),
        facts=[printable(line) for line in facts(summary)],
        limit=config.longest_source,
        shapes={kind: GridShape(config.n_layers(kind), config.n_heads(kind)) for kind in ATTENTION_KINDS},
        examples=_examples(translator, summary),
        doubt=_doubt(summary, contents["tokenizer"]),
        files=files,
        rules=words,
        machine=machine,
        earlier={step: _file(f"models/{name}/step-{step}.safetensors", content) for step, content in earlier.items()},
        steps=max(snapshot_steps(folder), default=0),
    )
    parts = {files[part].address: content for part, content in contents.items()}
    parts |= {words[lang].address: content for lang, content in rules.items()}
    parts |= {card.earlier[step].address: content for step, content in earlier.items()}
    return LiveModel(card, parts | {machine.address: described})


def _earlier(folder: Path) -> dict[str, bytes]:
    """Weights of earlier steps of training by their step: the first, and as many others as fit, evenly spread."""
    steps = snapshot_steps(folder)[:-1]  # the last is the model itself
    size = max((snapshot_path(folder, step).stat().st_size for step in steps), default=1)
    most = min(len(steps), MOST_EARLIER // size)
    chosen = sorted({steps[round(i * (len(steps) - 1) / max(most - 1, 1))] for i in range(most)})
    return {str(step): snapshot_path(folder, step).read_bytes() for step in chosen}


def estimated_size(folder: Path) -> int:
    """Estimate the bytes of the single page of a model, without loading it: weights hardly compress.

    Raises:
        NotLive: the browser cannot compute this model.
        CheckpointError: the model cannot be opened.
    """
    summary, rules = _checked(folder)
    texts = [bundle.live_page(), bundle.more_program(), (folder / TOKENIZER).read_bytes(), *rules.values()]
    packed = sum(len(zlib.compress(text, _LEVEL)) for text in texts) + _WEIGHTS_SHARE * int(summary["bytes"])
    return round((packed + _REST) * 4 / 3)


def _checked(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The summary of a model that the browser can compute, and its rules for words by language."""
    summary = summarize(folder)
    if summary["error"]:
        raise CheckpointError("{problem}", problem=summary["error"])
    name, size = summary["name"], summary["bytes"]
    settings = summary["model"]
    if settings.get("architecture") == "lstm":
        raise NotLive("{name} is an LSTM, which is not computed in the browser.", name=name)
    computed = _COMPUTED | ({"causal": (True,)} if settings.get("architecture") == "decoder" else {})
    given = {setting: settings.get(setting, values[0]) for setting, values in computed.items()}
    if other := [f"{setting}={value}" for setting, value in given.items() if value not in computed[setting]]:
        raise NotLive("{name} has {other}, which is not computed in the browser.", name=name, other=", ".join(other))
    if size > MOST_WEIGHTS:
        raise NotLive(
            "{name} has {size:,.1f} MB of weights; a browser is given {most:,.1f} MB at most.",
            name=name,
            size=size / 1e6,
            most=MOST_WEIGHTS / 1e6,
        )
    with safe_open(folder / WEIGHTS, framework="np", backend="pread") as tensors:
        stored = {tensors.get_slice(tensor).get_dtype() for tensor in tensors.offset_keys()}
    if unread := stored - _NUMBERS:
        raise NotLive(
            "{name} stores its weights as {numbers}, which the browser does not read.",
            name=name,
            numbers=", ".join(sorted(unread)),
        )
    return summary, _rules(name, *read_tokenizers(folder))


_NUMBERS = {"F16", "F32"}  # that js/live/safetensors.js reads
_TOKENIZERS = {"characters", "whitespace", "words", "subwords"}  # that js/live/tokenizer.js reads
_WEIGHTS_SHARE, _REST = 0.93, 30_000  # what compression leaves of the weights, and of all that is small
_FILES = {"config": CONFIG, "tokenizer": TOKENIZER, "weights": WEIGHTS}
_MEANS = "means.safetensors"  # a tensor [d_head] for each head, by its kind, layer and number from 0


def _means(translator: Translator) -> dict[str, bytes]:
    """The mean output of every head over the sample of Probe, for the edit `mean`; nothing without such a sample."""
    loaded = translator.loaded
    try:
        sample, _, _ = gather(default_choice(loaded.data_config), loaded, unheard)
    except SampleError:  # the page then offers no such edit
        return {}
    config = loaded.model_config
    heads = [
        (kind, layer, head)
        for kind in config.kinds
        for layer in range(config.n_layers(kind))
        for head in range(config.n_heads(kind))
    ]
    means = means_over(loaded, subsample(sample, SENTENCES), heads)
    return {"means": save({f"{kind}.{layer}.{head}": means[kind, layer, head] for kind, layer, head in heads})}


def _file(address: str, content: bytes) -> SiteFile:
    """A file under an address that changes with its content."""
    digest = hashlib.sha256(content).hexdigest()
    path, _, suffix = address.rpartition(".")
    return SiteFile(f"{path}-{digest[:10]}.{suffix}", len(content), digest)


def _rules(name: str, source: Tokenizer, target: Tokenizer) -> dict[str, bytes]:
    """The rules by which a model's texts are split into words, by language."""
    if unread := {source.kind, target.kind} - _TOKENIZERS:
        raise NotLive(
            "{name} has tokens of the kind {kinds}, which are not computed in the browser.",
            name=name,
            kinds=", ".join(sorted(unread)),
        )
    languages = {side.lang for side in (source, target) if side.kind == "subwords"}
    languages |= {source.lang} if source.kind == "words" else set()  # words of a target are only spelled
    try:
        return {lang: json.dumps(word_rules(lang), ensure_ascii=False).encode() for lang in sorted(languages)}
    except ValueError as reason:
        raise NotLive(
            "{name} splits words by rules that the browser does not have: {reason}", name=name, reason=reason
        ) from None


def _examples(translator: Translator, summary: dict[str, Any]) -> list[SiteExample]:
    prompts = examples_of(summary)[:MOST_EXAMPLES]
    examples = []
    for prompt in prompts:
        translation = translator.translate(prompt.source, DecodeConfig())
        hint = hint_for(prompt.source, prompts, translation)
        step, token, offer = offer_of(prompt.source, prompts, translation) or (0, 0, "")
        examples.append(SiteExample(prompt.source, hint, prompt.word, offer, step, token))
    return examples


def _doubt(summary: dict[str, Any], tokenizer: bytes) -> SiteDoubt:
    task = get_task(str(summary["task"])) if summary.get("task") in TASKS else None
    ours = summary["trained"] and not summary["imported"]
    known = task if ours else None
    data = t("Far from its data")
    if known and known.trained_on:
        data = t("Trained on {data}: this is far from them", data=translated(known.trained_on))
    measured = known if summary["name"] in SHIPPED else None
    letters = json.loads(tokenizer)["source"]["kind"] == "characters"
    return SiteDoubt(
        data=data,
        longest=known.longest if known else 0,
        longest_words=known.longest_words if known else 0,
        low=LOW if ours else 0.0,
        usual=measured.confidence if measured else 0.0,
        letters=letters,
        most_pieces=measured.most_pieces if measured else 0,
        sources=sorted(sources(known.name)) if known and known.complete else [],
        spellings=list(TEMPLATES) if known and known.is_source is is_spelling else [],
        years=(FIRST.year, LAST.year),
        not_a_source=translated(known.not_a_source) if known else "",
    )


def header(
    models: Sequence[SiteModel],
    *,
    page: str,
    root: str | None,
    query: Mapping[str, str],
    more: str,
    lessons: str = "",
) -> SiteHeader:
    """The header of a page of these models; `more` and `lessons` are addresses of parts of the program."""
    terms = {
        address_of(entry.term): (entry.term, translated(entry.plain), translated(entry.explanation))
        for entry in GLOSSARY
    }
    pages = PAGES if lessons and root is not None else PAGES[:_OF_DESK]
    return SiteHeader(page, list(pages), root, dict(query), terms, list(models), more, lessons, catalogue())


def single_page(
    models: Sequence[LiveModel],
    query: Mapping[str, str],
    *,
    page: str = "translate",
    lessons: Sequence[LessonOnSite] = (),
    title: str = "",
) -> bytes:
    """Write one file that contains the program and the models, and opens what `query` says, or its lessons.

    It has no weights of earlier steps of training.
    """
    code = bundle.live_page()
    cards = [replace(model.card, earlier={}) for model in models]
    left = {file.address for model in models for file in model.card.earlier.values()}
    files = {address: content for model in models for address, content in model.files.items() if address not in left}
    more, address = _add_parts(files, lessons)
    page = "lessons" if lessons else page
    given = header(cards, page=page, root=None, query=query, more=more, lessons=address)
    data = wire.write(vars(given), {name: np.frombuffer(content, np.uint8) for name, content in files.items()})
    packed = base64.b64encode(zlib.compress(struct.pack("<I", len(code)) + code + data, _LEVEL)).decode()
    script = f'<script type="text/plain" id="packed">{packed}</script>'
    return _document(title or cards[0].title, script, "worker-src blob:")


def site_pages(models: Sequence[LiveModel], lessons: Sequence[LessonOnSite] = ()) -> dict[str, bytes]:
    """Write the files of a folder, by their address: documents, program, models, lessons and service worker."""
    code = bundle.live_page()
    program = _file("code/site.json", code).address
    files = {program: code}
    for model in models:
        files |= model.files
    more, address = _add_parts(files, lessons)
    cards = [model.card for model in models]
    for page in PAGES if lessons else PAGES[:_OF_DESK]:
        root = "" if page == PAGES[0] else "../"
        given = header(cards, page=page, root=root, query={}, more=more, lessons=address)
        text = json.dumps(given, default=vars, ensure_ascii=True).replace("<", "\\u003c")
        script = f'<script type="application/json" id="site" data-program="{root}{program}">{text}</script>'
        links = f'<a href="{root}examples/">Recorded examples</a>'
        policy = "connect-src 'self'; worker-src 'self' blob:"
        files["index.html" if not root else f"{page}/index.html"] = _document("Headlight", script, policy, links)
    files["service-worker.js"] = _service_worker(files)
    return files


def _add_parts(files: dict[str, bytes], lessons: Sequence[LessonOnSite]) -> tuple[str, str]:
    """Add the parts of the program that are loaded when needed, and the lessons, to the files; their addresses."""
    parts = {"more": bundle.more_program()}
    if lessons:
        value = bundle.lessons_program() | {"lessons": list(lessons)}
        parts["lessons"] = json.dumps(value, default=vars, ensure_ascii=False, separators=(",", ":")).encode()
    named = {_file(f"code/{name}.json", part).address: part for name, part in parts.items()}
    files |= named
    more, *rest = named
    return more, "".join(rest)


def _service_worker(files: Mapping[str, bytes]) -> bytes:
    """The service worker of these files; it has another version whenever one of them is another."""
    documents = [address for address in files if address.endswith("index.html")]
    hashed = [address for address in files if address not in documents]
    first = [address.removesuffix("index.html") or "./" for address in documents]
    first += [address for address in hashed if address.startswith("code/")]
    version = hashlib.sha256("".join(sorted(files)).encode() + files["index.html"]).hexdigest()[:10]
    text = assets.read("service_worker.js").replace("%VERSION%", version)
    return text.replace('["%FIRST%"]', json.dumps(first)).replace('["%FILES%"]', json.dumps(hashed)).encode()


def _document(name: str, script: str, policy: str, links: str = "") -> bytes:
    boot = assets.read("standalone_boot.js")
    no_script = t("This page computes with JavaScript, which is switched off in this browser.")
    body = f"""<header>
<h1>Headlight</h1>
<nav id="pages" aria-label="{html.escape(t("Pages"))}"></nav>
{links}
<div class="buttons">
<button type="button" id="tour-button" hidden>{html.escape(t("Show me"))}</button>
<button type="button" id="theme" hidden></button>
</div>
</header>
<main><div id="lessons-place"></div><div id="desk-home"><div id="desk-place"></div></div></main>
<div id="tour-place"></div>
<p id="failed" role="alert" hidden></p>
<noscript><p>{html.escape(no_script)}</p></noscript>
<footer><p>{html.escape(translated(ADVICE))} {html.escape(translated(HERE))}</p><p id="offline"></p></footer>
<div id="tip" popover="manual" role="tooltip"><p><b></b> <span></span></p><p></p></div>
{script}
<script type="module">{boot}</script>"""
    style = theme_style() + assets.style("standalone", "site_page")
    return document(
        printable(name),
        body,
        style=style,
        policy=f"{_COMMON}; {policy}; script-src {script_hash(boot)} blob: 'wasm-unsafe-eval'",
    )
