"""The catalogue of experiments, their stored results, and the runner on miniature experiments."""

import json
import shlex
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest

from model import reproduce, train
from model.commands import CommandError
from model.config import FORMER_NAMES, ConfigError
from model.data import get_task
from model.experiments import __main__ as command
from model.experiments.catalogue import CATALOGUE, EXPERIMENTS, get_experiment
from model.experiments.recipe import Arm, Base, Experiment, Recipe
from model.experiments.runner import Job, Stopped, expected_seconds, jobs_of, make
from model.experiments.stored import FROM_CHAIN, RESULTS, ResultError, path_of, read_runs, write_run
from model.folder import check_name
from model.presets import PRESETS, get_preset
from model.reproduce import CHAINS, Step
from model.training.settings import make_settings, parse_assignments

RECIPES = {one.recipe(arm).name: one.recipe(arm) for one in EXPERIMENTS.values() for arm in one.arms}
MINI = "d_model=16 max_steps=6 eval_every=3 eval_sentences=4 snapshots=0"
MINIATURE = Experiment(
    "mini",
    "Miniature",
    "Is the runner in order?",
    Base("mini", "reverse", "tiny", MINI, splits=("long",), seeds=(1,)),
    (Arm("as it is"), Arm("LSTM", preset="lstm-tiny")),
)
# Reversal is its own other direction.
STEPS = (
    Step("train", "first", f"--task reverse --preset tiny --threads 1 --precision fp32 --set {MINI}"),
    Step("relabel", "made.jsonl", "--task reverse --model first --beam 1"),
    Step("train", "last", "--task reverse --init first", added=("made.jsonl",)),
)
GOING_ON = Experiment(
    "goes-on",
    "Going on",
    "Do made pairs help?",
    Base("goes-on", "reverse", "tiny", MINI, seeds=(1,), chain="last", start="first"),
    (Arm("alone"), Arm("with pairs", added=("made.jsonl",))),
)
ALONE, WITH_PAIRS = (GOING_ON.recipe(arm) for arm in GOING_ON.arms)


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The miniature chain of `GOING_ON`."""
    monkeypatch.setitem(CHAINS, "last", STEPS)


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda one: one.name)
def test_an_experiment_of_the_catalogue_can_be_run(experiment: Experiment) -> None:
    labels = [arm.label for arm in experiment.arms]
    assert len(set(labels)) == len(labels) >= 2
    assert experiment.question.endswith("?")
    # One seed cannot tell chance from difference: allowed only if a run takes minutes, and the question must say so.
    assert len(experiment.base.seeds) >= 3 or (experiment.reads_corpus and "one seed" in experiment.question)
    assert experiment.arms[0].preset == ""
    task = get_task(experiment.base.task)
    assert experiment.reads_corpus == task.from_folder
    for arm in experiment.arms:
        recipe = experiment.recipe(arm)
        for seed in recipe.seeds:
            check_name(f"{recipe.name}-{seed}")
        given = parse_assignments([f"{key}={value}" for key, value in recipe.settings.items()])
        make_settings(task.data, get_preset(recipe.preset), given)
        if recipe.from_chain:
            assert set(recipe.from_chain) <= {step.makes for step in CHAINS[experiment.base.chain]}
        assert recipe == RECIPES[recipe.name], "of one name, there is one recipe"
        runs = read_runs(recipe)
        assert not runs or [run.seed for run in runs] == list(recipe.seeds)
    if not experiment.reads_corpus:
        assert set(experiment.base.splits) <= set(task.splits)


def test_every_stored_file_belongs_to_a_recipe_and_every_key_of_the_catalogue_to_a_field() -> None:
    held = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
    entries = held["experiment"]
    arms = [arm for entry in entries for arm in entry["arms"]]
    for kind, found in ((Base, held["base"].values()), (Experiment, entries), (Arm, arms)):
        assert {key for each in found for key in each} <= {item.name for item in fields(kind)}
    assert {entry["base"] for entry in entries} == set(held["base"])
    assert len({entry["name"] for entry in entries}) == len(entries)
    assert {path.stem for path in RESULTS.glob("*.json")} <= set(RECIPES)
    assert sum(path.stat().st_size for path in RESULTS.glob("*.json")) < 1_000_000
    with pytest.raises(ConfigError, match="Did you mean 'norm'"):
        get_experiment("nrom")


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_stored_runs_are_those_of_the_catalogue(recipe: Recipe) -> None:
    """Every stored command can be parsed and matches the catalogue."""
    for run in read_runs(recipe):
        commands = [tuple(shlex.split(line)) for line in run.command.split("\n")]
        assert tuple(commands) == recipe.commands(run.seed)
        for words in commands:
            assert words[:2] == ("python", "-m")
            if words[2] == "model.reproduce":
                reproduce.parser().parse_args(words[3:])
                continue
            assert words[2] == "model.train"
            options = train.parser().parse_args(words[3:])
            assert options.preset == recipe.preset
            assert parse_assignments(options.set) == {**recipe.settings, "seed": str(run.seed)}
        assert options.task == recipe.base.task
        assert run.seconds > 0
        assert run.machine
        assert run.torch
        steps = int(recipe.settings.get("max_steps", PRESETS[recipe.preset].training["max_steps"]))
        assert run.error or run.valid["step"][-1] == run.train["step"][-1] == steps
        assert bool(run.error) != bool(run.scores)


def test_results_stored_under_former_names_are_read_and_replaced(tmp_path: Path) -> None:
    recipe = RECIPES["swap-notebook.max_tokens-320.max_steps-140"]
    runs = read_runs(recipe)
    text = path_of(recipe).read_text(encoding="utf-8")
    for name, before in FORMER_NAMES.items():
        text = text.replace(f'"{name}"', f'"{before}"').replace(f" {name}=", f" {before}=")
    former = tmp_path / "swap-notebook.batch_tokens-320.max_steps-140.json"
    former.write_text(text.replace(recipe.name, former.stem), encoding="utf-8")
    read = read_runs(recipe, tmp_path)
    assert [run.valid for run in read] == [run.valid for run in runs]
    assert "batch_tokens=320" in read[0].command
    assert jobs_of([EXPERIMENTS["notebook-swap"]], tmp_path, again=False)
    assert not any(job.recipe == recipe for job in jobs_of([EXPERIMENTS["notebook-swap"]], tmp_path, again=False))

    write_run(recipe, runs[0], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{recipe.name}.json"]
    assert [run.seed for run in read_runs(recipe, tmp_path)] == [run.seed for run in runs]


def losses(folder: Path) -> list[float]:
    """The validation losses of a run."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [line["loss"] for line in lines if line["kind"] == "eval"]


@pytest.mark.nightly
@pytest.mark.usefixtures("few_sentences")
def test_the_runner_from_end_to_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXPERIMENTS, "mini", MINIATURE)
    where = ["--results", str(tmp_path)]
    assert command.main(["mini", "--dry-run", *where]) == 0
    assert "2 runs to make: about" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())

    assert command.main(["mini", *where]) == 0
    said = capsys.readouterr().err
    assert "[2/2] mini.lstm-tiny seed 1" in said
    assert "2 runs took" in said
    for arm in MINIATURE.arms:
        recipe = MINIATURE.recipe(arm)
        (run,) = read_runs(recipe, tmp_path)
        assert (run.seed, run.error, run.valid["step"]) == (1, "", [3, 6])
        assert run.score("sentences") == len(get_task("reverse").splits["test"])
        assert set(run.groups) == {"test", "long"}
        assert "17 letters" in run.groups["long"]
        assert len(run.samples) == 5
        assert run.parameters > 0
    # Its command gives the same run.
    assert train.main([*shlex.split(run.command)[3:], "--checkpoints", str(tmp_path / "models")]) == 0
    assert run.valid["loss"] == pytest.approx(losses(tmp_path / "models" / f"{recipe.name}-1"), rel=1e-3)
    for name in (one.name for one in EXPERIMENTS.values() if one.reads_corpus):
        assert command.main([name, *where]) == 0
        assert f"{name} is skipped: it reads a corpus, so it needs --data-dir." in capsys.readouterr().err

    before = path_of(MINIATURE.recipe(MINIATURE.arms[0]), tmp_path).read_bytes()
    assert command.main(["mini", *where]) == 0  # all is stored: nothing is run
    assert "2 stored" in capsys.readouterr().err
    assert path_of(MINIATURE.recipe(MINIATURE.arms[0]), tmp_path).read_bytes() == before


def test_a_run_that_fails_is_a_result(tmp_path: Path) -> None:
    hopeless = replace(MINIATURE.base, settings=f"{MINI} learning_rate=1e12 warmup_steps=0 clip_norm=0")
    recipe = Recipe(hopeless, "", "tiny")
    run = make(Job(recipe, 1))
    assert "no longer a number" in run.error
    assert not run.scores
    write_run(recipe, run, tmp_path)
    assert read_runs(recipe, tmp_path) == (run,)


def test_a_run_that_starts_from_a_chain_is_two_commands_of_which_the_second_reads_what_the_first_makes() -> None:
    first, second = (reproduce.parser(), train.parser())
    for recipe, wanted in ((ALONE, ["first"]), (WITH_PAIRS, ["first", "made.jsonl"])):
        making, training = recipe.commands(3)
        assert training == recipe.command(3)
        made, trained = first.parse_args(making[3:]), second.parse_args(training[3:])
        assert (making[2], training[2]) == ("model.reproduce", "model.train")
        assert (made.name, made.only) == ("last", wanted)
        assert trained.init == "first"
        assert trained.checkpoints == made.checkpoints
        assert trained.add_data == [made.checkpoints / name for name in wanted[1:]]
    assert (ALONE.name, WITH_PAIRS.name) == ("goes-on", "goes-on.more-pairs")
    with pytest.raises(ConfigError, match="'mini' has no chain that makes made"):
        Recipe(MINIATURE.base, "", "tiny", added=("made.jsonl",))


def test_runs_with_and_without_made_pairs_are_told_apart_where_they_are_stored(tmp_path: Path) -> None:
    run = replace(read_runs(RECIPES["reverse"])[0], seed=1, command="python -m a b\npython -m c d")
    plain = Recipe(replace(GOING_ON.base, chain="", start=""), "", "tiny")
    for recipe in (ALONE, WITH_PAIRS):
        write_run(recipe, run, tmp_path)
        assert read_runs(recipe, tmp_path) == (run,)
        assert expected_seconds([Job(recipe, 1)], tmp_path) == {Job(recipe, 1): run.seconds}
        assert jobs_of([GOING_ON], tmp_path, again=False) == [Job(WITH_PAIRS, 1)] * (recipe is ALONE)
        assert len(jobs_of([GOING_ON, GOING_ON], tmp_path, again=True)) == 2
    with pytest.raises(ResultError, match="other settings"):
        read_runs(plain, tmp_path)
    write_run(plain, run, tmp_path)
    assert FROM_CHAIN not in json.loads(path_of(plain, tmp_path).read_text(encoding="utf-8"))
    for one, other in ((ALONE, WITH_PAIRS), (WITH_PAIRS, ALONE)):
        write_run(one, run, tmp_path / "moved")
        path_of(one, tmp_path / "moved").rename(path_of(other, tmp_path / "moved"))
        with pytest.raises(ResultError, match="other settings"):
            read_runs(other, tmp_path / "moved")


@pytest.mark.usefixtures("few_sentences", "chain")
def test_a_run_without_what_it_starts_from_is_refused_or_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(WITH_PAIRS, 1)
    with pytest.raises(CommandError, match="name a folder for it with --made DIR"):
        make(job)
    monkeypatch.setattr(train, "main", lambda arguments: 0)  # a training that was stopped at once
    with pytest.raises(Stopped):
        make(job, None, tmp_path)


def test_results_of_other_settings_or_damaged_ones_are_refused(tmp_path: Path) -> None:
    recipe = MINIATURE.recipe(MINIATURE.arms[0])
    write_run(recipe, replace(read_runs(RECIPES["reverse"])[0], seed=1), tmp_path)
    changed = Recipe(replace(recipe.base, settings=f"{MINI} dropout=0.5"), "", "tiny")
    with pytest.raises(ResultError, match="other settings"):
        read_runs(changed, tmp_path)
    path = path_of(recipe, tmp_path)
    whole = path.read_text()
    for broken in (whole[:300], whole.replace('"step"', '"stop"'), "[]", whole.replace('"seed": 1', '"seed": "x"')):
        path.write_text(broken)
        with pytest.raises(ResultError, match=r"mini\.json"):
            read_runs(recipe, tmp_path)
