"""The browser's code: scripts of joined modules, style sheets and markup, served as packs by a route.

A component's message holds only a few lines (js/mount.js), which fetch the component's pack and run its script.
Streamlit's messages therefore carry data, and code is fetched once: the address of a pack has a hash of its content, so
that the browser may cache it. Pages without a server run scripts that are joined in the same way: a worker from a blob
cannot import, and one script opens faster than sixty modules.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import posixpath
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.browser import words
from explorer.charts.palette import palettes, strokes
from explorer.locale import catalogue
from explorer.locale.language import ENGLISH

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

_HERE = Path(__file__).parent
_IMPORTED = re.compile(r'^(?:import|\}) [^;]*?from "(\.\.?/[\w./-]+\.js)";$', re.MULTILINE)
# Comments of the JavaScript: whole lines, types within a line, and what follows a statement. No string looks like one.
_COMMENTS = re.compile(
    r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/[ \t]*\n|//[^\n]*\n)|/\*\* @type (?:(?!\*/).)*\*/ ?|(?<=[;,{(\[]) // [^\n\"'`]*$",
    re.MULTILINE | re.DOTALL,
)
_CSS_COMMENTS = re.compile(r"/\*.*?\*/\n?", re.DOTALL)
_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)
# What is joined: the imports and exports that the linter allows (`tests/js/eslint.config.js`).
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.\.?/[\w./-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) )(\[[^\]]*\]|\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_BREAKS = re.compile(r"(?<=[{(\[,;\n])\n+")  # line breaks that mean nothing; there are none in texts
_JOINED = "globalThis.__headlightModules"  # what each module of the page's scripts exports, by its file
_CACHED = "public, max-age=31536000, immutable"

_FRAME = ("arrival", "carrier", "copy_link", "glossary", "history", "progress_keeper", "top_line")
# The components that are fetched together: those of the frame in one pack, each larger one in a pack of its own.
_PACKS: dict[str, tuple[str, ...]] = {
    "frame": _FRAME,
    **{
        entry: (entry,)
        for entry in ("cell", "film", "heads", "labelled_map", "machine", "role_grid", "stepper", "tour")
    },
}
_PACK_OF = {entry: name for name, entries in _PACKS.items() for entry in entries}

# The style sheets of each component, later ones taking precedence, and its markup.
PARTS: dict[str, tuple[tuple[str, ...], str]] = {
    "arrival": (("arrival",), "arrival"),
    "carrier": ((), ""),
    "cell": (("views", "labelled_map", "cell"), "cell"),
    "copy_link": (("copy_link",), "copy_link"),
    "desk": (("desk",), "desk"),
    "film": (("views", "labelled_map", "film"), "film"),
    "glossary": (("glossary",), "glossary"),
    "heads": (("views", "heads"), "heads"),
    "history": ((), ""),
    "labelled_map": (("views", "labelled_map"), "labelled_map"),
    "machine": (("views", "machine"), "machine"),
    "progress_keeper": ((), ""),
    "role_grid": (("views", "role_grid"), "role_grid"),
    "stepper": (("views", "stepper"), "stepper"),
    "top_line": (("top_line",), "top_line"),
    "tour": (("tour",), "tour"),
}

FIRST = {"": "stepper", "start": "stepper", "translate": "stepper", "attention": "heads", "inside": "machine"}
"""The pack that a page needs first, beside the frame's, by the page's address."""


def join(*entries: str, given: Collection[str] = ()) -> str:
    """Join modules and all that they import into a script, which puts what each of them exports into `_JOINED`.

    A module that an earlier script of the page has put there stays; those in `given` are always taken from there.

    Raises:
        ValueError: modules import each other in a circle, or a module imports or exports in another way.
    """
    texts = in_order(*entries)
    names = {file: f"m{i}" for i, file in enumerate(texts)}
    parts = "".join(
        f'const {names[file]} = modules["{file}"];\n'
        if file in given
        else f'const {names[file]} = modules["{file}"] ??= (() => {{\n{_as_function(file, text, names)}}})();\n'
        for file, text in texts.items()
    )
    script = f'"use strict";\nconst modules = {_JOINED} ??= {{}};\n{parts}'
    return _BREAKS.sub("", without_comments(script))


def _as_function(file: str, text: str, names: dict[str, str]) -> str:
    def imported(match: re.Match[str]) -> str:
        wanted = re.sub(r"\bas\b", ":", " ".join(match[1].split()))
        return f"const {{ {wanted} }} = {names[beside(file, match[2])]};"

    text = text.replace("export default function (", "export function component(")
    exported = [name for _, found in _EXPORT.findall(text) for name in re.findall(r"\w+", found)]
    body = _EXPORT.sub(r"\1\2", _IMPORT.sub(imported, text))
    if left := _LEFT.search(body):
        raise ValueError(f"{file} has an import or export that is not joined: {left[0]}")
    return f"{body}\nreturn {{ {', '.join(exported)} }};\n"


def in_order(*files: str) -> dict[str, str]:
    """Read modules and all that they import: their text by file, each after the modules that it imports.

    Raises:
        ValueError: modules import each other in a circle.
    """
    texts: dict[str, str] = {}

    def add(file: str, path: tuple[str, ...]) -> None:
        if file in path:
            raise ValueError(f"Modules import each other in a circle: {', '.join((*path[path.index(file) :], file))}.")
        if file not in texts:
            text = read(file)
            for address in imported(text):
                add(beside(file, address), (*path, file))
            texts[file] = text

    for file in files:
        add(file, ())
    return texts


def imported(text: str) -> list[str]:
    """The addresses of the files that a module imports."""
    return _IMPORTED.findall(text)


def beside(file: str, address: str) -> str:
    """The file below js/ that an address in another file means."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), address))


def sources(entries: Iterable[str], components: Iterable[str] = ()) -> tuple[str, ...]:
    """The files whose messages people read in these modules, with all that they import, and in the markup."""
    scripts = in_order(*(f"{entry}.js" for entry in entries))
    markup = [PARTS[component][1] for component in components]
    return (*(f"js/{file}" for file in scripts), *(f"html/{name}.html" for name in markup if name))


@functools.cache
def pack(name: str) -> bytes:
    """The code of the components in a pack, as JSON (`Pack` in js/types.d.ts)."""
    files = ("component.js", *(f"{entry}.js" for entry in _PACKS[name]))
    return as_json({"script": join(*files), "looks": looks(*_PACKS[name])})


@functools.cache
def standalone(views: tuple[str, ...]) -> bytes:
    """The code of a page that stands alone: its script, and style and markup of these components."""
    script = f'{join("standalone.js")}export default modules["standalone.js"].start;\n'
    return as_json({"script": script, "looks": looks(*views)})


def looks(*components: str) -> dict[str, dict[str, str]]:
    """Style and markup of components; those that draw nothing have none."""
    return {
        entry: {"css": style(*PARTS[entry][0]), "html": words.markup(PARTS[entry][1])}
        for entry in components
        if PARTS[entry][1]
    }


def as_json(value: object) -> bytes:
    """Write a value, which may have structs, as JSON, as short as possible."""
    return json.dumps(value, default=vars, ensure_ascii=False, separators=(",", ":")).encode()


def style(*sheets: str) -> str:
    """Style sheets of css/ joined into one; a later one takes precedence."""
    return "".join(_CSS_COMMENTS.sub("", _read("css", f"{name}.css")) for name in sheets)


def content(name: str, language: str = ENGLISH) -> bytes:
    """What a pack's address answers: its code or, in another language, the messages of that code."""
    return pack(name) if language == ENGLISH else _translated(name, catalogue.pack(language))


@functools.lru_cache(256)
def _translated(name: str, language: catalogue.Pack) -> bytes:
    return as_json(words.catalogue(sources(_PACKS[name], _PACKS[name]), language.code))


def address(name: str, language: str = ENGLISH) -> str:
    """The address of a pack or of its messages, relative to the app's; it changes with the content."""
    file = name if language == ENGLISH else f"{name}.{language}"
    return f"headlight/{_digest(content(name, language))}/{file}.json"


@functools.lru_cache(256)
def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def mount(entry: str, language: str = ENGLISH) -> str:
    """The JavaScript that Streamlit sends with a component: it fetches the pack and mounts the component."""
    return _mount(entry, None if language == ENGLISH else catalogue.pack(language))


@functools.lru_cache(256)
def _mount(entry: str, language: catalogue.Pack | None) -> str:
    name = _PACK_OF[entry]
    script = without_comments(_read("js", "mount.js")).replace("%ENTRY%", entry).replace("%ADDRESS%", address(name))
    return script.replace("%WORDS%", address(name, language.code) if language else "")


def routes() -> list[Route]:
    """The routes of the packs, under any base path."""
    from starlette.routing import Route

    return [Route(f"{base}/headlight/{{version}}/{{name}}.json", _answer) for base in ("", "/{base:path}")]


def _answer(request: Request) -> Response:
    """The response with a pack; the browser may cache it if the address names its current content."""
    from starlette.responses import Response

    name, _, language = request.path_params["name"].partition(".")
    if name not in _PACKS or (language and language not in catalogue.files()):
        return Response(status_code=404)
    body = content(name, language or ENGLISH)
    current = _digest(body) == request.path_params["version"]
    headers = {"Cache-Control": _CACHED if current else "no-store", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"], body = "gzip", _compressed(body)
    return Response(body, media_type="application/json", headers=headers)


@functools.lru_cache(256)
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


def read(file: str) -> str:
    """The text of a script of js/; `palettes.js` has no file: it is written from the colours that Python draws with."""
    if file == "palettes.js":
        colours = {"PALETTES": palettes(), "STROKES": strokes()}
        return "".join(f"export const {name} = {json.dumps(value)};\n" for name, value in colours.items())
    return _read("js", file)


def without_comments(script: str) -> str:
    """A script as it travels: without comments and indentation, which are nearly half of it."""
    return _INDENTATION.sub("", _COMMENTS.sub("", script))


def _read(folder: str, file: str) -> str:
    return (_HERE / folder / file).read_text(encoding="utf-8")
