"""Run experiments and store their results: `python -m model.experiments [NAME …]`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from model.commands import OneSentenceParser, run_command, typed
from model.experiments.catalogue import EXPERIMENTS, get_experiment
from model.experiments.recipe import Experiment
from model.experiments.stored import RESULTS, write_run
from model.plurals import plural


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    command_line = OneSentenceParser(
        prog=typed("model.experiments"),
        description="Run all experiments, or the named ones, unless their results are already stored, and store "
        "their curves and scores.",
        epilog="experiments:\n"
        + "\n".join(f"  {experiment.name:<20} {experiment.title}" for experiment in EXPERIMENTS.values()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command_line.add_argument("names", nargs="*", metavar="NAME", help="experiments to run (default: all)")
    command_line.add_argument("--again", action="store_true", help="repeat runs whose results are stored")
    command_line.add_argument(
        "--data-dir", type=Path, metavar="DIR", help="folder of corpora, for experiments that read one"
    )
    command_line.add_argument(
        "--made", type=Path, metavar="DIR", help="folder for the models and pairs that some runs start from"
    )
    command_line.add_argument(
        "--dry-run", action="store_true", help="print what would be run and how long it would take"
    )
    command_line.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="folder of stored results")
    return command_line


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every expected failure is a :class:`UserError`."""
    options = parser().parse_args(arguments)
    chosen = [get_experiment(name) for name in options.names] or list(EXPERIMENTS.values())
    missing = {experiment.name: _missing_option(experiment, options) for experiment in chosen}
    for name, reason in missing.items():
        if reason:
            _say(f"{name} is skipped: {reason}.")
    return _run([experiment for experiment in chosen if not missing[experiment.name]], options)


def _missing_option(experiment: Experiment, options: argparse.Namespace) -> str:
    """Why an experiment cannot run without a further option; empty if it can."""
    if experiment.reads_corpus and not options.data_dir:
        return "it reads a corpus, so it needs --data-dir"
    if experiment.base.chain and not options.made:
        return f"it starts from models that lead to {experiment.base.chain}, so it needs --made, a folder for them"
    return ""


def _run(chosen: Sequence[Experiment], options: argparse.Namespace) -> int:
    from model.experiments.runner import Stopped, expected_seconds, jobs_of, make

    every = jobs_of(chosen, options.results, again=True)
    jobs = jobs_of(chosen, options.results, again=options.again)
    _say(f"{plural(len(every), 'run')} in {plural(len(chosen), 'experiment')}, {len(every) - len(jobs)} stored.")
    if not jobs:
        return 0
    _say("estimating how long it takes …")
    expected = expected_seconds(jobs, options.results, options.data_dir)
    _say(f"{plural(len(jobs), 'run')} to make: about {_clock(sum(expected.values()))} on one core.")
    if options.dry_run:
        return 0
    began = time.monotonic()
    for number, job in enumerate(jobs, start=1):
        left = sum(expected[later] for later in jobs[number - 1 :])
        print(
            f"[{number}/{len(jobs)}] {job.recipe.name} seed {job.seed}, about {_clock(left)} left … ",
            end="",
            file=sys.stderr,
            flush=True,
        )
        try:
            run = make(job, options.data_dir, options.made)
        except Stopped:
            _say(f"stopped; {plural(number - 1, 'run')} stored. The same command continues from here.")
            return 130
        write_run(job.recipe, run, options.results)
        score = run.score(job.recipe.base.metric) or 0.0
        outcome = f"BLEU {score:.1f}" if job.recipe.base.metric == "bleu" else f"{100 * score:.1f} % right"
        _say(f"{run.error or outcome} after {_clock(run.seconds)}")
    _say(f"{plural(len(jobs), 'run')} took {_clock(time.monotonic() - began)}.")
    return 0


def _clock(seconds: float) -> timedelta:
    return timedelta(seconds=round(seconds))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run_command(main)
