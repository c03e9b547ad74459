"""No way around the gateway: every computation with a model goes through the queue of `explorer.web.runtime`.

The first half checks the sources; the second visits every tab of every page and watches every module of every model.
"""

import ast
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from explorer.decoding.translator import Translation
from explorer.web import measurements, model_queue, runtime
from model.config import DecodeConfig
from model.edits import HeadEdit, HeadEdits
from tests import pseudo
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run
from tests.pages.page import VISITS, shows_its_subject, visit
from tests.pages.test_languages import english, texts
from tests.paths import ROOT
from tests.trees import dotted, nodes

GATEWAY = "explorer/web/runtime.py"
# The modules that may load weights: the gateway, snapshots of a run (used inside `runtime.snapshot_turn`), the check of
# an imported folder, which computes nothing, and command lines and notebooks, which serve nobody else.
LOADS = {GATEWAY, "explorer/runs/head_history.py", "explorer/runs/archive.py"}
LOADS |= {"explorer/probing/ship.py", "explorer/site/command.py", "explorer/files/live_site.py"}
LOADS |= {"explorer/lessons/folder_models.py", "explorer/notebook/tables.py"}
TURNS = {"runtime.model", "runtime.snapshot_turn"}
# What gives access to a model's weights: attributes of a loaded model, and the functions that load one.
REACHES = {"transformer", "loaded"}
LOADERS = {"load_model", "moment", "Translator"}


def drawing_sources() -> list[Path]:
    """The files to check: the packages above the gateway, and the gateway's neighbours."""
    rooms = [ROOT / "explorer" / room for room in ("web", "screens", "browser")] + [ROOT / "pages"]
    found = [path for room in rooms for path in room.rglob("*.py")] + [ROOT / "app.py"]
    return [path for path in found if path.relative_to(ROOT).as_posix() != GATEWAY]


def ways_around(tree: ast.AST) -> list[str]:
    """Where a source uses a loaded model outside a `with runtime.model(…)` block, or lets it leave the block."""
    found: list[str] = []
    arguments = [node for node in ast.walk(tree) if isinstance(node, ast.arg)]
    # A function that takes a loaded model computes with it in the turn that its caller holds.
    taken = {each.arg for each in arguments if each.annotation and ast.unparse(each.annotation) == "LoadedModel"}

    def visit(node: ast.AST, inside: bool, names: frozenset[str]) -> None:
        if isinstance(node, ast.With):
            turns = [item for item in node.items if _called(item.context_expr) in TURNS]
            bound = {item.optional_vars.id for item in turns if isinstance(item.optional_vars, ast.Name)}
            for child in ast.iter_child_nodes(node):
                visit(child, inside or bool(turns), names | bound)
            return
        if isinstance(node, ast.FunctionDef | ast.Lambda) and inside:
            found.append(f"{node.lineno}: a function made inside the block may outlive it")
        if (
            isinstance(node, ast.Attribute)
            and node.attr in REACHES
            and not inside
            and ast.unparse(node.value) not in taken
        ):
            found.append(f"{node.lineno}: .{node.attr} outside a turn")
        if not inside and isinstance(node, ast.Call) and _called(node).rpartition(".")[2] in LOADERS:
            found.append(f"{node.lineno}: {_called(node)} outside a turn")
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id in names:
            found.append(f"{node.lineno}: the model leaves the block")
        if isinstance(node, ast.Attribute) and node.attr == "_translator":
            found.append(f"{node.lineno}: the gateway's own cache")
        for child in ast.iter_child_nodes(node):
            visit(child, inside, names)

    visit(tree, False, frozenset())
    return found


def _called(node: ast.AST) -> str:
    return dotted(node.func) if isinstance(node, ast.Call) else ""


def test_no_screen_reaches_a_model_outside_a_turn() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): ways for path in drawing_sources() if (ways := ways_around(nodes(path)[0]))
    }
    assert not found


def test_only_these_modules_load_weights() -> None:
    sources = [*(ROOT / "explorer").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
    loading = {
        path.relative_to(ROOT).as_posix()
        for path in sources
        for node in nodes(path)
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in {"load_model", "Translator"}
    }
    assert loading == LOADS


class Watched(model_queue.Queue):
    """The queue, with a record of the largest number of threads that held a place at once."""

    def __init__(self) -> None:
        super().__init__()
        self.most = self._held = 0
        self._count = threading.Lock()

    def acquire(self, announce: model_queue.Announce | None = None) -> None:
        super().acquire(announce)
        with self._count:
            self._held += 1
            self.most = max(self.most, self._held)

    def release(self) -> None:
        with self._count:
            self._held -= 1
        super().release()


class Watch:
    """What ran: the number of calls of our modules, and the calls by threads that held no place."""

    def __init__(self, queue: Watched) -> None:
        self.queue, self.calls = queue, 0
        self.outside: list[str] = []

    def __call__(self, module: torch.nn.Module, inputs: Any) -> None:
        if type(module).__module__.startswith("model."):
            self.calls += 1
            if not model_queue.holds_place():
                self.outside.append(type(module).__name__)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Watch]:
    """Watches every module of a model; the toy models are new, so that nothing comes from a cache."""
    queue = Watched()
    monkeypatch.setattr(model_queue, "_queue", queue)
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    measurements.store.clear()
    save_toy(tmp_path / "toy", "adjective-swap", **ODD)
    save_run(tmp_path / "toy-7")
    for pair in ("adjective-swap", "adjective-swap-unmasked"):  # what Masks compares
        save_toy(tmp_path / pair, "adjective-swap", causal=pair == "adjective-swap")
    seen = Watch(queue)
    hook = register_module_forward_pre_hook(seen)
    yield seen
    hook.remove()
    measurements.store.clear()


ODD = {"d_model": 18, "n_encoder_heads": 3, "n_decoder_heads": 1, "layer_norm": "scalar", "positions": "learned"}
COMPUTES = {"translate", "attention", "positions", "masks", "inside", "probe", "runs"}


@pytest.mark.parametrize("page", VISITS)
def test_every_tab_shows_its_subject_computes_inside_the_queue_and_has_no_english_left(
    page: str, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pack of the tests, which writes every English word with accents."""
    monkeypatch.setenv("HEADLIGHT_LOCALES", str(pseudo.packs()))
    here = {"model": "toy", "text": "I read red books"}
    for number, query in enumerate(VISITS[page]):
        if not number:  # what is cached now must not be in English afterwards
            visit(page, **here | query)
        at = visit(page, **here | query, lang=pseudo.CODE)
        assert not at.error, query
        assert shows_its_subject(at, page, pseudo.prefix), query
        assert not {text: found for text in texts(at) if (found := english(text))}, query
    assert not watch.outside, f"{len(watch.outside)} of {watch.calls} calls"
    assert bool(watch.calls) == (page in COMPUTES), f"{watch.calls} calls"
    assert watch.queue.most <= 2


def test_of_many_visitors_two_compute_at_once(watch: Watch) -> None:
    texts = [f"{'abc' * (number + 1)}" for number in range(8)]
    with ThreadPoolExecutor(8) as visitors:
        found = list(visitors.map(lambda text: runtime.translate("toy", text, DecodeConfig()), texts))
    assert [each.source.text for each in found] == texts
    assert not watch.outside
    assert watch.calls
    assert watch.queue.most == 2


def test_two_edits_of_the_same_sentence_are_two_translations_and_each_is_computed_once(watch: Watch) -> None:
    def translated(*ops: str) -> Translation:
        edit = HeadEdits(tuple(HeadEdit("cross", 0, 0, op) for op in ops))
        return runtime.translate("toy", "abc", DecodeConfig(), edit=edit)

    found = [translated(), translated("zero"), translated("uniform")]
    edits = [(), ("cross layer 1 head 1: zero",), ("cross layer 1 head 1: uniform",)]
    assert [each.trace.edits for each in found] == edits
    assert len({each.seq for each in found}) == 3
    before = watch.calls
    assert translated("zero") is found[1]
    assert watch.calls == before
