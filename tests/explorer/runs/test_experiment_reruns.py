"""A person's own runs of an experiment are found by their settings and compared with the stored run of their seed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.charts.experiment_bands import band_figure, wide
from explorer.runs.experiment_arms import ArmRuns
from explorer.runs.experiment_reruns import reruns
from explorer.runs.metrics import Metrics
from model.config import FORMAT_VERSION
from model.experiments.recipe import Arm, Base, Experiment
from model.folder import CONFIG
from tests.explorer.runs.test_experiment_findings import run

BASE = Base("p", "reverse", "tiny", "snapshots=0 save_every=100000 eval_every=10 dropout=0.1")
EXPERIMENT = Experiment("p", "P", "Which?", BASE, (Arm("one"), Arm("post-norm", "norm_first=false")))
ARMS = tuple(
    ArmRuns(arm, EXPERIMENT.recipe(arm), runs)
    for arm, runs in zip(EXPERIMENT.arms, ((run(1, 1.0, 0.1, (0.5, 1.0)),), ()), strict=True)
)
SAME = {"eval_every": "10", "dropout": "0.1"}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Write a model folder's config.json."""

    def folder(name: str, given: dict[str, str], *, seed: Any = 1, **more: Any) -> Path:
        config: dict[str, Any] = {"format_version": FORMAT_VERSION, "data": {"task": "reverse"}, "model": {}}
        config |= {"training": {"seed": seed}, "preset": "tiny", "set": given} | more
        (tmp_path / name).mkdir()
        (tmp_path / name / CONFIG).write_text(json.dumps(config), encoding="utf-8")
        return tmp_path / name

    return folder


def evaluated(*shares: float) -> Callable[[Path], Metrics]:
    evals = tuple({"step": 10.0 * (at + 1), "exact_match": share, "loss": 0.1} for at, share in enumerate(shares))
    return lambda folder: Metrics(evals=evals)


@pytest.mark.parametrize(
    ("given", "more", "same"),
    [
        (SAME, {}, [("one", 1)]),
        (SAME | {"snapshots": "12", "seed": "7", "log_every": "5"}, {"seed": 7}, [("one", 7)]),
        (SAME | {"d_model": "64"}, {}, [("one", 1)]),  # the preset's own value
        (SAME | {"norm_first": "false"}, {}, [("post-norm", 1)]),
        (SAME | {"dropout": "0.2"}, {}, []),
        ({"eval_every": "10"}, {}, []),
        (SAME, {"data": {"task": "dates"}}, []),
        (SAME, {"preset": "small"}, []),
        (SAME, {"init": "reverse"}, []),
        (SAME, {"first": {"max_steps": "5"}}, []),
        (SAME, {"added_data": [{"file": "x.tsv"}]}, []),
        (SAME, {"extended": [40]}, []),
        # Folders that say something odd are left out.
        (SAME | {"d_model": "wide"}, {}, []),
        (SAME, {"seed": "first"}, []),
    ],
)
def test_the_settings_decide_whether_it_is_the_same_run(
    make: Callable[..., Path], given: dict[str, str], more: dict[str, Any], same: list[tuple[str, int]]
) -> None:
    damaged = make("damaged", SAME)
    (damaged / CONFIG).write_text("{", encoding="utf-8")
    folders = [damaged, make("mine", given, **more)]
    assert [(rerun.variant, rerun.seed) for rerun in reruns(ARMS, folders, evaluated(0.5, 1.0))] == same
    assert reruns(ARMS, folders, evaluated()) == [], "runs without evaluations are left out"


def test_a_run_that_goes_on_is_that_of_the_variant_with_the_same_start_and_pairs(make: Callable[..., Path]) -> None:
    base = replace(BASE, chain="last", start="first")
    both = Experiment("p", "P", "Which?", base, (Arm("alone"), Arm("with pairs", added=("made.jsonl",))))
    arms = tuple(ArmRuns(arm, both.recipe(arm), ()) for arm in both.arms)
    pairs, other = ([{"file": name, "pairs": 3}] for name in ("made.jsonl", "other.jsonl"))
    folders = [
        make("mine", SAME, init="first"),
        make("more-pairs", SAME, init="first", added_data=pairs),
        make("other-pairs", SAME, init="first", added_data=other),
        make("other-start", SAME, init="second"),
        make("from-nothing", SAME),
        make("odd", SAME, init="first", added_data=["pairs"]),
    ]
    own = reruns(arms, folders, evaluated(0.5))
    assert [(run.name, run.variant) for run in own] == [("mine", "alone"), ("more-pairs", "with pairs")]


def test_own_curves_are_drawn_over_the_bands_and_stand_in_the_table(make: Callable[..., Path]) -> None:
    (own,) = reruns(ARMS, [make("mine", SAME)], evaluated(0.5, 1.0))
    assert own.curve("exact_match") == ([10.0, 20.0], [50.0, 100.0])
    variants, bare = {"one": [([10.0, 20.0], [40.0, 60.0])]}, {"x_title": "updates", "title": "", "unit": " %"}
    figure = band_figure(variants, **bare, own=[("mine", "one", *own.curve("exact_match"))])
    rows = list(zip(figure.data["own"], figure.data["mean"], strict=True))
    assert rows == [("", 40.0), ("", 60.0), ("mine", 50.0), ("mine", 100.0)]
    assert wide(figure.data)[1] == {"at": 20, "one, mean": 60.0, "one, low": 60.0, "one, high": 60.0, "mine": 100.0}
    assert "60 % (60 to 60" in figure.caption  # of the stored runs
    assert band_figure(variants, **bare).spec != figure.spec
