"""Write pages that compute their models in the browser: a folder for any web server, or one file that contains all.

A folder has the models' own files under `models/`, the program under `code/`, and one small document a page. What
changes has a hash of its content in its address, so that a browser may keep it for ever; the documents are loaded anew
at each visit, and name the rest.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from explorer.browser import assets, bundle, wire
from explorer.browser.lesson_structs import LessonOnSite
from explorer.browser.machine_model import exported
from explorer.browser.site_structs import (
    GridShape,
    SiteDoubt,
    SiteExample,
    SiteFile,
    SiteHeader,
    SiteLanguage,
    SiteModel,
)
from explorer.browser.word_rules import word_rules
from explorer.browser.words import catalogue, markup
from explorer.decoding.domain import LOW, sources
from explorer.decoding.examples import examples_of, hint_for, offer_of
from explorer.decoding.model_diagram import diagram_of
from explorer.decoding.model_summary import facts, story, title
from explorer.decoding.translator import Translation, Translator
from explorer.files.html_page import document
from explorer.files.standalone_page import script_hash, theme_style
from explorer.locale import language
from explorer.locale.catalogue import pack
from explorer.locale.glossary import GLOSSARY, address_of, names_of
from explorer.locale.messages import t, translated
from explorer.locale.text import language_name, printable
from explorer.probing.edit_effect import means_over
from explorer.probing.importance import SENTENCES
from explorer.probing.reporting import unheard
from explorer.probing.sample import SampleError, default_choice, gather, subsample
from model.analysis.importance import heads_of
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
MOST_EARLIER = 1_000_000  # bytes of weights of earlier steps of training; of a larger model only the first step
_COMPUTED = {
    "layer_norm": ("standard", "scalar"),
    "key_value_heads": (0,),
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
    (model,) = live_models(folder, [language.current()], translator).values()
    return model


def live_models(folder: Path, languages: Sequence[str], translator: Translator | None = None) -> dict[str, LiveModel]:
    """Read a model folder, with the texts about it in each language; it raises what :func:`live_model` does."""
    summary, rules = _checked(folder)
    translator = translator or Translator(load_model(folder))
    contents = {part: (folder / name).read_bytes() for part, name in _FILES.items()}
    contents |= _means(translator)
    name = str(summary["name"])
    named = _FILES | {"means": _MEANS}
    files = {part: _file(f"models/{name}/{named[part]}", content) for part, content in contents.items()}
    words = {lang: _file(f"models/words-{lang}.json", content) for lang, content in rules.items()}
    snapshots = _earlier(folder)
    earlier = {step: _file(f"models/{name}/step-{step}.safetensors", content) for step, content in snapshots.items()}
    parts = {files[part].address: content for part, content in contents.items()}
    parts |= {words[lang].address: content for lang, content in rules.items()}
    parts |= {earlier[step].address: content for step, content in snapshots.items()}
    config = translator.loaded.model.config
    steps = max(snapshot_steps(folder), default=0)
    translate = functools.cache(functools.partial(translator.translate, config=DecodeConfig()))

    def written() -> LiveModel:
        described = json.dumps(exported(config), separators=(",", ":"), default=vars).encode()
        machine = _file(f"models/{name}/machine.json", described)
        card = SiteModel(
            name=name,
            title=printable(title(summary)),
            trained=bool(summary["trained"]),
            story=printable(story(summary)),
            facts=[printable(line) for line in facts(summary)],
            limit=config.longest_source,
            shapes={kind: GridShape(config.n_layers(kind), config.n_heads(kind)) for kind in ATTENTION_KINDS},
            diagram=diagram_of(config),
            examples=_examples(translate, summary),
            doubt=_doubt(summary, contents["tokenizer"]),
            files=files,
            rules=words,
            machine=machine,
            earlier=earlier,
            steps=steps,
        )
        return LiveModel(card, parts | {machine.address: described})

    models = {}
    for code in languages:
        with language.written_in(code):
            models[code] = written()
    return models


def _earlier(folder: Path) -> dict[str, bytes]:
    """Weights of earlier steps of training by their step: the first, and as many others as fit, evenly spread."""
    steps = snapshot_steps(folder)[:-1]  # the last is the model itself
    size = max((snapshot_path(folder, step).stat().st_size for step in steps), default=1)
    most = min(len(steps), max(1, MOST_EARLIER // size))
    chosen = sorted({steps[round(i * (len(steps) - 1) / max(most - 1, 1))] for i in range(most)})
    return {str(step): snapshot_path(folder, step).read_bytes() for step in chosen}


def estimated_size(folder: Path) -> int:
    """Estimate the bytes of the single page of a model, without loading it: weights hardly compress.

    Raises:
        NotLive: the browser cannot compute this model.
        CheckpointError: the model cannot be opened.
    """
    summary, rules = _checked(folder)
    texts = [
        bundle.live_page(),
        *(assets.as_json(bundle.later_program(part)) for part in ("attention", "more")),
        (folder / TOKENIZER).read_bytes(),
        *rules.values(),
    ]
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
    heads = heads_of(loaded.model_config)
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


def _examples(translate: Callable[[str], Translation], summary: dict[str, Any]) -> list[SiteExample]:
    prompts = examples_of(summary)[:MOST_EXAMPLES]
    examples = []
    for prompt in prompts:
        translation = translate(prompt.source)
        hint = hint_for(prompt.source, prompts, translation)
        step, token, offer = offer_of(prompt.source, prompts, translation) or (0, 0, "")
        examples.append(SiteExample(prompt.source, hint, prompt.word, offer, step, token))
    return examples


def _doubt(summary: dict[str, Any], tokenizer: bytes) -> SiteDoubt:
    task = get_task(str(summary["task"])) if summary.get("task") in TASKS else None
    ours = summary["trained"] and not summary["imported"]
    known = task if ours else None
    data = ""
    if known and known.trained_on:
        data = t("The model was trained on {data}.", data=translated(known.trained_on))
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


def _header(
    models: Sequence[LiveModel], lessons: Sequence[LessonOnSite], query: Mapping[str, str], *, whole: bool
) -> tuple[SiteHeader, dict[str, bytes]]:
    """The header of a page of these models in the language chosen, and the files of the program that it names.

    `whole`: the header has all messages; otherwise those of later parts of the program are in files of their own.
    """
    later = ("attention", "more", "lessons") if lessons else ("attention", "more")
    parts: dict[str, list[dict[str, Any]]] = {part: [bundle.later_program(part)] for part in later}
    if lessons:
        parts["lessons"].append({"lessons": list(lessons)})
    if not whole and language.current() != language.ENGLISH:
        for part, values in parts.items():
            values.append({"words": catalogue(bundle.sources(part))})
    files: dict[str, bytes] = {}
    addresses: dict[str, list[str]] = {"attention": [], "more": [], "lessons": []}
    for part, values in parts.items():
        for value in values:
            content = assets.as_json(value)
            address = _file(f"code/{part}.json", content).address
            files[address] = content
            addresses[part].append(address)
    known = ("first", *(later if whole else ()))
    return SiteHeader(
        page=PAGES[0],
        pages=list(PAGES if lessons else PAGES[:_OF_DESK]),
        root=None,
        languages=[],
        examples="",
        query=dict(query),
        terms={
            address_of(entry.term): (names_of(entry)[0], translated(entry.plain), translated(entry.explanation))
            for entry in GLOSSARY
        },
        models=[model.card for model in models],
        words=catalogue(file for part in known for file in bundle.sources(part)),
        **addresses,
    ), files


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
    left = {file.address for model in models for file in model.card.earlier.values()}
    files = {address: content for model in models for address, content in model.files.items() if address not in left}
    models = [replace(model, card=replace(model.card, earlier={})) for model in models]
    given, program = _header(models, lessons, query, whole=True)
    given = replace(given, page="lessons" if lessons else page, pages=list(PAGES[:_OF_DESK]))
    arrays = {name: np.frombuffer(content, np.uint8) for name, content in (files | program).items()}
    packed = struct.pack("<I", len(code)) + code + wire.write(vars(given), arrays)
    text = base64.b64encode(zlib.compress(packed, _LEVEL)).decode()
    script = f'<script type="text/plain" id="packed">{text}</script>'
    return _document(title or models[0].card.title, script, "worker-src blob:", [language.current()])


Content = tuple[Sequence[LiveModel], Sequence[LessonOnSite]]
"""What a site has in a language: its models and its lessons, with their texts."""


def site_pages(content: Mapping[str, Content]) -> dict[str, bytes]:
    """Write the files of a folder, by their address: documents, program, models, lessons and service worker.

    `content` is given for each language; the first is that of visitors whose own is not among them.
    """
    code = bundle.live_page()
    program = _file("code/site.json", code).address
    files = {program: code}
    languages: list[SiteLanguage] = []
    for lang, (models, lessons) in content.items():
        with language.written_in(lang):
            given, later = _header(models, lessons, {}, whole=False)
            name = language_name(pack(lang))
        given = replace(given, examples=examples_folder(lang, next(iter(content))))
        text = assets.as_json({name: value for name, value in vars(given).items() if name not in _OF_DOCUMENT})
        address = _file(f"code/{lang}.json", text).address
        languages.append(SiteLanguage(lang, name, pack(lang).is_offered, address))
        files |= later | {address: text}
        for model in models:
            files |= model.files
    for page in given.pages:
        root = "" if page == PAGES[0] else "../"
        shown = replace(given, page=page, root=root, languages=languages)
        header = json.dumps({name: getattr(shown, name) for name in _OF_DOCUMENT}, default=vars).replace("<", "\\u003c")
        script = f'<script type="application/json" id="site" data-program="{root}{program}">{header}</script>'
        policy = "connect-src 'self'; worker-src 'self' blob:"
        files["index.html" if not root else f"{page}/index.html"] = _document("Headlight", script, policy, content)
    files["service-worker.js"] = _service_worker(files)
    return files


def examples_folder(lang: str, first: str) -> str:
    """The folder of the recorded examples in a language of a site of which `first` is the first one."""
    return "examples/" if lang == first else f"examples/{lang}/"


_OF_DOCUMENT = ("page", "pages", "root", "languages")
"""The fields of a header that a document of a folder has; the others are in a file for each language."""


def _service_worker(files: Mapping[str, bytes]) -> bytes:
    """The service worker of these files; it has another version whenever one of them is another."""
    documents = [address for address in files if address.endswith("index.html")]
    hashed = [address for address in files if address not in documents]
    first = [address.removesuffix("index.html") or "./" for address in documents]
    first += [address for address in hashed if address.startswith("code/")]
    version = hashlib.sha256("".join(sorted(files)).encode() + files["index.html"]).hexdigest()[:10]
    text = assets.read("service_worker.js").replace("%VERSION%", version)
    return text.replace('["%FIRST%"]', json.dumps(first)).replace('["%FILES%"]', json.dumps(hashed)).encode()


def _document(name: str, script: str, policy: str, languages: Iterable[str]) -> bytes:
    boot, no_script = assets.read("standalone_boot.js"), ""
    for code in languages:
        with language.written_in(code):
            text = t("This page computes with JavaScript, which is switched off in this browser.")
        no_script += f'<p lang="{code}">{html.escape(text)}</p>'
    body = f"""{markup("site_page")}<noscript>{no_script}</noscript>
{script}
<script type="module">{boot}</script>"""
    style = theme_style() + assets.style("standalone", "site_page")
    return document(
        printable(name),
        body,
        style=style,
        policy=f"{_COMMON}; {policy}; script-src {script_hash(boot)} blob: 'wasm-unsafe-eval'",
    )
