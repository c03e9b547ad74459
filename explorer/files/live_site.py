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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.browser import assets, bundle, wire
from explorer.browser.machine_model import exported
from explorer.browser.site_structs import GridShape, SiteDoubt, SiteExample, SiteFile, SiteHeader, SiteModel
from explorer.browser.word_rules import word_rules
from explorer.decoding.domain import LOW
from explorer.decoding.examples import examples_of, hint_for
from explorer.decoding.model_summary import facts, story, title
from explorer.decoding.translator import Translator
from explorer.files.html_page import document
from explorer.files.standalone_page import ADVICE, script_hash, theme_style
from explorer.locale.glossary import GLOSSARY, address_of
from explorer.locale.text import printable
from model.checkpoint import load_model
from model.config import ATTENTION_KINDS, DecodeConfig, to_dict
from model.data import TASKS, get_task
from model.folder import CONFIG, SHIPPED, TOKENIZER, WEIGHTS, summarize
from model.user_error import UserError

PAGES = ("translate", "attention", "inside")
MOST_EXAMPLES = 8
HERE = "The model runs in this browser; what you type stays here."
_COMPUTED = {
    "layer_norm": ("standard", "scalar"),
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


def live_model(folder: Path) -> LiveModel:
    """Read a model folder for the page.

    Raises:
        NotLive: the browser cannot compute this model.
        CheckpointError: the model cannot be opened.
    """
    summary = summarize(folder)
    if summary["model"].get("architecture", "transformer") != "transformer":
        raise NotLive(f"{summary['name']} is an LSTM, which is not computed in the browser.")
    loaded = load_model(folder)
    settings = to_dict(loaded.model_config)
    other = [f"{name}={settings[name]}" for name, values in _COMPUTED.items() if settings[name] not in values]
    if other:
        raise NotLive(f"{summary['name']} has {', '.join(other)}, which is not computed in the browser.")
    contents = {part: (folder / name).read_bytes() for part, name in _FILES.items()}
    name = str(summary["name"])
    rules = _rules(name, contents["tokenizer"])
    files = {part: _file(f"models/{name}/{_FILES[part]}", content) for part, content in contents.items()}
    words = {lang: _file(f"models/words-{lang}.json", content) for lang, content in rules.items()}
    config = loaded.model.config
    described = json.dumps(exported(config), separators=(",", ":"), default=vars).encode()
    machine = _file(f"models/{name}/machine.json", described)
    card = SiteModel(
        name=name,
        title=printable(title(summary)),
        trained=bool(summary["trained"]),
        story=printable(story(summary)),
        facts=[printable(line) for line in facts(summary)],
        limit=config.max_positions - 1,
        shapes={kind: GridShape(config.n_layers(kind), config.n_heads(kind)) for kind in ATTENTION_KINDS},
        examples=_examples(Translator(loaded), summary),
        doubt=_doubt(summary, contents["tokenizer"]),
        files=files,
        rules=words,
        machine=machine,
    )
    parts = {files[part].address: content for part, content in contents.items()}
    parts |= {words[lang].address: content for lang, content in rules.items()}
    return LiveModel(card, parts | {machine.address: described})


_FILES = {"config": CONFIG, "tokenizer": TOKENIZER, "weights": WEIGHTS}


def _file(address: str, content: bytes) -> SiteFile:
    """A file under an address that changes with its content."""
    digest = hashlib.sha256(content).hexdigest()
    path, _, suffix = address.rpartition(".")
    return SiteFile(f"{path}-{digest[:10]}.{suffix}", len(content), digest)


def _rules(name: str, tokenizer: bytes) -> dict[str, bytes]:
    """The rules by which a model's texts are split into words, by language."""
    stored = json.loads(tokenizer)
    source, target = stored["source"], stored["target"]
    target = {**source, "lang": target["lang"]} if "same_as" in target else target
    languages = {side["lang"] for side in (source, target) if side["kind"] == "subwords"}
    languages |= {source["lang"]} if source["kind"] == "words" else set()  # words of a target are only spelled
    try:
        return {lang: json.dumps(word_rules(lang), ensure_ascii=False).encode() for lang in sorted(languages)}
    except ValueError as unread:
        raise NotLive(f"{name} splits words by rules that the browser does not have: {unread}") from None


def _examples(translator: Translator, summary: dict[str, Any]) -> list[SiteExample]:
    prompts = examples_of(summary)[:MOST_EXAMPLES]
    return [
        SiteExample(
            prompt.source,
            hint_for(prompt.source, prompts, translator.translate(prompt.source, DecodeConfig())),
            prompt.word,
        )
        for prompt in prompts
    ]


def _doubt(summary: dict[str, Any], tokenizer: bytes) -> SiteDoubt:
    task = get_task(str(summary["task"])) if summary.get("task") in TASKS else None
    ours = summary["trained"] and not summary["imported"]
    known = task if ours else None
    data = (
        f"Trained on {known.trained_on}: this is far from them" if known and known.trained_on else "Far from its data"
    )
    usual = known.confidence if known and summary["name"] in SHIPPED else 0.0
    letters = json.loads(tokenizer)["source"]["kind"] == "characters"
    return SiteDoubt(data, (known.longest or 0) if known else 0, LOW if ours else 0.0, usual, letters)


def header(models: Sequence[SiteModel], *, page: str, root: str | None, query: Mapping[str, str]) -> SiteHeader:
    """The header of a page of these models."""
    terms = {address_of(entry.term): (entry.term, entry.plain, entry.explanation) for entry in GLOSSARY}
    return SiteHeader(page, list(PAGES), root, dict(query), terms, list(models))


def single_page(model: LiveModel, query: Mapping[str, str], *, page: str = "translate") -> bytes:
    """Write one file that contains the program and the model, and opens what `query` says."""
    code = bundle.live_page()
    given = header([model.card], page=page, root=None, query=query)
    files = {address: np.frombuffer(content, np.uint8) for address, content in model.files.items()}
    data = wire.write(vars(given), files)
    packed = base64.b64encode(zlib.compress(struct.pack("<I", len(code)) + code + data, _LEVEL)).decode()
    script = f'<script type="text/plain" id="packed">{packed}</script>'
    return _document(model.card.title, script, "worker-src blob:")


def site_pages(models: Sequence[LiveModel]) -> dict[str, bytes]:
    """Write the files of a folder, by their address: documents, program, models and service worker."""
    code = bundle.live_page()
    program = _file("code/site.json", code).address
    files = {program: code}
    for model in models:
        files |= model.files
    for page in PAGES:
        root = "" if page == PAGES[0] else "../"
        given = header([model.card for model in models], page=page, root=root, query={})
        text = json.dumps(given, default=vars, ensure_ascii=True).replace("<", "\\u003c")
        script = f'<script type="application/json" id="site" data-program="{root}{program}">{text}</script>'
        links = f'<a href="{root}examples/">Recorded examples</a>'
        policy = "connect-src 'self'; worker-src 'self' blob:"
        files["index.html" if not root else f"{page}/index.html"] = _document("Headlight", script, policy, links)
    files["service-worker.js"] = _service_worker(files)
    return files


def _service_worker(files: Mapping[str, bytes]) -> bytes:
    version = hashlib.sha256("".join(sorted(files)).encode() + files["index.html"]).hexdigest()[:10]
    return assets.read("service_worker.js").replace("%VERSION%", version).encode()


def _document(name: str, script: str, policy: str, links: str = "") -> bytes:
    boot = assets.read("standalone_boot.js")
    body = f"""<header>
<h1>Headlight</h1>
<nav id="pages" aria-label="Pages"></nav>
{links}
<div class="buttons">
<button type="button" id="tour-button" hidden>Show me</button>
<button type="button" id="theme" hidden></button>
</div>
</header>
<main><div id="desk-place"></div></main>
<div id="tour-place"></div>
<p id="failed" role="alert" hidden></p>
<noscript><p>This page computes with JavaScript, which is switched off in this browser.</p></noscript>
<footer><p>{html.escape(ADVICE)} {HERE}</p><p id="offline"></p></footer>
<div id="tip" popover="manual" role="tooltip"><p><b></b> <span></span></p><p></p></div>
{script}
<script type="module">{boot}</script>"""
    style = theme_style() + assets.style("standalone", "site_page")
    return document(
        printable(name), body, style=style, policy=f"{_COMMON}; {policy}; script-src {script_hash(boot)} blob:"
    )
