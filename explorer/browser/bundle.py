"""Join modules into one script: a worker from a blob cannot import, and one script opens faster than sixty modules.

Each module becomes a function that returns what it exports. The patterns below read the imports and exports that the
linter of the JavaScript allows (`tests/js/eslint.config.js`); whatever else looks like one is refused.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection

from explorer.browser import assets

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.\.?/[\w./-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) )(\[[^\]]*\]|\w+)", re.MULTILINE)
_VIEWS = ("desk", "stepper", "heads", "tour")
_OTHER_VIEWS, _MORE_VIEWS = ("heads", "tour"), ("machine", "cell", "labelled_map")
_LATER = {"more": "desk_more.js", "lessons": "lesson_site.js"}  # parts of the program that a page fetches when needed
_KEPT = "globalThis.__headlightModules"  # the modules of a page's first script that its later ones import
_COMPONENT = "export default function ("  # for Streamlit; a bundle has no use for it
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_BREAKS = re.compile(r"(?<=[{(\[,;\n])\n+")  # line breaks that mean nothing; there are none in texts


@functools.cache
def live_page() -> bytes:
    """The code of a page that computes its models: its script, that of its worker, and the looks of its first views."""
    page = f"{bundle('site.js', kept=_shared())}export default entry.start;\n"
    return assets.as_json({"script": page, "worker": bundle("live/worker.js"), "looks": assets.looks(*_VIEWS)})


@functools.cache
def more_program() -> dict[str, object]:
    """What a page adds to its code when it is first opened: the machine, one weight's origin, and comparisons."""
    return {"script": _later("more"), "looks": assets.looks(*_MORE_VIEWS)}


@functools.cache
def lessons_program() -> dict[str, object]:
    """The script and the style sheet that the pages with lessons add."""
    return {"script": _later("lessons"), "css": assets.style("lesson", "class_page"), "looks": {}}


@functools.cache
def sources(part: str) -> tuple[str, ...]:
    """The files of a part of the program whose messages people read: the first screen, other views, or a later part."""
    page = (*assets.sources(("site", "live/worker"), _VIEWS), "html/site_page.html")
    seen = assets.sources(("stepper",), ("stepper",))
    views = tuple(file for file in assets.sources(_OTHER_VIEWS, _OTHER_VIEWS) if file not in seen)
    if part == "first":
        return tuple(file for file in page if file not in views)
    if part == "views":
        return views
    own = assets.sources([_LATER[part].removesuffix(".js")], _MORE_VIEWS if part == "more" else ())
    return tuple(file for file in own if file not in page)


@functools.cache
def _shared() -> frozenset[str]:
    later = {file for entry in _LATER.values() for file in assets.in_order(entry)}
    return frozenset(later & assets.in_order("site.js").keys())


def _later(part: str) -> str:
    return f"{bundle(_LATER[part], given=_shared())}export default entry;\n"


def bundle(entry: str, *, kept: Collection[str] = (), given: Collection[str] = ()) -> str:
    """Join a module and all that it imports, each after those that it imports itself; `entry` is what it exports.

    Modules in `kept` stay within reach of scripts that are loaded later; those take modules in `given` from there.

    Raises:
        ValueError: modules import each other in a circle, or a module imports or exports in another way.
    """
    texts = assets.in_order(entry)
    names = {file: f"m{i}" for i, file in enumerate(texts)}
    parts = "".join(
        f'const {names[file]} = {_KEPT}["{file}"];\n'
        if file in given
        else f"const {names[file]} = (() => {{\n{_as_function(file, text, names)}}})();\n"
        for file, text in texts.items()
    )
    table = ", ".join(f'"{file}": {name}' for file, name in names.items() if file in kept)
    parts += f"{_KEPT} = {{ {table} }};\n" if table else ""
    joined = f'"use strict";\nconst entry = (() => {{\n{parts}return {names[entry]};\n}})();\n'
    return _BREAKS.sub("", assets.without_comments(joined))


def _as_function(file: str, text: str, names: dict[str, str]) -> str:
    def imported(match: re.Match[str]) -> str:
        wanted = re.sub(r"\bas\b", ":", " ".join(match[1].split()))
        return f"const {{ {wanted} }} = {names[assets.beside(file, match[2])]};"

    exported = [name for _, found in _EXPORT.findall(text) for name in re.findall(r"\w+", found)]
    body = _EXPORT.sub(r"\1\2", _IMPORT.sub(imported, text)).replace(_COMPONENT, "function component(")
    if left := _LEFT.search(body):
        raise ValueError(f"{file} has an import or export that is not joined: {left[0]}")
    return f"{body}\nreturn {{ {', '.join(exported)} }};\n"
