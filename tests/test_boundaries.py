"""The rules of the architecture: imports point down, only the upper packages use Streamlit, and forbidden constructs.

One test per rule. A failure names the files and what they import.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.paths import ROOT
from tests.trees import dotted, nodes

HOUSE = ("model", "explorer", "pages", "tests")
MAX_LINES = 450  # a longer file has more than one subject

SOURCES = sorted(
    path
    for path in (ROOT / "app.py", *(path for room in HOUSE for path in (ROOT / room).rglob("*.py")))
    if "node_modules" not in path.parts
)
SCRIPTS = sorted(
    path
    for room in HOUSE
    for ext in ("js", "css", "html")
    for path in (ROOT / room).rglob(f"*.{ext}")
    if "node_modules" not in path.parts
)

# The packages of explorer/ from the bottom up: each may import itself and those before it.
ROOMS = (
    *("locale", "decoding", "probing", "runs", "launch", "__main__", "charts"),
    *("browser", "files", "notebook", "lessons", "site", "collecting", "web", "screens"),
)
STREAMLIT_ROOMS = {"browser", "web", "screens"}


TRAINING = {"model.train", "model.training", "model.experiments.runner", "model.experiments.__main__"}
FORBIDDEN = {
    "model": {"streamlit", "plotly", "altair", "pandas", "matplotlib", "explorer", "pages", "app", "tests"},
    "explorer": {*TRAINING, "model.translate", "model.evaluate", "pages", "app", "tests"},
    "pages": {*TRAINING, "tests", "app"},
    "app.py": {"model.train", "model.training", "tests"},
}

# Written in two halves, so that this file passes its own test.
UNSAFE_CALLS = {
    "torch.lo" + "ad",
    "pickle.lo" + "ad",
    "pickle.lo" + "ads",
    "joblib.lo" + "ad",
    "ev" + "al",
    "ex" + "ec",
}
UNSAFE_WORDS = ("unsafe_allow_" + "html", "unsafe_allow_" + "javascript", "inner" + "HTML", "outer" + "HTML")
UNSAFE_IMPORTS = {"pickle", "dill", "joblib", "shelve", "marshal"}
UNSAFE_IN_SCRIPTS = (
    "insertAdjacent" + "HTML",
    r"document\.wri" + "te",
    r"\bev" + r"al\(",
    r"https?://(?!www\.w3\.org)",
)
UNSAFE_SCRIPT = re.compile("|".join((*UNSAFE_WORDS, *UNSAFE_IN_SCRIPTS)))


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


@cache
def calls(path: Path) -> tuple[tuple[str, ast.Call], ...]:
    """Every call in a file, with the full dotted name of what it calls."""
    return tuple((dotted(node.func), node) for node in nodes(path) if isinstance(node, ast.Call))


@cache
def imports(path: Path) -> set[str]:
    """Every module that a file imports anywhere, also inside functions; `from a import b` counts as a and a.b."""
    found: set[str] = set()
    package = path.relative_to(ROOT).with_suffix("").parts
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: -node.level] if node.level else ()
            base = ".".join((*above, node.module or "")).strip(".")
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    for called, node in calls(path):
        if called in {"importlib.import_module", "__import__"}:
            found |= {str(arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant)}
    return found


def reaches(imported: str, forbidden: str) -> bool:
    return imported == forbidden or imported.startswith(f"{forbidden}.")


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def floor_of(module: str) -> int | None:
    """The level of a module in explorer/; None outside it, and for the empty package itself."""
    parts = module.split(".")
    if parts[0] != "explorer" or len(parts) < 2:
        return None
    return ROOMS.index(parts[1])


def crossings(path: Path) -> set[str]:
    forbidden = FORBIDDEN.get(room_of(path), set())
    return {name for name in imports(path) for room in forbidden if reaches(name, room)}


def climbs(path: Path) -> Iterator[str]:
    """What a module of explorer/ imports from a higher package or from another screen."""
    own = module_of(path).split(".")
    floor = floor_of(".".join(own))
    if floor is None or own[:3] == ["explorer", "launch", "installed"]:  # the package `headlight`, above them all
        return
    for name in imports(path):
        parts = name.split(".")
        above = floor_of(name)
        other_screen = own[1] == "screens" and parts[:2] == ["explorer", "screens"] and parts[2:3] != own[2:3]
        if above is not None and (above > floor or other_screen):
            yield name if name in modules() else name.rpartition(".")[0]


@cache
def modules() -> dict[str, Path]:
    return {module_of(path): path for path in SOURCES}


@cache
def ours_reached(module: str) -> frozenset[str]:
    """The modules of ours that importing this one imports, itself included; imports inside functions count, too."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in modules():
            continue
        seen.add(name)
        waiting.extend(imports(modules()[name]))
    return frozenset(seen)


def test_imports_point_one_way() -> None:
    assert {room_of(path) for path in SOURCES} == {*HOUSE, "app.py"}
    crossed = {short(path): sorted(found) for path in SOURCES if (found := crossings(path))}
    assert not crossed


def test_packages_import_only_packages_below_them() -> None:
    assert {name.split(".")[1] for name in modules() if name.startswith("explorer.")} == set(ROOMS)
    climbing = {short(path): sorted(found) for path in SOURCES if (found := set(climbs(path)))}
    assert not climbing


def test_no_file_imports_itself_in_a_circle() -> None:
    """Whoever reads a file can read what it needs first; imports inside functions count, too."""
    files = {name: path for name, path in modules().items() if path.name != "__init__.py"}
    ours = [name for name in files if name.split(".")[0] in ("explorer", "model")]
    TopologicalSorter({name: imports(files[name]) & files.keys() - {name} for name in ours}).prepare()


def test_only_packages_that_draw_import_streamlit() -> None:
    """Directly or indirectly: everything below web, screens and components can be used in a notebook."""
    drawing = {name for name, path in modules().items() if any(reaches(i, "streamlit") for i in imports(path))}
    ours = [name for name in modules() if name.startswith(("explorer.", "model"))]
    below = [name for name in ours if name.startswith("model") or name.split(".")[1] not in STREAMLIT_ROOMS]
    assert not {name: sorted(reached) for name in below if (reached := ours_reached(name) & drawing)}


def test_every_import_is_static() -> None:
    """No module is imported by a name that is computed at run time."""
    hidden = [
        f"{short(path)}:{call.lineno}"
        for path in SOURCES
        if room_of(path) != "tests"
        for called, call in calls(path)
        if called in {"importlib.import_module", "__import__", "importlib.util.find_spec", "find_spec"}
        and not all(isinstance(arg, ast.Constant) for arg in call.args[:1])
    ]
    assert not hidden


def test_nothing_is_unpickled_evaluated_or_slipped_past_the_escaping() -> None:
    found = []
    for path in SOURCES:
        if room_of(path) == "tests":
            continue
        text = path.read_text(encoding="utf-8")
        unsafe = {called for called, _ in calls(path)} & UNSAFE_CALLS
        unsafe |= {name.split(".")[0] for name in imports(path)} & UNSAFE_IMPORTS
        unsafe |= {word for word in (*UNSAFE_WORDS, "allow_pickle=" + "True") if word in text}
        found += [f"{short(path)}: {word}" for word in sorted(unsafe)]
    assert not found


def test_browser_code_builds_no_markup_from_text_and_fetches_nothing() -> None:
    found = {
        short(path): words for path in SCRIPTS if (words := UNSAFE_SCRIPT.findall(path.read_text(encoding="utf-8")))
    }
    assert not found


def test_files_are_short() -> None:
    lengths = {short(path): len(path.read_text(encoding="utf-8").splitlines()) for path in [*SOURCES, *SCRIPTS]}
    long = {name: n for name, n in lengths.items() if n > (150 if name.startswith("pages/") else MAX_LINES)}
    assert not long, "split by meaning"
