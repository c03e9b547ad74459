"""The Train page in Streamlit's test harness: the form and its command, and a run that is watched.

Processes are stand-ins.
"""

import argparse
import errno
import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.locale.text import plain
from explorer.runs import dry_run
from explorer.runs.dry_run import Plan, PlanError
from explorer.runs.lifecycle import Runs
from explorer.runs.process import LAUNCHES, read_launch
from explorer.web import runtime
from model.data import TASKS
from model.folder import CONFIG, METRICS, PROBE, PROBE_ANSWER, STOP, read_config, write_json
from model.presets import PRESETS
from model.train import parser
from tests.explorer.planted import planted_trace
from tests.explorer.toy_runs import save_run, write_status
from tests.pages.page import assert_says, button, choose, command, has_key, metric, press, run, visit, words
from tests.paths import ROOT


def options(at: AppTest) -> argparse.Namespace:
    return parser().parse_args(command(at))


def planned(at: AppTest) -> AppTest:
    for _ in range(50):
        if "being timed" not in words(at):
            return at
        at.run()
    raise AssertionError("no plan came")


def started(training: Path, name: str) -> list[str]:
    launch = read_launch(training, name)
    assert launch is not None
    return list(launch.arguments[3:])


# The form


@pytest.mark.usefixtures("training")
def test_the_form_says_what_the_run_would_take() -> None:
    at = planned(visit("train"))
    assert (metric(at, "Parameters"), metric(at, "Memory needed"), metric(at, "Takes")) == (
        "1 k",
        "≈ 1 MB",
        "10 to 20 s",
    )
    assert "On 1 core of the CPU (fp32): 100 updates of up to 3 batches" in words(at)
    [takes] = [element for element in at.metric if element.label == "Takes"]
    assert takes.proto.help.startswith("The shorter time is that until the run may end"), "before it was timed, too"
    assert "What to expect after 750 updates: 99.6 % (98.6 % to 99.9 %) right on test, the mean" in words(at)
    assert "of 19,079 training pairs" in words(at)
    assert not button(at, "Start training").disabled
    assert len(at.get("vega_lite_chart")) == 1
    assert "The learning rate begins at 0.1" in words(at)
    assert len(at.selectbox(key="train_task").options) == len(TASKS) + 1
    other = visit("train")  # an interrupted run creates fields that the browser never sees
    assert other.radio(key="train_preset_reverse").proto.set_value
    assert other.radio(key="train_preset_reverse").value == "tiny"


@pytest.mark.usefixtures("training")
def test_the_list_of_models_says_the_same_time_as_the_form_and_what_was_timed_keeps_it() -> None:
    def times(at: AppTest) -> dict[str, str]:
        options = at.radio(key="train_preset_reverse").options
        lines = [line.replace("\N{NO-BREAK SPACE}", " ").split(" · ") for line in options]
        assert not any(" to " in line for line in options), "no line breaks within a time"
        return {plain_name.strip("*"): time[0] if time else "" for plain_name, _, *time in lines}

    at = planned(visit("train"))
    assert times(at)["tiny"] == metric(at, "Takes") == "10 to 20 s"
    assert list(times(at)) == [plain(name) for name in PRESETS if name not in TASKS]
    assert times(at)["small"] != times(at)["tiny"], "it was not timed"
    assert " to " in times(at)["small"], "and has a range all the same"
    assert "out of reach here" in times(at)[plain("paper-base")], "days on a CPU"
    assert "out of reach" not in "".join(time for name, time in times(at).items() if name != plain("paper-base"))
    choose(at, train_preset_reverse="small")
    planned(at)
    assert times(at)["small"] == metric(at, "Takes") == "10 to 20 s"
    assert times(at)["tiny"] == "750 updates: 10 to 20 s", "which is not the number in the field"
    choose(at, train_reverse_max_steps=600)
    assert not any("updates" in time for time in times(planned(at)).values()), "all are for the number that was typed"
    choose(at, train_reverse_small_d_model=33)  # no multiple of the heads
    assert (times(at)["small"], metric(at, "Takes")) == ("", "–"), "it cannot be trained"


@pytest.fixture
def no_corpus(training: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Multi30k is not on this machine, and there is no network; what was asked for."""
    asked = []

    def fail(url: str, timeout: float) -> None:
        asked.append(url)
        raise OSError("no route to host")

    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    monkeypatch.setattr("model.data.multi30k.cache_folder", lambda: training / "nothing")
    monkeypatch.setattr("urllib.request.urlopen", fail)
    return asked


def test_a_corpus_is_not_fetched_unasked_and_a_failed_download_can_be_tried_again(no_corpus: list[str]) -> None:
    at = visit("train", train_task="multi30k-en-de")
    assert not at.table
    assert at.radio(key="train_preset_multi30k-en-de").value == "small"
    assert no_corpus == []
    press(at, "Download and show some")
    assert len(no_corpus) == 1
    assert "could not be downloaded" in words(at)
    press(at, "Try again")
    assert len(no_corpus) == 2


def test_changes_appear_in_the_command(training: Path) -> None:
    at = visit("train")
    choose(
        at,
        train_reverse_tiny_d_model=32,
        train_reverse_tiny_learning_rate=0.0123,
        train_name="mine",
    )
    assert not has_key(at, "train_reverse_tiny_causal"), "one of those behind one more click"
    choose(at, train_more=True)
    choose(at, train_reverse_tiny_causal=False, train_reverse_tiny_schedule="constant")
    assert sorted(options(at).set) == ["causal=false", "d_model=32", "learning_rate=0.0123", "schedule=constant"]
    assert (options(at).name, options(at).preset, options(at).checkpoints) == ("mine", "tiny", training)
    choose(at, train_preset_reverse="small")
    assert options(at).set == []


@pytest.mark.usefixtures("training")
def test_a_shorter_run_is_evaluated_as_often_in_proportion_unless_the_interval_is_chosen() -> None:
    at = visit("train")
    assert options(at).set == []
    choose(at, train_reverse_max_steps=150)
    assert sorted(options(at).set) == ["eval_every=20", "max_steps=150"]
    choose(at, train_reverse_tiny_eval_every_20=50)
    assert sorted(options(at).set) == ["eval_every=50", "max_steps=150"]
    choose(at, train_reverse_max_steps=7500)
    assert options(at).set == ["max_steps=7500"]
    choose(at, train_preset_reverse="lstm-tiny")
    assert "max_steps=7500" in options(at).set, "what was typed is kept"
    assert not has_key(at, "train_reverse_lstm-tiny_d_ff"), "an LSTM has no feed-forward layer"
    choose(at, train_reverse_max_steps=750)
    choose(at, train_preset_reverse="small")
    assert options(at).set == [], "what was not typed follows the model"
    assert at.number_input(key="train_reverse_max_steps").value == 8000


@pytest.mark.usefixtures("training")
def test_rarely_changed_settings_appear_in_the_command_while_they_are_open() -> None:
    at = visit("train")
    choose(at, train_reverse_tiny_d_model=32, train_more=True)
    assert not has_key(at, "train_reverse_tiny_bpe_dropout")
    choose(
        at,
        train_precision="bf16",
        train_device="cpu",
        train_reverse_tiny_consistency="simcut",
        train_reverse_tokenizer="subwords",
    )
    choose(at, train_reverse_tiny_cutoff=0.1, train_reverse_tiny_bpe_dropout=0.1)
    chosen = options(at)
    assert (chosen.precision, chosen.device, chosen.init) == ("bf16", "cpu", None)
    settings = ["bpe_dropout=0.1", "consistency=simcut", "cutoff=0.1", "d_model=32", "tokenizer=subwords"]
    assert sorted(chosen.set) == settings
    choose(at, train_more=False)
    chosen = options(at)
    assert (chosen.precision, chosen.device, chosen.set) == (None, None, ["d_model=32"])


def test_a_run_may_start_from_another_model(training: Path) -> None:
    """Its sizes and tokenizers are taken over, so the command does not mention them."""
    save_run(training / "old")
    runtime.models_changed()
    at = visit("train")
    choose(at, train_reverse_tiny_d_model=32, train_more=True, train_init="old")
    assert (options(at).init, options(at).set) == ("old", [])
    assert "Sizes and tokenizers are those of “old”." in words(at)
    assert not has_key(at, "train_reverse_tokenizer")
    shutil.rmtree(training / "old")
    runtime.models_changed()
    assert options(run(at)).init is None


@pytest.mark.usefixtures("training")
@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("tiny_d_model", 30, "does not divide into"),
        ("max_steps", 0, "max_steps"),
        ("tiny_dropout", 1.0, "dropout"),
        ("tiny_learning_rate", -1.0, "learning_rate"),
    ],
)
def test_a_number_that_cannot_be_is_reported_at_once_and_not_replaced(name: str, value: float, sentence: str) -> None:
    at = visit("train")
    choose(at, **{f"train_reverse_{name}": value})
    assert sentence in words(at)
    assert button(at, "Start training").disabled


@pytest.mark.usefixtures("training")
@pytest.mark.parametrize("refused", [True, False])
def test_a_plan_that_failed(monkeypatch: pytest.MonkeyPatch, refused: bool) -> None:
    def trial(command: tuple[str, ...], wanted: object) -> Plan:
        raise PlanError("no *example* has tokens.", refused=refused)

    monkeypatch.setattr(dry_run, "run_trial", trial)
    at = visit("train")
    for _ in range(50):
        if "no *example* has tokens." not in words(at):
            at.run()
    assert "no *example* has tokens." in words(at)
    assert button(at, "Start training").disabled is refused
    assert metric(at, "Parameters") == ("–" if refused else "≈ 172 k"), "known without it"
    assert metric(at, "Takes") == ("–" if refused else "30 to 85 s")
    assert ("Times and sizes are estimates." in words(at)) != refused
    lines = at.radio(key="train_preset_reverse").options
    assert refused or all(":gray[" in line for line in lines), "each has a time, if a rough one"


@pytest.mark.usefixtures("training")
def test_times_are_called_estimates_until_this_plan_was_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    trial, timed = dry_run.run_trial, threading.Event()

    def later(command: tuple[str, ...], wanted: Callable[[], bool] = lambda: True) -> Plan | None:
        assert timed.wait(60)
        return trial(command, wanted)

    monkeypatch.setattr(dry_run, "run_trial", later)
    at = visit("train")
    assert "Until then, times and sizes are estimates." in words(at)
    timed.set()
    assert "are estimates" not in words(planned(at)), "this plan was timed"
    timed.clear()
    choose(at, train_reverse_max_steps=120)
    assert "Until then, times and sizes are estimates." in words(at)
    timed.set()
    assert "are estimates" not in words(planned(at))


def test_a_link_to_a_run_that_is_gone_says_so_once(training: Path) -> None:
    assert_says(visit("train", run="gone"), "There is no “gone” here. It may have been deleted.")


def test_start_starts_the_command_that_is_shown_and_watches_it(training: Path) -> None:
    at = planned(visit("train"))
    for name, said in (
        ("léa", "“léa” cannot name a model: use 1 to 64 letters a to z or A to Z"),
        ("reverse", "There is already a run or model “reverse”"),
    ):
        choose(at, train_name=name)
        assert said in words(at), "below the field, before Start"
        assert button(at, "Start training").disabled
    assert not (training / LAUNCHES).exists()
    choose(at, train_name="good")
    assert "There is already" not in words(at)
    shown = command(at)
    press(at, "Start training")
    assert started(training, "good")[3:] == shown
    assert at.selectbox(key="run").value == "good"
    press(at, "Stop")
    run(at)
    assert at.selectbox(key="run").value == ""
    assert at.number_input(key="train_reverse_tiny_d_model").value == 64, "the form is as it was"


def test_a_start_that_is_refused_says_why_and_opens_no_run(training: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(runs: Runs, name: str, command: list[str]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    at = planned(visit("train"))
    name = at.text_input(key="train_name").value
    with monkeypatch.context() as patch:
        patch.setattr(Runs, "start", full)
        assert "Free some space and try again." in words(press(at, "Start training"))
        assert at.selectbox(key="run").value == ""
    assert "Free some space" not in words(press(at, "Start training"))
    assert started(training, name)


def test_the_form_says_which_run_is_active_and_which_a_link_names_in_vain(training: Path) -> None:
    save_run(training / "toy", state="running", steps=(0, 10))
    at = visit("train", run="tyo")
    for _ in range(2):  # the page is drawn again when the estimate has come
        assert "There is no “tyo” here. Did you mean 'toy'?" in words(at)
        assert "A new run waits until “toy” has ended." in words(planned(at))


# A run that is watched


@pytest.mark.parametrize(
    ("state", "more", "sentence"),
    [
        ("queued", {}, "another run is being trained on this machine"),
        ("failed", {"error": "the disk is full: free some *space*."}, "the disk is full: free some *space*."),
        ("running", {}, "The heads appear here after the first evaluation"),
        ("running", {}, "What it translates at step 30"),
        ("running", {}, "Training loss 1.00 at step 30"),
    ],
)
def test_a_run_says_how_it_stands(training: Path, state: str, more: dict[str, Any], sentence: str) -> None:
    folder = save_run(training / "mine", state=state)
    write_status(folder, state, **more)
    (folder / PROBE_ANSWER).write_bytes(b"PK nonsense")  # a damaged answer is ignored
    at = visit("train", run="mine")
    assert sentence in words(at)
    if state == "failed":
        press(at, "Resume")
        assert started(training, "mine")[:5] == ["python", "-m", "model.train", "--resume", "mine"]


def test_a_running_run_has_its_numbers_and_can_be_stopped(training: Path) -> None:
    folder = save_run(training / "mine", state="running")
    write_status(folder, "running", eta_s=45.0, eta_low_s=30, eta_high_s=70, tokens_per_s=4200.0)
    at = visit("train", run="mine")
    assert "step 30 of 60, 30 to 70 s left" in at.get("progress")[0].proto.text.replace("\\", "")
    labels = ("Training loss, step 30", "Validation loss, step 30", "Exactly right, of 8 (95 % interval)")
    assert [metric(at, label) for label in labels] == ["1.00", "1.20", "50.0 % (22–78)"]
    assert len(at.get("vega_lite_chart")) == 2
    assert "wrong answers can be listed" not in words(at), "which nobody needs now"
    press(at, "Stop")
    assert (folder / STOP).exists()
    assert "Stopping after the current batch" in words(at)


def test_before_the_first_numbers_a_run_says_when_they_come_and_has_no_empty_axes(training: Path) -> None:
    folder = save_run(training / "mine", state="running")
    (folder / METRICS).write_text("", encoding="utf-8")
    config = read_config(folder)
    write_json(folder / CONFIG, config | {"training": config["training"] | {"eval_every": 20}})
    at = visit("train", run="mine")
    assert "Score, answers and heads come next at step 20." in words(at)
    assert not at.get("vega_lite_chart")
    assert not at.metric
    assert "What it translates" not in words(at)
    lines = [json.dumps({"kind": "train", "step": step, "loss": 2.0, "lr": 0.1}) + "\n" for step in (5, 10)]
    (folder / METRICS).write_text(lines[0], encoding="utf-8")
    assert metric(run(at), "Training loss, step 5") == "2.00"
    assert len(at.get("vega_lite_chart")) == 2, "the first values are points"
    (folder / METRICS).write_text("".join(lines), encoding="utf-8")
    assert "Learning rate 0.1 now" in words(run(at))
    bleu = [{"kind": "eval", "step": 20, "loss": 1.0, "bleu": 40.0, "exact_match": 0.25, "sentences": 60}]
    (folder / METRICS).write_text("".join(json.dumps(line) + "\n" for line in bleu), encoding="utf-8")
    assert "come next at step" not in words(run(at))
    labels = [f"{score}, of 60 (95 % interval)" for score in ("Exactly right", "BLEU")]
    assert [metric(at, label) for label in labels] == ["25.0 % (16–37)", "40.0 (34–46)"]
    assert "BLEU 40.0 (25.0 % exactly right) at step 20" in words(at)


def test_a_run_says_how_it_is_going(training: Path) -> None:
    """Real curves of a run that learned its training pairs by heart."""
    folder = save_run(training / "mine", state="running")
    lines = (ROOT / "tests" / "data" / "runs" / "memorises.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / METRICS).write_text("\n".join(lines[:4]) + "\n", encoding="utf-8")
    at = visit("train", run="mine")
    assert "Too early to say how it is going" in words(at)
    (folder / METRICS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_status(folder, "finished")
    (warning,) = (warning.value for warning in run(at).warning if "by heart" in warning.value)
    assert "since step 60" in warning.replace("\\", "")


def test_a_verdict_comes_with_its_next_step(training: Path) -> None:
    """Of runs that have ended: a diverged one is trained again with a lower rate, and ten pairs want more pairs."""
    folder = save_run(training / "mine", state="finished")
    runs = ROOT / "tests" / "data" / "runs"
    shutil.copy(runs / "diverges.jsonl", folder / METRICS)
    config = read_config(folder)
    write_json(folder / CONFIG, config | {"preset": "tiny", "set": {}, "init": None})
    at = visit("train", run="mine")
    assert "Diverged: the training loss" in words(at)
    code = next(block.value for block in at.code if "mine-2" in block.value and "learning_rate" in block.value)
    rate = config["training"]["learning_rate"] / 4
    assert f"--like mine --name mine-2 --set learning_rate={rate:.2g}" in code
    at.button(key="next_rate_mine").click()
    run(at)
    assert "--set" in started(training, "mine-2")
    shutil.copy(runs / "stuck.jsonl", folder / METRICS)
    at = visit("train", run="mine")
    assert any(f"d_model={2 * config['model']['d_model']} " in block.value for block in at.code), "a larger model"
    write_json(folder / CONFIG, config | {"task": "files", "data": config["data"] | {"task": "files"}})
    lines = [{"kind": "train", "step": n, "loss": 0.01} for n in range(1, 20)]
    lines += [
        {"kind": "eval", "step": n, "loss": 5.0, "bleu": 66.9, "exact_match": 0, "sentences": 1} for n in (5, 10, 19)
    ]
    (folder / METRICS).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    at = visit("train", run="mine")
    assert "Too few pairs to say: BLEU 66.9 of 1 sentence (95 % interval 22 to 100)" in words(at)
    assert "Train it longer" not in words(at)
    assert metric(at, "BLEU, of 1 (95 % interval)") == "66.9 (22–100)"
    at.button(key="next_pairs").click()
    run(at)
    assert at.selectbox(key="train_task").value == "files"


def test_the_watched_sentence_reaches_the_trainer_and_its_answer_is_drawn(training: Path) -> None:
    folder = save_run(training / "mine", state="running")
    at = visit("train", run="mine")
    assert json.loads((folder / PROBE).read_text())["source"] == "headlight"
    choose(at, probe_text_mine="<b>abc</b>")
    assert json.loads((folder / PROBE).read_text())["source"] == "<b>abc</b>"
    planted_trace().save_npz(folder / PROBE_ANSWER)
    write_status(folder, "running", probe_step=30)
    answer = "At step 30 the model answers “je lis livres rouge”. Layer 2, head 1: Its sharpest row is “1 <sos>”"
    assert answer in words(run(at)), "the first head of the last layer, as on Runs"
    assert "follow in a moment" not in words(at)
    write_status(folder, "running", probe_step=20)
    assert "The heads of step 30 follow in a moment. At step 20 the model answers" in words(run(at))
    write_status(folder, "running", probe_step=30)
    run(at)
    assert any(element.proto.bytes for element in at.get("bidi_component"))
