"""The Experiments page in Streamlit's test harness."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.runs import experiment_arms
from explorer.runs.experiment_arms import arm_runs
from explorer.runs.experiment_relations import differs
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.stored import path_of, read_runs, write_run
from tests.pages.page import address, assert_says, click, run, table_with, visit, words
from tests.some import some


def opened(name: str) -> AppTest:
    return visit("experiments", experiment=name)


@pytest.mark.parametrize("name", some(EXPERIMENTS, 4))
def test_every_experiment_is_shown_with_its_question_figures_and_commands(name: str) -> None:
    at = opened(name)
    assert address(at)["experiment"] == name
    experiment = EXPERIMENTS[name]
    assert " ".join(experiment.question.split()) in words(at)
    arms = arm_runs(experiment)
    commands = "\n".join(block.value for block in at.code)
    assert all(each.command in commands for arm in arms for each in arm.runs)
    if not any(arm.runs for arm in arms):
        assert "This experiment has not been run" in words(at)
        return
    assert at.get("arrow_vega_lite_chart") or at.get("vega_lite_chart")
    said = words(at)
    assert "mean and range over the runs" in said  # the figure's caption
    for part in ("A variant differs if", "exact rank-sum test", "wall-clock time"):
        assert part in said, part
    assert list(table_with(at, "seconds per run")["variant"]) == [arm.label for arm in arms if arm.runs]
    scores = table_with(at, "runs")
    assert list(scores["variant"]) == [arm.label for arm in experiment.arms]
    assert list(scores["runs"]) == [len(arm.runs) for arm in arms]


def test_what_differs_comes_first_as_pictures_and_the_rest_is_one_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = visit("experiments")
    different = [name for name in EXPERIMENTS if differs(arm_runs(EXPERIMENTS[name]))]
    titles = [each.key.removeprefix("open_") for each in at.button if str(each.key).startswith("open_")]
    assert sorted(titles) == sorted(EXPERIMENTS)
    assert set(titles[: len(different)]) == set(different), "those with something to see come first"
    assert len(at.get("arrow_vega_lite_chart") or at.get("vega_lite_chart")) >= len(different) > 0
    assert_says(at, "Too few runs to tell", "“rate 0.0005” (8.2 %)")
    assert_says(
        at, "**Yes, here.** Right on test after 750 updates: “without” (0.1 %) is worse than “with residuals” (99.6 %)."
    )
    assert_says(at, "“RoPE” (7.4 %) is better than “sinusoidal” (1.5 %). Worse: “learned” (0 in every run) and “none”")
    assert_says(at, "“1 head” (99.4 %, shift −0.7 to +0.9) is as good", "“always constant” changes more than one thing")
    assert_says(at, "##### As good as the first variant", "##### Undecided")
    assert not at.get("dataframe"), "the numbers behind the answers are in each experiment"
    assert len(words(at)) < 5000
    index = at.selectbox(key="experiment_index")
    assert index.options == [EXPERIMENTS[name].title for name in EXPERIMENTS]
    index.select(EXPERIMENTS[different[0]].title)
    assert address(run(at))["experiment"] == different[0]
    assert EXPERIMENTS[different[0]].question in words(at)
    monkeypatch.setattr(experiment_arms.arm_runs, "__defaults__", (tmp_path,))
    at = visit("experiments")
    assert not at.get("arrow_vega_lite_chart")
    assert "Nothing to compare yet" in words(at)


def test_the_address_says_what_is_chosen_and_an_unknown_name_is_ignored() -> None:
    at = opened("nothing of the kind")
    assert address(at)["experiment"] == "all"
    click(at, "open_norm")
    assert address(at)["experiment"] == "norm"
    assert EXPERIMENTS["residual"].question in words(run(at, experiment="residual")), "a link in the same tab"
    assert address(click(at, "open_all"))["experiment"] == "all"
    assert not any(each.key == "open_all" for each in at.button)
    at = opened("lstm-reverse")
    assert "**Right on test beyond the trained lengths: “LSTM” (32.3 %) is better than “Transformer”" in words(at)
    assert "**Right on test after 750 updates: “post-norm” (99.6 %) is as good as “pre-norm”" in words(opened("norm"))
    assert "Loss on validation, in nats" not in words(at)
    at.session_state["experiment_measure_exact_match"] = "loss"
    assert "Loss on validation, in nats" in words(run(at))


NORM = EXPERIMENTS["norm"]


def test_missing_and_damaged_results_get_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = NORM.recipe(NORM.arms[0])
    write_run(recipe, read_runs(recipe)[0], tmp_path)
    monkeypatch.setattr(experiment_arms.arm_runs, "__defaults__", (tmp_path,))
    assert table_with(opened("norm"), "runs")["runs"].tolist() == [1, 0]
    path_of(recipe, tmp_path).write_text("{")
    assert "reverse.json is not valid JSON" in words(opened("norm"))
