"""Pairs that models write: which models are offered for it; started, followed, stopped, listed and removed."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from explorer.runs import made_pairs
from explorer.runs.command import PairsOrder
from explorer.runs.lifecycle import Runs
from explorer.runs.made_pairs import MADE, MadePairs, writers
from explorer.runs.process import RunError, read_launch, start_process
from model.config import DataConfig
from model.data import get_task
from model.relabel import parser
from tests.explorer.runs.test_status import wait_until
from tests.paths import ROOT

ORDER = PairsOrder("reverse", (), "reverse", "reverse-lstm", "cpu")
NAME = "reverse-by-reverse-back-by-reverse-lstm"
LINE = {"model": "reverse", "done": 96, "sentences": 400, "left_out": 2, "seconds_left": 65.0}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MadePairs]:
    """Processes run the program of each test instead of the command, and none is left running."""

    def stand_in(folder: Path, name: str, arguments: Sequence[str]) -> object:
        return start_process(folder, name, ["python", "-S", "-c", PROGRAM[0], *arguments[3:]])

    monkeypatch.setattr(made_pairs, "start_process", stand_in)
    yield MadePairs(tmp_path)
    for making in MadePairs(tmp_path).all():
        launch = read_launch(tmp_path / MADE, making.name)
        if launch is not None and launch.alive:
            psutil.Process(launch.pid).kill()


PROGRAM = [""]


def program(text: str) -> None:
    PROGRAM[0] = text


def now(made: MadePairs, name: str = NAME) -> made_pairs.Making:
    making = made.making(name)
    assert making is not None
    return making


def test_a_making_is_followed_from_its_start_to_its_file(made: MadePairs, tmp_path: Path) -> None:
    end = tmp_path / "end"
    program(
        f"import time, os, sys; print({json.dumps(LINE)!r}, flush=True)\n"
        f"while not os.path.exists({str(end)!r}): time.sleep(0.01)\n"
        "open(sys.argv[sys.argv.index('--out') + 1], 'w').write('{}')"
    )
    assert made.start(ORDER) == NAME
    wait_until(lambda: now(made).done > 0)
    making = now(made)
    assert (making.state, making.share, making.order) == ("running", 0.24, ORDER)
    assert making.progress() == "“reverse” translates: 96 of 400 sentences, about 1 min 05 s left"
    assert MadePairs(tmp_path).unfinished() == [making], "another tab sees the same"
    assert made.finished("reverse", ()) == []
    assert Runs(tmp_path).statuses() == [], "it is no training run"
    with pytest.raises(RunError, match="being made already"):
        made.start(PairsOrder("dates", (), "dates"))
    end.touch()
    wait_until(lambda: now(made).state == "finished")
    assert [making.name for making in made.finished("reverse", ())] == [NAME]
    assert made.finished("reverse", ("--data", "x.tsv")) == made.finished("copy", ()) == []
    assert now(made).origin() == (
        "targets by “reverse”, sources by “reverse-lstm”; 2 sentences left out as empty or too long"
    )
    with pytest.raises(RunError, match="made already"):
        made.start(ORDER)
    made.remove(NAME)
    assert made.all() == []
    assert [path for path in (tmp_path / MADE).rglob("*") if path.is_file()] == []
    made.remove(NAME)  # as from another tab


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit('there is no model *x*.')", "there is no model *x*."),
        ("raise KeyError('x')", "The program failed (KeyError: 'x'); please report this."),
        ("import os; os.kill(os.getpid(), 9)", "most likely because memory ran out"),
        (f"print({json.dumps(LINE)!r})", "most likely because memory ran out"),
    ],
)
def test_a_failure_is_a_sentence_and_can_be_tried_again_and_stopped(made: MadePairs, text: str, said: str) -> None:
    program(text)
    made.start(ORDER)
    wait_until(lambda: now(made).state == "failed")
    wait_until(lambda: said in now(made).error)
    program("import time; time.sleep(60)")
    assert made.start(ORDER) == NAME, "the new attempt takes its place"
    assert [making.state for making in made.all()] == ["running"]
    launch = read_launch(made.folder, NAME)
    assert launch is not None
    assert now(made).progress() == "Reading the data and the models …"
    made.remove(NAME)
    wait_until(lambda: not launch.alive)
    assert made.all() == []


def test_the_command_is_one_that_relabel_takes(made: MadePairs, tmp_path: Path) -> None:
    data = ("--data", "my.tsv", "--header", "yes", "--valid-share", "0.2", "--source-lang", "en", "--target-lang", "de")
    options = parser().parse_args(made.command(PairsOrder("files", data, "", "back"))[3:])
    assert (options.task, options.model, options.reverse, options.device) == ("files", None, "back", "auto")
    assert (options.data, options.valid_share, options.target_lang) == (Path("my.tsv"), 0.2, "de")
    assert (options.out, options.json) == (tmp_path / MADE / "files-back-by-back.jsonl", True)
    with pytest.raises(RunError, match="at least one model"):
        made.start(PairsOrder("reverse"))


def test_other_data_get_another_name(made: MadePairs) -> None:
    made.folder.mkdir()
    for number, name in enumerate(("files-by-a", "files-by-a-2")):
        assert made.command(PairsOrder("files", (f"--data={number}",), "a"))[-4].endswith(f"/{name}.jsonl")
        record = {"task": "files", "data": [f"--data={number}"], "model": "a", "reverse": "", "device": "cpu"}
        (made.folder / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
        (made.folder / f"{name}.jsonl").write_text("{}", encoding="utf-8")
    assert [making.name for making in made.finished("files", ["--data=1"])] == ["files-by-a-2"]
    (made.folder / "files-by-a.json").write_text("[1", encoding="utf-8")
    assert [making.name for making in made.all()] == ["files-by-a-2"]
    assert made.command(PairsOrder("files", (), "a"))[-4].endswith("/files-by-a-3.jsonl"), "no file is overwritten"


@pytest.mark.parametrize(
    "wrong",
    ['"seed": Infinity', '"sample": NaN', f'"sample": 1{"0" * 400}', '"sample": -1', '"seed": 2.9', '"seed": []'],
)
def test_a_damaged_record_is_left_out(made: MadePairs, wrong: str) -> None:
    made.folder.mkdir()
    record = '{"task": "files", "data": [], "model": "a", "reverse": "", "device": "cpu", "sample": 0.7, "seed": 2%s}'
    (made.folder / "whole.json").write_text(record % "", encoding="utf-8")
    (made.folder / "whole.jsonl").write_text("{}", encoding="utf-8")
    (made.folder / "wrong.json").write_text(record % f", {wrong}", encoding="utf-8")
    assert [(making.name, making.order.seed) for making in made.all()] == [("whole", 2)]
    order = PairsOrder("files", (), "a", "", "cpu", 0.7)
    assert made.next_drawn(order).seed == 1
    assert made.command(order)[-4].endswith("/files-by-a-drawn-0.jsonl")


@pytest.mark.nightly  # the same without its process: tests/model/test_relabel.py
def test_real_models_write_pairs_of_a_persons_own_data(tmp_path: Path) -> None:
    """The real process, from the command that the page shows to the file that training reads."""
    table = tmp_path / "own.tsv"
    words = ("cat", "house", "tree", "lamp", "abcdef", "garden", "table", "window", "river", "stone")
    table.write_text("".join(f"{word}\t{word[::-1]}\n" for word in words), encoding="utf-8")
    made = MadePairs(tmp_path)
    for name in ("reverse", "reverse-lstm"):
        (tmp_path / name).symlink_to(ROOT / "checkpoints" / name)
    data = ("--data", str(table), "--header", "no")
    name = made.start(PairsOrder("files", data, "reverse", "reverse-lstm", "cpu"))
    wait_until(lambda: now(made, name).state != "running", seconds=120.0)
    making = now(made, name)
    assert (making.state, making.error, making.done, making.sentences) == ("finished", "", 18, 18)
    pairs = [json.loads(line) for line in making.path.read_text(encoding="utf-8").splitlines()]
    assert {row["made"] for row in pairs} == {"source", "target"}
    assert all(row["target"] == row["source"][::-1] for row in pairs)


def summary(name: str, task: str, src: str, tgt: str, *, causal: bool = True, trained: bool = True) -> dict[str, Any]:
    data = {"task": task, "src_lang": src, "tgt_lang": tgt}
    return {"name": name, "trained": trained, "data": data, "model": {"causal": causal}}


MODELS = [
    summary("another", "files", "xx", "xx"),
    summary("dates", "dates", "en", "en"),
    summary("de-en", "multi30k-de-en", "de", "en"),
    summary("en-de", "multi30k-en-de", "en", "de"),
    summary("phrases", "phrases-en-de", "en", "de"),
    summary("raw", "phrases-en-de", "en", "de", trained=False),
    summary("reverse", "reverse", "xx", "xx"),
    summary("sort", "sort", "xx", "xx"),
    summary("unmasked", "phrases-en-de", "en", "de", causal=False),
]


@pytest.mark.parametrize(
    ("task", "side", "names", "proposed"),
    [
        ("phrases-en-de", "target", ("phrases", "en-de"), "phrases"),
        ("phrases-en-de", "source", ("de-en",), "de-en"),
        ("multi30k-de-en", "source", ("en-de", "phrases"), "en-de"),
        ("reverse", "target", ("reverse", "another"), "reverse"),
        ("reverse", "source", ("reverse", "another"), "reverse"),
        ("sort", "target", ("sort", "another"), "sort"),
        ("sort", "source", ("another",), ""),  # what sorts cannot put letters back
        ("dates", "target", ("dates",), "dates"),
        ("dates", "source", (), ""),
    ],
)
def test_models_that_fit_are_offered_and_the_tasks_own_comes_first(
    task: str, side: str, names: tuple[str, ...], proposed: str
) -> None:
    found = writers(MODELS, get_task(task).data, side)
    assert (found.names, found.proposed) == (names, proposed)
    assert bool(found.missing) is not bool(names)


def test_own_data_without_a_language_fit_models_of_own_data_and_none_is_proposed() -> None:
    for language, names in (("xx", ("another",)), ("en", ())):
        own = writers(MODELS, DataConfig(task="files", src_lang=language, tgt_lang=language), "source")
        assert (own.names, own.proposed) == (names, "")
    half = DataConfig(task="files", src_lang="xx", tgt_lang="de")
    assert [writers(MODELS, half, side).names for side in ("target", "source")] == [("en-de", "phrases"), ("de-en",)]
