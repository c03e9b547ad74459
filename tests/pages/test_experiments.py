"""The Experiments page, run by Streamlit's own test harness from app.py; and the Train form that it fills."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.runs import dry_run, experiment_arms
from explorer.runs.dry_run import read_plan
from explorer.runs.experiment_arms import arm_runs
from explorer.screens.train import page as train_page
from explorer.web import runtime
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import SPARING, Arm, Experiment
from model.experiments.stored import path_of, read_runs, write_run
from model.train import parser
from model.training.settings import make_settings, parse_assignments
from tests.explorer.runs.test_dry_run import ANSWER
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import eval_line, write_metrics
from tests.pages.test_train import button, command, words
from tests.paths import ROOT


def opened(name: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["experiment"] = name
    return at.switch_page("pages/experiments.py").run()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_shown_with_its_question_figures_and_commands(name: str) -> None:
    at = opened(name)
    assert not at.exception
    assert at.selectbox(key="experiment").value == name
    said = words(at)
    experiment = EXPERIMENTS[name]
    assert " ".join(experiment.question.split()) in said
    arms = arm_runs(experiment)
    shown = "\n".join(block.value for block in at.code)
    assert all(run.command in shown for one in arms for run in one.runs)
    if not any(one.runs for one in arms):
        assert "This experiment has not been run" in said
        return
    assert at.get("arrow_vega_lite_chart") or at.get("vega_lite_chart")
    assert "mean and range over the runs" in said  # the figure's caption
    scores = next(table.value for table in at.dataframe if "variant" in table.value.columns)
    assert list(scores["variant"]) == [arm.label for arm in experiment.arms]
    assert list(scores["runs"]) == [len(one.runs) for one in arms]


def test_the_address_says_what_is_chosen_and_an_unknown_name_is_ignored() -> None:
    at = opened("nothing of the kind")
    assert not at.exception
    assert at.selectbox(key="experiment").value == next(iter(EXPERIMENTS))
    at.selectbox(key="experiment").set_value("norm").run()
    assert at.query_params["experiment"] in ("norm", ["norm"])
    at.query_params["experiment"] = "residual"  # a link, opened in the same tab
    assert at.run().selectbox(key="experiment").value == "residual"


def test_the_loss_can_be_shown_instead() -> None:
    at = opened("lstm-reverse")
    before = words(at)
    at.session_state["experiment_measure_exact_match"] = "loss"
    at.run()
    assert not at.exception
    assert "Loss on validation" in words(at)
    assert "Loss on validation" not in before


def test_a_run_of_ones_own_is_drawn_over_the_stored_ones(checkpoints: Path) -> None:
    """A folder with the recipe's settings and the stored curve of its seed: found, and found to be the same."""
    (one, *_) = arm_runs(EXPERIMENTS["label-smoothing"])
    folder = checkpoints / "mine"
    save_toy(folder, "adjective-swap")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"preset": one.recipe.preset, "set": one.recipe.settings, "training": {"seed": one.runs[0].seed}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    stored = one.runs[0].valid
    points = zip(stored["step"], stored["exact_match"], strict=True)
    write_metrics(folder, [eval_line(int(step), 0.1, share) for step, share in points])
    at = opened("label-smoothing")
    assert not at.exception
    assert "mine (none, seed 1): 100 % after 200 updates, at every evaluation the same as the stored run" in words(at)
    assert "mine (none, seed 1)" not in words(opened("norm"))


def test_both_models_can_be_seen_with_the_same_text(checkpoints: Path) -> None:
    save_toy(checkpoints / "reverse", "reverse")
    at = opened("lstm-reverse")
    assert [link.proto.label for link in at.get("page_link") if "looks" in link.proto.label] == ["Where reverse looks"]
    lstm = {"architecture": "lstm", "positions": "none", "n_encoder_heads": 1, "n_decoder_heads": 1}
    save_toy(checkpoints / "reverse-lstm", "reverse", **lstm)
    runtime._summaries.clear()
    at = opened("lstm-reverse")
    assert not at.exception
    queries = [link.proto.query_string for link in at.get("page_link") if "looks" in link.proto.label]
    assert queries == ["model=reverse&text=headlight", "model=reverse-lstm&text=headlight"]


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    runtime._summaries.clear()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "arm"), [("positions", 2), ("lstm-reverse", 1), ("heads", 1), ("notebook-phrases", 2), ("rate", 4)]
)
def test_run_again_fills_the_train_form(
    name: str, arm: int, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command on the Train page has the settings of the stored one that change weights; earlier entries are reset.

    Snapshots are kept, so that the run's heads can be watched.
    """
    monkeypatch.setattr(dry_run, "run_trial", lambda *_: read_plan(json.dumps(ANSWER)))
    train_page.plan_service.clear()
    experiment = EXPERIMENTS[name]
    recipe = experiment.recipe(experiment.arms[arm])
    at = opened(name)
    at.session_state[f"train_{recipe.base.task}_{recipe.preset}_clip_norm"] = 0.5  # an earlier entry
    at.selectbox(key=f"experiment_way_{name}").set_value(arm)
    at.selectbox(key=f"experiment_seed_{name}").set_value(3).run()
    button(at, "Run it again on the Train page").click().run()
    assert not at.exception
    assert "This form was filled from the experiment '" in words(at)
    options = parser().parse_args(command(at)[3:])
    assert (options.task, options.preset) == (recipe.base.task, recipe.preset)
    stored = parser().parse_args(recipe.command(3)[3:])
    assert (options.device, options.precision, options.threads) == (stored.device, stored.precision, stored.threads)
    from model.data import get_task
    from model.presets import get_preset

    data, preset = get_task(recipe.base.task).data, get_preset(recipe.preset)
    wanted = {key: value for key, value in recipe.settings.items() if key not in SPARING} | {"seed": "3"}
    assert make_settings(data, preset, parse_assignments(options.set)) == make_settings(data, preset, wanted)


REVERSE = EXPERIMENTS["norm"].base
CHAIN = Experiment(
    "chain",
    "Made pairs",
    "Do pairs help?",
    replace(REVERSE, name="reverse-on", chain="last", start="first"),
    (Arm("alone"), Arm("with pairs", added=("made.jsonl",))),
)


def test_runs_that_start_from_a_chain_show_both_commands_and_fill_no_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a run is stored and after."""
    monkeypatch.setitem(EXPERIMENTS, "chain", CHAIN)
    monkeypatch.setattr(experiment_arms.arm_runs, "__defaults__", (tmp_path,))
    alone, made = map(CHAIN.recipe, CHAIN.arms)
    at = opened("chain")
    assert not at.exception
    assert "This experiment has not been run" in words(at)
    shown = ["\n".join(" ".join(command) for command in recipe.commands(1)) for recipe in (alone, made)]
    assert [block.value for block in at.code] == shown

    run = read_runs(EXPERIMENTS["norm"].recipe(EXPERIMENTS["norm"].arms[0]))[0]
    for recipe, commands in zip((alone, made), shown, strict=True):
        write_run(recipe, replace(run, command=commands), tmp_path)
    at = opened("chain")
    assert not at.exception
    assert [block.value for block in at.code] == shown
    assert "The first of two commands makes the files that a run starts from" in words(at)
    assert button(at, "Run it again on the Train page").disabled
    assert "these runs start from files that other commands make" in words(at)


def test_damaged_results_get_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = EXPERIMENTS["norm"].recipe(EXPERIMENTS["norm"].arms[0])
    write_run(recipe, read_runs(EXPERIMENTS["norm"].recipe(EXPERIMENTS["norm"].arms[0]))[0], tmp_path)
    monkeypatch.setattr(experiment_arms.arm_runs, "__defaults__", (tmp_path,))
    assert "Not run yet: 'post-norm'." in words(opened("norm"))
    path_of(recipe, tmp_path).write_text("{")
    at = opened("norm")
    assert not at.exception
    assert "reverse.json is not valid JSON" in words(at)
