"""Train a model: `python -m model.train --task reverse --name my-model`, also under torchrun."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model.commands import (
    CommandError,
    OneSentenceParser,
    add_checkpoints,
    add_own_data,
    run_command,
    typed,
)
from model.config import DataConfig, ModelConfig, TrainConfig, from_dict, with_current_names
from model.data import TASKS, Task, get_task
from model.folder import CONFIG, METRICS, STATE, CheckpointError, check_name, find_model, read_config, read_json
from model.presets import PRESETS, get_preset

if TYPE_CHECKING:
    from model.data.proposal import Proposal
    from model.training.distributed import World
    from model.training.launch import Signals
    from model.training.setup import Setup

_NOT_WITH_RESUME = ("task", "name", "preset", "init", "first", "like", "overwrite", "dry_run")


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    options = OneSentenceParser(
        prog=typed("model.train"),
        description="Train a model on a task and store it as a folder that the app and the other commands can open.",
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--task", metavar="TASK", help="task to learn, listed below")
    options.add_argument("--name", help="name of the new model, which is also the name of its folder")
    options.add_argument("--preset", metavar="PRESET", help="settings to start from (default: the task's own)")
    options.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="change settings, listed below"
    )
    options.add_argument(
        "--first",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="train in two parts: a model NAME-first with these settings on top of --set's, then NAME from its weights",
    )
    options.add_argument(
        "--init",
        metavar="NAME",
        help="start from the weights and tokenizers of this model; d_ff and the numbers of layers may be larger",
    )
    options.add_argument("--like", metavar="NAME", help="train as this model was: its task, data and settings")
    options.add_argument("--overwrite", action="store_true", help="replace an existing model of this name")
    options.add_argument("--resume", metavar="NAME", help="continue a run that was stopped or killed")
    options.add_argument(
        "--steps", type=int, metavar="N", help="with --resume: train a finished run longer, to N updates in all"
    )
    options.add_argument("--device", default=None, help="auto, cpu, cuda, cuda:N or mps (default: auto)")
    options.add_argument("--precision", default=None, help="auto, fp32 or bf16 (default: auto)")
    options.add_argument("--compile", action="store_true", help="use torch.compile, which speeds up long runs")
    options.add_argument(
        "--threads", type=int, default=None, metavar="N", help="CPU threads (default: by the size of a batch)"
    )
    options.add_argument(
        "--data-dir", type=Path, metavar="DIR", help="folder with the corpora that tasks read, such as Multi30k"
    )
    options.add_argument(
        "--add-data",
        nargs="+",
        action="extend",
        default=[],
        type=Path,
        metavar="FILE",
        help=f"train on these pairs too, such as those of {typed('model.relabel')} (TSV, CSV or JSONL)",
    )
    add_own_data(options)
    options.add_argument(
        "--now", action="store_true", help="start at once, without waiting for another run in this folder"
    )
    options.add_argument(
        "--dry-run", action="store_true", help="estimate memory and time of the run, and write nothing"
    )
    options.add_argument("--json", action="store_true", help="print the dry run as JSON")
    add_checkpoints(options)
    options.set_defaults(then=None, own_from=None, added_as=None)  # see model.training.parts
    return options


def _epilog() -> str:
    lines = ["examples:"]
    lines += [f"  {typed('model.train')} --task reverse --name my-reverse"]
    lines += [f"  {typed('model.train')} --task reverse --name wide --set d_model=128 max_steps=500 seed=7"]
    lines += ["  torchrun --nproc-per-node=2 -m model.train --task dates --name my-dates"]
    lines += ["", "tasks:", *(f"  {name}" for name in TASKS)]
    lines += ["", "presets:", *(f"  {preset.name:<18} {preset.title}" for preset in PRESETS.values())]
    lines += ["", "settings for --set, with their defaults:"]
    for cls in (ModelConfig, DataConfig, TrainConfig):
        for field in dataclasses.fields(cls):
            if field.name not in ("src_vocab_size", "tgt_vocab_size", "separator", "task"):
                lines.append(f"  {field.name}={field.default}".ljust(30) + f"  {field.metadata['help']}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every expected failure is a :class:`UserError`."""
    options = parser().parse_args(arguments)
    for words in (options.set, options.first):  # a setting by its current and its former name is refused
        with_current_names(dict.fromkeys(word.partition("=")[0] for word in words))
    if options.resume:
        for name in _NOT_WITH_RESUME:
            if getattr(options, name):
                raise CommandError(
                    "--resume continues a run as it was; leave out --{option}.", option=name.replace("_", "-")
                )
        if options.set:
            raise CommandError("--resume continues a run as it was; --init NAME starts a new one from it.")
    elif options.steps is not None:
        raise CommandError("--steps goes with --resume; --set max_steps=N says how long a new run is.")
    elif options.like:
        from model.training.parts import like

        if not options.name:
            raise CommandError("say what to call the new model: --like NAME --name NEW.")
        options = like(options)
    elif options.first and options.init:
        raise CommandError("--first trains the model that --init would name; leave out one of them.")
    elif not options.task or not options.name:
        raise CommandError("say what to learn and what to call it: --task TASK --name NAME.")
    if options.json and not options.dry_run:
        raise CommandError("--json goes with --dry-run.")
    if options.threads is not None and options.threads < 1:
        raise CommandError("--threads must be at least 1.")

    from model.training.device import resolve_device
    from model.training.distributed import joined_world
    from model.training.launch import Signals

    options.device = resolve_device(options.device or (_stored_device(options) if options.resume else "auto"))
    with Signals() as signals, joined_world(options.device) as world:
        if options.resume:
            return _resume(options, world, signals)
        return _train(options, world, signals)


def _stored_device(options: argparse.Namespace) -> str:
    """The kind of device on which the run to resume was trained."""
    from model.training.parts import find_first

    folder = find_model(options.checkpoints, find_first(options.checkpoints, options.resume))
    runtime = read_config(folder).get("runtime")
    device = runtime.get("device") if isinstance(runtime, dict) else None
    return str(device or "cpu").partition(":")[0]


def _train(options: argparse.Namespace, world: World, signals: Signals) -> int:
    from model.data.files import save_splits
    from model.training.launch import create_folder
    from model.training.parts import first_part, forget_model

    if options.first and not options.init:
        first = first_part(options)
        _check_free(options, world)
        if not options.dry_run:
            _check_free(first, world)
            if world.is_main:
                forget_model(options.checkpoints / options.name)  # what --overwrite replaces
            return _train(first, world, signals)
        before = _set_up(first, world)
        setup = _set_up(options, world, before)
    else:
        _check_free(options, world)
        before, setup = None, _set_up(options, world)
    if options.dry_run:
        if world.is_main:
            _print_estimate(setup, before, as_json=options.json)
            if _is_taken(options) and not options.json:
                print(f"There is a model '{options.name}' already: training needs another name, or --overwrite.")
        return 0
    if world.is_main:
        folder = create_folder(setup, options.checkpoints, overwrite=options.overwrite)
        if "own_data" in setup.origin:
            save_splits(setup.task.splits, folder)
    return _run(options, world, signals, setup, data_dir=options.data_dir, added_data=tuple(options.add_data))


def _check_free(options: argparse.Namespace, world: World) -> None:
    if world.share(_is_taken(options)) and not options.dry_run:
        raise CheckpointError(
            "there is a model '{name}' already; choose another name or pass --overwrite.", name=options.name
        )


def _is_taken(options: argparse.Namespace) -> bool:
    """Whether a model has the name of the new one and may not be replaced."""
    return (options.checkpoints / check_name(options.name)).exists() and not options.overwrite


def _set_up(options: argparse.Namespace, world: World, first: Setup | None = None) -> Setup:
    """Prepare everything before the first update; `first` is the first part, if it has not been trained yet."""
    from model.checkpoint import load_model
    from model.data.files import check_added, read_added, with_added
    from model.training.device import Runtime, check_precision
    from model.training.settings import make_settings, parse_assignments, parsed, settings_after
    from model.training.setup import prepare

    assignments = parse_assignments(options.set)
    split_seed = from_dict(DataConfig, parsed(DataConfig, assignments)).split_seed
    task, proposal, own = _find_task(options, assignments, split_seed=split_seed, quiet=not world.is_main)
    preset = get_preset(options.preset or task.default_preset)
    if proposal is not None:
        preset, assignments = proposal.adapted(preset), {**proposal.settings(preset), **assignments}
    settings = make_settings(task.data, preset, assignments)
    start_from = load_model(find_model(options.checkpoints, options.init)) if options.init else None
    if start_from is not None:
        inherited = settings_after(
            start_from.name, start_from.model_config, start_from.data_config, settings, assignments
        )
        # The second part of --first has its own settings; otherwise sizes come from the initial model.
        settings = dataclasses.replace(settings, data=inherited.data) if options.first else inherited
    added_files = read_added(options.add_data, task)
    for file in added_files:
        if file.pairs.n_skipped and world.is_main:
            print(f"{file.name}: {file.pairs.skipped_sentence()}", file=sys.stderr)
    if options.added_as is not None:
        check_added(added_files, options.added_as)
    task, added = with_added(task, added_files)
    runtime = Runtime(
        device=options.device,
        precision=check_precision(options.precision or "auto"),
        compile=options.compile,
        threads=options.threads or 0,
        processes=world.size,
    )
    origin = {"title": task.title, "preset": preset.name, "set": assignments, "init": options.init, **own}
    if options.first:
        origin["first"] = parse_assignments(options.first)
    if options.then:
        origin["then"] = options.then
    if added:
        origin["added_data"] = added
    tokenizers = (first.source, first.target) if first is not None else None
    return prepare(options.name, task, settings, runtime, tokenizers=tokenizers, start_from=start_from, origin=origin)


def _find_task(
    options: argparse.Namespace, assignments: Mapping[str, str], *, split_seed: int, quiet: bool
) -> tuple[Task, Proposal | None, dict[str, Any]]:
    """The task to learn; for own data also the proposed settings, and the arguments as config.json stores them.

    Raises:
        CommandError: the options contradict each other.
        DataError: no such task, or data that cannot be used.
    """
    from model.training.own_data import own_task, refuse_for_others

    if options.own_from is not None:
        words = read_config(options.own_from).get("own_data", [])
        return get_task("files", split_seed=split_seed, data_dir=options.own_from), None, {"own_data": words}
    if options.task != "files":
        refuse_for_others(options)
        fetch = not options.dry_run  # the Train page makes dry runs while its form is filled in
        return get_task(options.task, split_seed=split_seed, data_dir=options.data_dir, fetch=fetch), None, {}
    return own_task(options, assignments, split_seed=split_seed, quiet=quiet)


def _resume(options: argparse.Namespace, world: World, signals: Signals) -> int:
    from model.checkpoint import load_model, read_run
    from model.data.files import check_added, read_added, with_added
    from model.training.device import Runtime, check_precision
    from model.training.parts import EXTENDED, THEN, find_first, longer
    from model.training.runfolder import read_status, refuse_running
    from model.training.settings import Settings
    from model.training.setup import prepare
    from model.training.state import STATE_JSON

    folder = find_model(options.checkpoints, world.share(find_first(options.checkpoints, options.resume)))
    status, extended = read_status(folder), None
    if options.steps is not None:
        extended = longer(folder, options.steps)
    elif status.get("state") == "finished" or not status:
        if read_config(folder).get(THEN):
            return _train_second(options, world, signals, folder)
        if world.is_main:
            print(f"{folder.name} has finished training; there is nothing to resume.")
        return 0
    refuse_running(folder)
    saved = read_run(folder)
    extra = saved.extra | ({EXTENDED: extended[EXTENDED]} if extended else {})
    training = dataclasses.replace(saved.training, max_steps=options.steps) if extended else saved.training
    settings = Settings(saved.model, saved.data, training)
    stored = saved.extra.get("runtime") or {}
    runtime = Runtime(**{name: stored[name] for name in stored if name in Runtime.__dataclass_fields__})
    runtime = dataclasses.replace(runtime, device=options.device, processes=world.size)
    if options.precision:
        runtime = dataclasses.replace(runtime, precision=check_precision(options.precision), settled=False)
    runtime = dataclasses.replace(runtime, threads=options.threads or runtime.threads)
    has_state = (folder / STATE / STATE_JSON).is_file()
    init = None if has_state else saved.extra.get("init")
    data_dir = options.data_dir or (Path(status["data_dir"]) if status.get("data_dir") else None)
    if saved.data.task == "files":
        data_dir = folder
    task = get_task(saved.data.task, split_seed=saved.data.split_seed, data_dir=data_dir, fetch=True)
    added_data = options.add_data or list(map(Path, status.get("added_data") or ()))
    added = read_added(added_data, task)
    check_added(added, saved.extra.get("added_data") or ())
    setup = prepare(
        folder.name,
        with_added(task, added)[0],
        settings,
        runtime,
        tokenizers=(saved.source, saved.target),
        start_from=load_model(find_model(options.checkpoints, init)) if init else None,
        origin={key: value for key, value in extra.items() if key not in ("runtime", "results")},
    )
    how: dict[str, Any] = {"resume": True, "extended": extended, "data_dir": data_dir, "added_data": tuple(added_data)}
    return _run(options, world, signals, setup, **how)


def _train_second(options: argparse.Namespace, world: World, signals: Signals, first: Path) -> int:
    """Train the second part after a finished first part: from its weights, or from where it was stopped."""
    from model.training.parts import second_part
    from model.training.runfolder import read_status

    second = second_part(options, first.name, read_config(first))
    status = read_status(first)
    data_dir = status.get("data_dir")
    second.data_dir = options.data_dir or (Path(data_dir) if data_dir else None)
    second.add_data = options.add_data or list(map(Path, status.get("added_data") or ()))
    if world.share((options.checkpoints / second.name).exists()):
        second.resume = second.name
        return _resume(second, world, signals)
    return _train(second, world, signals)


def _run(options: argparse.Namespace, world: World, signals: Signals, setup: Setup, **how: Any) -> int:
    """Train, report before and after, and continue with a second part if there is one; for `how` see `Launch`."""
    from model.embeddings import count_parameters
    from model.training.card import score_lines
    from model.training.device import cpu_multiplies_bf16, describe_device
    from model.training.launch import Launch

    launch = Launch(options.checkpoints, world, signals, wait=not options.now, **how)
    training, runtime = setup.settings.training, setup.runtime
    if world.is_main:
        skipped = f", {setup.n_skipped:,} left out as empty or too long" if setup.n_skipped else ""
        n_added = sum(entry.get("pairs", 0) for entry in setup.origin.get("added_data", ()))
        added = f" ({n_added:,} of them added)" if n_added else ""
        others = f" × {world.size} processes" if world.size > 1 else ""
        print(
            f"{setup.name}: {setup.task.title}; {len(setup.corpus.pairs):,} training pairs{added}{skipped}; "
            f"{count_parameters(setup.model):,} parameters; {training.max_steps:,} updates on "
            f"{describe_device(runtime.device)}{others}",
            file=sys.stderr,
        )
        if (runtime.device, runtime.precision) == ("cpu", "bf16") and not cpu_multiplies_bf16():
            print(
                "This processor has no instructions for bf16: updates take several times as long as with "
                "--precision auto.",
                file=sys.stderr,
            )
    finished = launch.run(setup)
    if world.is_main:
        folder = launch.checkpoints / setup.name
        if finished:
            results = read_json(folder / CONFIG)["results"]
            scores = ", ".join(line.partition(" (")[0] for line in score_lines(results["test"])[:3])
            print(f"{setup.name} finished: {scores}, on the split '{results['split']}'.")
            if diagnosis := _diagnosis(folder):
                print(diagnosis, file=sys.stderr)
        else:
            print(f"{setup.name} stopped; continue with --resume {setup.name}.")
    if finished and "then" in setup.origin:
        return _train_second(options, world, signals, launch.checkpoints / setup.name)
    return 0


def _diagnosis(folder: Path) -> str:
    """A sentence on how the finished run went."""
    from model.analysis.run_curves import Curves
    from model.analysis.run_diagnosis import diagnose
    from model.training.runfolder import read_metrics

    lines = read_metrics(folder / METRICS)
    train, evals = ([line for line in lines if line.get("kind") == kind] for kind in ("train", "eval"))
    return diagnose(Curves.of(train, evals), ended=True).sentence


def _print_estimate(setup: Setup, first: Setup | None, *, as_json: bool) -> None:
    from model.durations import span
    from model.training.estimate import estimate

    plan = estimate(setup)
    plans = [plan] if first is None else [estimate(first), plan]
    if as_json:
        print(json.dumps(plan if first is None else plan | {"first": plans[0]}, ensure_ascii=False))
        return
    for part in plans:
        print(f"{part['name']}:")
        print(f"{part['parameters']:,} parameters ({part['weight_bytes'] / 1e6:.1f} MB), {part['precision']}")
        print(f"about {part['memory_bytes'] / 2**30:.1f} GB of memory on {part['device_name']}")
        print(f"{part['steps']:,} updates ({part['epochs']:g} epochs) at {part['tokens_per_s']:,} tokens/s")
        print(f"takes {span(part['earliest_seconds'], part['busy_seconds'])}")


if __name__ == "__main__":
    run_command(main)
