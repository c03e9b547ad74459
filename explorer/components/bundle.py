"""What the browser gets of a component: its modules linked into one text, its style sheet, its HTML; all minified.

Streamlit takes the JavaScript of a component as one ES module and sends it again whenever the component's data change,
so it is kept small. Starting from an entry file, each module follows those that it imports, in a block of its own, so
that two modules may use the same name. What nobody uses is left out: whole modules, and single declarations. The files
in js/ keep to these rules; ESLint checks those that the linker does not:

- An import names what it imports from a file beside it: `import { a, b as c } from "./file.js";`.
- At the top level there are only declarations of one name each; whatever else a module does, its functions do.
- Modules do not import each other in a circle.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from explorer.components import minify
from explorer.figures.palette import palettes

_HERE = Path(__file__).parent
_START = re.compile(r"^(?=[^\s)}\]])", re.MULTILINE)  # of something at the top level
_IMPORT = re.compile(r'import\{([^}]*)\} ?from ?"\./([\w-]+\.js)";')
_DECLARATION = re.compile(
    r"(export )?(default )?((?:async )?(?:function|const|let|class)\b\*?\s*([A-Za-z_$][\w$]*)?.*)", re.DOTALL
)
_WORDS = re.compile(r"[\w$.]+")
_DEFAULT = "default"


@dataclass(frozen=True)
class _Declaration:
    """One top-level declaration: its name, the names that it mentions, and its text without `export`."""

    name: str
    exported: bool
    mentions: frozenset[str]
    text: str


@dataclass(frozen=True)
class _Import:
    """A name of another file and what it is called here."""

    file: str
    name: str
    alias: str


@dataclass(frozen=True)
class _Module:
    imports: dict[str, _Import]
    declarations: dict[str, _Declaration]

    @functools.cached_property
    def names(self) -> set[str]:
        return self.imports.keys() | self.declarations.keys()


@functools.cache
def script(entry: str) -> str:
    """The component whose entry is this file of js/, as one ES module.

    Raises:
        ValueError: a file breaks one of the rules at the top of this module.
    """
    return link(entry, _module)


@functools.cache
def style(*files: str) -> str:
    """Style sheets of css/ as one; where rules conflict, those of a later sheet win."""
    return "".join(minify.css(_read("css", file)) for file in files)


@functools.cache
def markup(file: str) -> str:
    """A file of html/, without indents."""
    return minify.html(_read("html", file))


def _module(file: str) -> str:
    """The text of a module; that of the colours has no file, since Python draws with the same ones."""
    if file == "palettes.js":
        return f"export const PALETTES = {json.dumps(palettes())};\n"
    return _read("js", file)


def _read(folder: str, file: str) -> str:
    return (_HERE / folder / file).read_text(encoding="utf-8")


def link(entry: str, read: Callable[[str], str]) -> str:
    """The modules that an entry needs as the text of one module; `read` gives a file's text by its name.

    Raises:
        ValueError: a file breaks one of the rules at the top of this module.
    """
    modules = _load(entry, read)
    used = _used(entry, modules)
    files = [file for file in modules if file in used]
    imported = [one for file in files for alias, one in modules[file].imports.items() if alias in used[file]]
    private = Counter(name for file in files for name in used[file] & modules[file].declarations.keys())
    private.update(one.alias for one in imported if one.alias != one.name)
    public: dict[tuple[str, str], str] = {}  # what an exported name is called in the bundle
    for one in imported:
        public.setdefault((one.file, one.name), one.name if private[one.name] == 1 else f"{one.name}${len(public)}")
    return "\n".join(_text(file, modules[file], used[file], public, private) for file in files)


def _load(entry: str, read: Callable[[str], str]) -> dict[str, _Module]:
    """All modules that an entry imports, directly or through others, each after those that it imports itself."""
    modules: dict[str, _Module] = {}

    def load(file: str, path: tuple[str, ...]) -> None:
        if file in path:
            raise ValueError(f"Modules import each other in a circle: {', '.join((*path[path.index(file) :], file))}.")
        if file in modules:
            return
        module = _parse(file, read(file))
        for one in module.imports.values():
            load(one.file, (*path, file))
            exported = modules[one.file].declarations.get(one.name)
            if exported is None or not exported.exported:
                raise ValueError(f"{file} imports {one.name} from {one.file}, which does not export it.")
        modules[file] = module

    load(entry, ())
    if _DEFAULT not in modules[entry].declarations:
        raise ValueError(f"{entry} has no default export.")
    return modules


def _used(entry: str, modules: dict[str, _Module]) -> dict[str, set[str]]:
    """The names, by file, that the default export of the entry needs: declarations and imports."""
    used: dict[str, set[str]] = {}
    waiting = [(entry, _DEFAULT)]
    while waiting:
        file, name = waiting.pop()
        module = modules[file]
        if name in used.get(file, ()):
            continue
        used.setdefault(file, set()).add(name)
        if name in module.imports:
            waiting.append((module.imports[name].file, module.imports[name].name))
        else:
            waiting += [(file, mention) for mention in module.declarations[name].mentions & module.names]
    return used


@functools.cache
def _parse(file: str, text: str) -> _Module:
    imports, declarations = {}, {}
    for piece in filter(None, map(str.strip, minify.javascript(_START.sub("\0", text)).split("\0"))):
        if match := _IMPORT.fullmatch(piece):
            names, other = match.groups()
            for name in filter(None, names.split(",")):
                there, _, here = name.partition(" as ")
                imports[here or there] = _Import(other, there, here or there)
            continue
        match = _DECLARATION.fullmatch(piece)
        if match is None:
            raise ValueError(f"{file} has something else than declarations at its top level: {piece[:60]!r}.")
        exported, default, body, name = match.groups()
        if exported and body.startswith("let"):
            raise ValueError(f"{file} exports {name}, which can change; importers would keep its first value.")
        name = _DEFAULT if default else name
        if name is None:
            raise ValueError(f"{file} declares something without a name of its own: {piece[:60]!r}.")
        words = set(_WORDS.findall(body))  # "a.b.c" mentions a, ".b" nothing, "...a" a
        mentions = frozenset(word.removeprefix("...").split(".", 1)[0] if "." in word else word for word in words)
        declarations[name] = _Declaration(name, bool(exported), mentions, piece if default else body)
    return _Module(imports, declarations)


def _text(file: str, module: _Module, used: set[str], public: dict[tuple[str, str], str], private: Counter[str]) -> str:
    """The used part of a module; in a scope of its own if it shares a name with another module of the bundle."""
    imports = {alias: public[one.file, one.name] for alias, one in module.imports.items() if alias in used}
    lines = [f"const {alias} = {name};" for alias, name in imports.items() if alias != name]
    lines += [one.text for name, one in module.declarations.items() if name in used]
    keeps_names = all(alias == name for alias, name in imports.items())
    if _DEFAULT in used or (keeps_names and all(private[name] == 1 for name in used - imports.keys())):
        return "\n".join(lines)
    exports = {name: called for (where, name), called in public.items() if where == file}
    outside = ", ".join(f"{name}: {called}" for name, called in exports.items())
    return "\n".join([f"const {{ {outside} }} = (() => {{", *lines, f"return {{ {', '.join(exports)} }};", "})();"])
