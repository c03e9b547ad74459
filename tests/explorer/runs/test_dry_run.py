"""What a run would take: the command, its answer, and the planner that sessions ask."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import pytest

from explorer.runs import dry_run
from explorer.runs.command import TrainingOrder, quoted_command, resume_command
from explorer.runs.dry_run import Plan, PlanError, PlanService, read_plan, run_trial
from explorer.runs.home import ROOT
from model.train import parser

ANSWER = {
    "parameters": 1000,
    "memory_bytes": 2**20,
    "seconds": 12.5,
    "steps": 100,
    "epochs": 1.5,
    "tokens_per_s": 5000,
    "device": "cpu",
    "device_name": "CPU, 2 cores",
    "precision": "fp32",
    "src_vocab_size": 30,
    "tgt_vocab_size": 31,
    "examples": {"train": 10, "valid": 2},
    "schedule": [[1, 0.1], [100, 0.01]],
    "something": "new",
}


def answering(answer: str, code: int = 0) -> list[str]:
    """A command that prints this and exits with this code."""
    return [
        "python",
        "-c",
        f"import sys; print({answer!r}, file=sys.{'stderr' if code else 'stdout'}); sys.exit({code})",
    ]


def wait_for(desk: PlanService, asker: str, command: list[str]) -> Plan | PlanError:
    end = time.monotonic() + 30
    while (answer := desk.ask(asker, command)) is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    return answer


def test_the_command_is_what_the_command_line_takes(tmp_path: Path) -> None:
    order = TrainingOrder("mine", "reverse", "tiny", (("d_model", "32"), ("seed", "7")), device="cpu")
    command = order.command(tmp_path)
    assert command[:3] == ["python", "-m", "model.train"]
    options = parser().parse_args(command[3:])
    assert (options.task, options.name, options.preset, options.device) == ("reverse", "mine", "tiny", "cpu")
    assert options.set == ["d_model=32", "seed=7"]
    assert (options.init, options.precision, options.compile) == (None, None, False)
    order = TrainingOrder("mine", "reverse", "tiny", (("seed", "7"),), init="old", precision="bf16", compile=True)
    options = parser().parse_args(order.command(tmp_path)[3:])
    assert (options.init, options.precision, options.compile, options.set) == ("old", "bf16", True, ["seed=7"])
    assert options.checkpoints == tmp_path
    trial = parser().parse_args(order.trial(tmp_path)[3:])
    assert (trial.dry_run, trial.json) == (True, True)
    assert parser().parse_args(resume_command("mine", tmp_path)[3:]).resume == "mine"


def test_the_default_folder_is_not_named() -> None:
    assert TrainingOrder("mine", "reverse", "tiny").command(ROOT / "checkpoints")[3:] == [
        *("--task", "reverse"),
        *("--name", "mine"),
        *("--preset", "tiny"),
    ]


def test_what_is_shown_can_be_pasted() -> None:
    assert quoted_command(["python", "x y", "a=b"]) in ("python 'x y' a=b", 'python "x y" a=b')


def test_a_plan_is_read() -> None:
    plan = read_plan(json.dumps(ANSWER))
    assert (plan.parameters, plan.memory, plan.seconds) == (1000, 2**20, 12.5)
    assert plan.schedule == ((1, 0.1), (100, 0.01))
    assert plan.examples == {"train": 10, "valid": 2}


@pytest.mark.parametrize("output", ["", "[]", "{}", '{"parameters": "many"}', json.dumps(ANSWER | {"schedule": 3})])
def test_output_that_is_not_a_plan_is_reported(output: str) -> None:
    with pytest.raises(PlanError, match="no plan"):
        read_plan(output)


def test_a_refusal_is_the_command_s_own_sentence() -> None:
    with pytest.raises(PlanError) as caught:
        run_trial(answering("usage: …\nthere is no task 'x'.", code=2))
    assert str(caught.value) == "there is no task 'x'."
    assert caught.value.refused
    with pytest.raises(PlanError) as caught:
        run_trial(answering("Traceback", code=1))
    assert not caught.value.refused


def test_an_estimate_that_takes_too_long_prevents_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "TIMEOUT_SECONDS", 0.2)
    with pytest.raises(PlanError, match="was abandoned") as caught:
        run_trial(["python", "-c", "import time; time.sleep(60)"])
    assert not caught.value.refused


def test_asking_never_waits_and_each_question_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, ...]] = []
    go = threading.Event()

    def trial(command: tuple[str, ...], wanted: object) -> Plan:
        go.wait(30)
        made.append(command)
        return read_plan(json.dumps(ANSWER))

    monkeypatch.setattr(dry_run, "run_trial", trial)
    desk = PlanService()
    assert desk.ask("a", ["x"]) is None
    assert desk.ask("b", ["x"]) is None
    go.set()
    assert isinstance(wait_for(desk, "a", ["x"]), Plan)
    assert isinstance(desk.ask("c", ["x"]), Plan)
    assert made == [("x",)]


def test_an_abandoned_question_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    go = threading.Event()

    def trial(command: tuple[str, ...], wanted: object) -> Plan:
        go.wait(30)
        made.append(command[0])
        return read_plan(json.dumps(ANSWER))

    monkeypatch.setattr(dry_run, "run_trial", trial)
    desk = PlanService()
    for question in ("first", "second", "third"):
        desk.ask("a", [question])
    go.set()
    wait_for(desk, "a", ["third"])
    assert "second" not in made
    assert isinstance(wait_for(desk, "b", ["second"]), Plan)


def test_an_estimate_that_nobody_waits_for_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a huge batch, once it is typed no longer, does not delay the next estimate."""
    desk = PlanService()
    desk.ask("a", ["python", "-c", "import time; time.sleep(600)"])
    desk.ask("a", ["python", "-c", f"print({json.dumps(ANSWER)!r})"])
    assert isinstance(wait_for(desk, "a", ["python", "-c", f"print({json.dumps(ANSWER)!r})"]), Plan)


def test_an_asker_that_has_left_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A huge batch that was typed before the tab was closed does not delay other people's estimates."""
    monkeypatch.setattr(dry_run, "PATIENCE_SECONDS", 1.0)
    desk = PlanService()
    desk.ask("gone", ["python", "-c", "import time; time.sleep(600)"])
    assert isinstance(wait_for(desk, "here", ["python", "-c", f"print({json.dumps(ANSWER)!r})"]), Plan)


def test_a_failed_estimate_can_be_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [PlanError("too slow"), read_plan(json.dumps(ANSWER))]

    def trial(command: tuple[str, ...], wanted: object) -> Plan:
        answer = answers.pop(0)
        if isinstance(answer, PlanError):
            raise answer
        return answer

    monkeypatch.setattr(dry_run, "run_trial", trial)
    desk = PlanService()
    assert str(wait_for(desk, "a", ["x"])) == "too slow"
    assert str(desk.ask("a", ["x"])) == "too slow"
    desk.forget(["x"])
    assert isinstance(wait_for(desk, "a", ["x"]), Plan)


def test_the_number_of_open_questions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "run_trial", lambda *_: read_plan(json.dumps(ANSWER)))
    desk = PlanService()
    for number in range(dry_run.MAX_ASKERS + 20):
        desk.ask(f"asker {number}", [str(number)])
    assert len(desk._answers) <= dry_run.MAX_PLANS
    assert len(desk._wanted) <= dry_run.MAX_ASKERS


@pytest.mark.slow
def test_the_real_command_has_a_plan(tmp_path: Path) -> None:
    order = TrainingOrder("trial", "reverse", "tiny", (("d_model", "16"), ("d_ff", "16")), device="cpu")
    plan = run_trial([sys.executable, *order.trial(tmp_path)[1:]])
    assert plan.parameters > 1000
    assert plan.seconds > 0
    assert plan.device == "cpu"
    assert plan.examples["train"] > 300
    assert max(rate for _, rate in plan.schedule) > 0
    assert list(tmp_path.iterdir()) == []


def test_the_plan_in_words() -> None:
    plan = read_plan(json.dumps(ANSWER | {"examples": {"train": 1}, "skipped": 1, "steps": 1, "tgt_vocab_size": 1}))
    said = plan.summary()
    assert ": 1 update at about " in said
    assert " times through the only training pair." in said
    assert " and 1 target token." in said
    assert said.endswith(" 1 pair is left out, empty or too long.")
    assert read_plan(json.dumps(ANSWER | {"memory_bytes": 3 * 2**20})).memory_text == "3 MB"
    assert read_plan(json.dumps(ANSWER | {"memory_bytes": 3 * 2**30})).memory_text == "3.0 GB"
