"""What a run would take: the command, its answer, and the planner that sessions ask."""

import json
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.decoding.examples import FILES
from explorer.runs import dry_run
from explorer.runs.command import TrainingOrder
from explorer.runs.dry_run import (
    Plan,
    PlanError,
    PlanService,
    Sizes,
    read_plan,
    run_trial,
    sizes_at_once,
)
from model import train
from model.analysis.size import parameters_of
from model.architectures import empty_model
from model.config import DataConfig, ModelConfig, TrainConfig, from_dict
from model.data import get_task
from model.data.number_words import number_words
from model.data.proposal import earliest_end, propose
from model.data.task import Example
from model.embeddings import count_parameters
from model.folder import read_config
from model.presets import get_preset
from tests.paths import CHECKPOINTS

Held = tuple[PlanService, list[str], threading.Event]
ANSWER = {
    "parameters": 1000,
    "memory_bytes": 2**20,
    "seconds": 12.5,
    "busy_seconds": 18.75,
    "earliest": 100,
    "earliest_seconds": 12.5,
    "steps": 100,
    "epochs": 1.5,
    "tokens_per_s": 5000,
    "tokens_per_update": 1600,
    "device": "cpu",
    "device_name": "CPU, 2 cores",
    "threads": 1,
    "training": {"gradient_accumulation_steps": 3, "max_tokens": 512},
    "precision": "fp32",
    "src_vocab_size": 30,
    "tgt_vocab_size": 31,
    "examples": {"train": 10, "valid": 2},
    "schedule": [[1, 0.1], [100, 0.01]],
    "something": "new",
}


def answering(answer: str, code: int = 0) -> list[str]:
    """A command that prints this and exits with this code."""
    stream = "stderr" if code else "stdout"
    return ["python", "-c", f"import sys; print({answer!r}, file=sys.{stream}); sys.exit({code})"]


SLEEPS = ["python", "-c", "import time; time.sleep(600)"]
PLAN = read_plan(json.dumps(ANSWER))


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> tuple[PlanService, list[str], threading.Event]:
    """A service whose trials wait for the event; the list holds the commands that were tried."""
    made, go = list[str](), threading.Event()

    def trial(command: tuple[str, ...], wanted: object) -> Plan:
        go.wait(30)
        made.append(*command)
        return PLAN

    monkeypatch.setattr(dry_run, "run_trial", trial)
    return PlanService(), made, go


def wait_for(desk: PlanService, asker: str, command: list[str]) -> Plan | PlanError:
    end = time.monotonic() + 30
    while (answer := desk.ask(asker, command)) is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    return answer


@pytest.mark.parametrize(
    ("command", "said", "refused"),
    [
        (answering("usage: …\nthere is no task 'x'.", code=2), r"^there is no task 'x'\.$", True),
        (answering("Traceback", code=1), "Traceback", False),
        (SLEEPS, "was abandoned", False),
    ],
)
def test_a_refusal_is_the_commands_own_sentence_and_other_failures_prevent_nothing(
    monkeypatch: pytest.MonkeyPatch, command: list[str], said: str, refused: bool
) -> None:
    monkeypatch.setattr(dry_run, "TIMEOUT_SECONDS", 0.2 if command is SLEEPS else 30)
    with pytest.raises(PlanError, match=said) as caught:
        run_trial(command)
    assert caught.value.refused is refused


def test_asking_never_waits_and_each_question_is_answered_once(held: Held) -> None:
    desk, made, go = held
    assert desk.ask("a", ["x"]) is desk.ask("b", ["x"]) is None
    go.set()
    assert wait_for(desk, "a", ["x"]) == desk.ask("c", ["x"]) == PLAN
    assert made == ["x"]


def test_an_abandoned_question_is_skipped_and_the_number_of_open_ones_is_bounded(held: Held) -> None:
    desk, made, go = held
    for question in ("first", "second", "third"):
        desk.ask("a", [question])
    go.set()
    wait_for(desk, "a", ["third"])
    assert "second" not in made
    assert wait_for(desk, "b", ["second"]) == PLAN
    for number in range(dry_run.MAX_ASKERS + 20):
        desk.ask(f"asker {number}", [str(number)])
    assert len(desk._answers) <= dry_run.MAX_PLANS
    assert len(desk._wanted) <= dry_run.MAX_ASKERS


@pytest.mark.parametrize("asker", ["here", "gone"])
def test_an_estimate_that_nobody_waits_for_is_ended(monkeypatch: pytest.MonkeyPatch, asker: str) -> None:
    """So that a huge batch that is typed no longer, or whose tab was closed, does not delay the next estimate."""
    monkeypatch.setattr(dry_run, "PATIENCE_SECONDS", 1.0)
    desk = PlanService()
    desk.ask(asker, SLEEPS)
    assert wait_for(desk, "here", answering(json.dumps(ANSWER))) == PLAN


def test_few_pairs_take_less_time_before_any_trial() -> None:
    """Their updates have few tokens, whatever a batch may have."""
    times = {}
    for n in (12, 400, 40_000):
        pairs = tuple(Example(f"{words} {digits}", digits) for words, digits in number_words(400)) * (n // 400 + 1)
        proposal = propose({"train": pairs[:n], "valid": pairs[:40], "test": ()}, DataConfig())
        order = TrainingOrder("x", FILES, "tiny")
        sizes = sizes_at_once(order, get_preset("tiny"), proposal.data, proposal.of(proposal.data.tokenizer))
        assert sizes is not None
        times[n] = sizes.seconds
    assert times[12] < times[400] / 2
    assert times[400] <= times[40_000]


def test_the_shorter_time_is_that_of_the_first_chance_to_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that was right at three evaluations took 18 seconds, where all of it would have taken 45."""
    small = (("d_model", "16"), ("d_ff", "16"), ("max_steps", "750"), ("eval_every", "100"), ("stop_when_right", "3"))
    order = TrainingOrder("trial", "reverse", "tiny", small, device="cpu")
    assert train.main(order.trial(tmp_path)[3:]) == 0
    plan = read_plan(capsys.readouterr().out)
    assert plan.earliest_seconds == pytest.approx(plan.seconds * 300 / 750, abs=0.1)
    sizes = at_once(order)
    assert sizes is not None
    assert sizes.earliest == 300 / 750
    few = TrainConfig(max_steps=750, eval_every=100, stop_when_right=3)
    assert earliest_end(few, 20) == 300
    assert earliest_end(few, 19) == 750, "so few held-out pairs end no run"
    assert earliest_end(replace(few, patience=1), 20) == 200
    assert earliest_end(replace(few, max_steps=250), 20) == 250


def at_once(order: TrainingOrder) -> Sizes | None:
    return sizes_at_once(order, get_preset(order.preset), get_task(order.task).data)


@pytest.mark.parametrize("name", ["phrases-en-de", "multi30k-en-de"])
def test_words_and_pieces_have_sizes_at_once(name: str) -> None:
    """About as many parameters as the model that was trained so, before anything cuts words or learns pieces."""
    config = read_config(CHECKPOINTS / name)
    preset = replace(get_preset("tiny"), model=config["model"])
    sizes = sizes_at_once(TrainingOrder("trial", name, "tiny"), preset, get_task(name).data)
    assert sizes is not None
    trained = count_parameters(empty_model(from_dict(ModelConfig, config["model"])))
    assert sizes.parameters == pytest.approx(trained, rel=0.05)


@pytest.mark.parametrize("name", ["tiny", "lstm-tiny", "decoder-tiny", "small"])
def test_parameters_before_any_trial_are_those_of_the_model_that_is_built(name: str) -> None:
    for share in ("all", "none"):
        sizes = {"src_vocab_size": 31, "tgt_vocab_size": 31, "share_embeddings": share}
        config = from_dict(ModelConfig, {**get_preset(name).model, **sizes})
        assert parameters_of(config) == count_parameters(empty_model(config))


def test_the_real_command_prints_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = TrainingOrder("trial", "reverse", "tiny", (("d_model", "16"), ("d_ff", "16")), device="cpu")
    assert train.main(order.trial(tmp_path)[3:]) == 0
    plan = read_plan(capsys.readouterr().out)
    assert plan.parameters > 1000
    sizes = at_once(order)
    assert sizes is not None
    assert sizes.parameters == plan.parameters, "letters are about thirty tokens"
    assert sizes.memory == pytest.approx(plan.memory, rel=0.1)
    assert plan.seconds / 10 < sizes.seconds < plan.seconds * 10
    assert at_once(replace(order, changes=(("d_model", "32768"),))) is None
    assert at_once(replace(order, preset="decoder-tiny")) != sizes
    assert plan.seconds > 0
    assert plan.device == "cpu"
    assert plan.examples["train"] > 300
    assert max(rate for _, rate in plan.schedule) > 0
    assert list(tmp_path.iterdir()) == []


def test_the_time_is_a_range_that_ends_with_what_a_busy_machine_takes() -> None:
    ends = (60.0, 92.0), (20.0, 335.0), (3.0, 170.0), (110.0, 120.0)
    plans = [
        read_plan(json.dumps(ANSWER | {"seconds": 60.0, "earliest_seconds": low, "busy_seconds": high}))
        for low, high in ends
    ]
    times = [plan.duration_text for plan in plans]
    assert times == ["1 to 2 min", "20 s to 6 min", "up to 3 min", "1 to 2 min"], "rounded outwards"
    busy = plans[1]
    said = (
        "On 1 core of the CPU (fp32): 100 updates of up to 3 batches of at most 512 tokens a side, about 1,600 tokens "
        "of both sides together, at up to 5,000 tokens/s; 1.5 times through the 10 training pairs. "
    )
    assert busy.summary().startswith(said)
    assert busy.summary().endswith("Vocabulary: 30 source tokens and 31 target tokens, 4 of them special on each side.")
    assert busy.range_sentence().endswith("if they need more, it can take several times as long.")
    single = {"gradient_accumulation_steps": 1, "max_tokens": 4096}
    early = {"epochs": 1300.0, "earliest": 40, "device": "cuda", "device_name": "NVIDIA X, 9 GB", "training": single}
    often = read_plan(json.dumps(ANSWER | early)).summary()
    assert "On NVIDIA X, 9 GB (fp32): 100 updates of a batch of at most 4,096 tokens a side" in often
    assert "at most 1,300 times through the 10 training pairs." in often, "it may end early"


def taking(seconds: float, earliest: float = 1.0) -> Sizes:
    return Sizes(1000, 2**20, seconds, earliest)


def test_sizes_that_have_not_been_timed_take_as_long_as_the_latest_trial_lets_expect() -> None:
    service = PlanService()
    assert service.untimed(taking(50.0)) == (30.0, 80.0), "before the first trial, nothing is known of this machine"
    assert service.untimed(taking(50.0, earliest=0.4)) == (12.0, 80.0), "it may end early"
    for device, least in (("cuda", 0.0), ("cpu", 36.0)):
        plan = json.dumps(ANSWER | {"seconds": 60.0, "busy_seconds": 250.0, "device": device})
        trial = wait_for(service, "here", answering(plan))
        assert isinstance(trial, Plan)
        rough = trial.steps * dry_run.update_seconds(trial.parameters, trial.tokens_per_update)
        assert service.untimed(taking(rough)) == pytest.approx((least, dry_run.UNTIMED * 250)), device
        calm, twice = service.untimed(taking(100 * rough)), service.untimed(taking(200 * rough))
        assert twice[1] < 2 * calm[1], "it is not expected to be busy for ever"
    assert service.known(answering(plan)) == trial
    assert service.known(["another"]) is None
    data = get_task("reverse").data
    times = {}
    for name in ("lstm-tiny", "tiny", "decoder-tiny", "small", "paper-base"):
        sizes = sizes_at_once(TrainingOrder("x", "reverse", name), get_preset(name), data)
        assert sizes is not None
        times[name] = sizes.seconds
    assert times["lstm-tiny"] < times["tiny"] < times["decoder-tiny"]
    assert times["tiny"] < 0.1 * times["small"] < 0.01 * times["paper-base"]
    loaded = json.dumps(ANSWER | {"seconds": 120.0, "busy_seconds": 480.0})
    floor = service.untimed(taking(rough))[0]
    busy = wait_for(service, "here", answering(loaded))
    assert isinstance(busy, Plan)
    assert busy.earliest_seconds == pytest.approx(12.5 / 2), "at the fastest pace"
    assert service.untimed(taking(rough))[0] == floor, "the time of a free machine does not move with the load"
    bounds = []
    service = PlanService()
    for preset in ("tiny", "decoder-tiny"):
        wait_for(service, "here", [*answering(plan), "--preset", preset])
        bounds.append(service.untimed(taking(rough)))
    assert bounds[0] == tuple(2 * bound for bound in bounds[1]), "a decoder that is timed is slow itself"
