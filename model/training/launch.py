"""Carry out a run: create its folder, wait for the lock, train, score, and report the outcome."""

from __future__ import annotations

import contextlib
import copy
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from model.checkpoint import config_sections, load_model, save_model, stored_weights
from model.config import DecodeConfig
from model.embeddings import count_parameters
from model.folder import CARD, CONFIG, read_config, real_path, write_bytes, write_json
from model.metrics import flat
from model.scoring import score_examples
from model.training.card import write_card
from model.training.device import choose_runtime
from model.training.distributed import World
from model.training.estimate import estimate
from model.training.failure import TrainingError, sentence
from model.training.probe import answer_probe, ask_probe, suggested_probe
from model.training.runfolder import RunFolder, refuse_running, turn
from model.training.setup import Setup, test_examples
from model.training.snapshots import forget_snapshots_after, keep_snapshot
from model.training.state import Progress, load_state, saved_progress
from model.training.terminal import Terminal
from model.training.trainer import StopRequested, Trainer
from model.user_error import bounded
from model.wording import Later, later, to_data


class Signals:
    """Context manager that records a request to stop (SIGTERM or Ctrl-C); a second Ctrl-C ends the process at once."""

    def __init__(self) -> None:
        self.stop = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


def create_folder(setup: Setup, checkpoints: Path, *, overwrite: bool) -> Path:
    """Create the folder of a new run, which is a complete, though untrained, model.

    Raises:
        CheckpointError: the name is taken and `overwrite` is False, or the run of that name is active.
    """
    folder = checkpoints / setup.name
    if folder.exists():
        refuse_running(folder)
    save_model(
        folder,
        setup.model,
        setup.source,
        setup.target,
        data=setup.settings.data,
        training=setup.settings.training,
        card=_card(setup, {}),
        extra={**setup.origin, "runtime": setup.runtime.to_dict(), "results": {}},
        overwrite=overwrite,
    )
    ask_probe(folder, suggested_probe(setup.task, setup.valid.examples))
    return folder


def _card(setup: Setup, results: Mapping[str, Any]) -> str:
    n = count_parameters(setup.model)
    return write_card(setup.name, setup.task, setup.settings, n, setup.origin, results, runtime=setup.runtime)


@dataclass(frozen=True)
class Launch:
    """How to run a setup: in which folder, on which processes, and whether to wait for other runs or to resume.

    `extended` is the new configuration of a finished run that is trained longer.
    """

    checkpoints: Path
    world: World
    signals: Signals
    wait: bool = True
    resume: bool = False
    extended: Mapping[str, Any] | None = None
    data_dir: Path | None = None
    added_data: tuple[Path, ...] = ()

    def run(self, setup: Setup) -> bool:
        """Train `setup`, whose folder exists; True if it finished, False if it was stopped on request.

        Raises:
            TrainingError: training cannot continue; status.json says the same.
        """
        folder = self.checkpoints / setup.name
        if not self.world.is_main:
            # Rank 0 shares whether it has got the lock or was stopped while waiting.
            return self.world.share(None) is True and self._train(setup, None, None)
        run = RunFolder(
            folder,
            data_dir=str(real_path(self.data_dir)) if self.data_dir else None,
            added_data=[str(real_path(path)) for path in self.added_data],
        )
        run.clear_stop()
        if self.extended is not None:
            write_json(folder / CONFIG, dict(self.extended))
        terminal = Terminal(setup.settings.training.max_steps)
        try:
            kept = saved_progress(folder) if self.resume else None
            done = {} if kept is None else {"step": kept.step, "epoch": kept.epoch}
            run.status("queued", max_steps=setup.settings.training.max_steps, **done)
            with turn(
                self.checkpoints,
                lambda: self._queued(setup, run, terminal),
                lambda: not (self.signals.stop or run.stop_requested()),
                wait=self.wait,
            ) as may_train:
                may_train = self.world.share(may_train)
                if may_train:
                    run.status("running")
                finished = may_train and self._train(setup, run, terminal)
                run.status("finished" if finished else "stopped", eta_s=0.0 if finished else None)
                run.clear_stop()
                return finished
        except BaseException as error:
            message = sentence(error, setup.settings.training)
            bug = later(
                "the program failed ({kind}: {error}); please report this.", kind=type(error).__name__, error=error
            )
            _fail(run, message or bug)
            if message is None:
                raise
            raise TrainingError(message) from error
        finally:
            terminal.close()

    def _train(self, setup: Setup, run: RunFolder | None, terminal: Terminal | None) -> bool:
        folder = self.checkpoints / setup.name
        if not setup.runtime.settled:
            setup = self._settle_runtime(setup, run)
        torch.set_num_threads(setup.runtime.threads)
        saved = load_state(run.folder) if run is not None and self.resume else None
        progress, tensors = saved or (None, {})
        progress, tensors = self.world.share(progress), self.world.share_tensors(tensors)
        if progress is not None and self.extended is not None:
            progress.waited = progress.right = 0  # patience starts over
        trainer = Trainer(
            setup,
            self.world,
            run,
            terminal,
            asked_to_stop=lambda: self.signals.stop,
            new_weights=lambda progress: _describe(setup, folder, _results(setup, progress)),
        )
        if progress is not None:
            trainer.restore(progress, tensors)
        if run is not None and self.resume:
            step = trainer.progress.step
            run.forget_after(step)
            forget_snapshots_after(run.folder, step)
            if step and terminal is not None:
                terminal.say(f"resuming from step {step:,}.")
        finished = False
        with contextlib.suppress(StopRequested):
            trainer.fit()
            # The other processes wait here, so that none closes the group while rank 0 still uses it.
            finished = self.world.share(run is not None and self._finish(setup, run, trainer))
        if not finished and terminal is not None:
            terminal.say(f"stopped at step {trainer.progress.step:,}; --resume {setup.name} continues it.")
        return finished

    def _queued(self, setup: Setup, run: RunFolder, terminal: Terminal) -> None:
        """Report that the run is queued, and how long it will take once it has started."""
        terminal.say("another run is training here; this one is queued (--now starts it at once).")
        if self.world.size > 1:
            return  # an estimate with one process would be misleading
        saved = load_state(run.folder) if self.resume else None
        done = saved[0].step / setup.settings.training.max_steps if saved is not None else 0.0
        try:
            # On a copy, since the estimate makes a few updates.
            plan = estimate(replace(setup, model=copy.deepcopy(setup.model)))
        except TrainingError:
            return  # if it still applies, the run itself will report it
        low, high = (round((1 - done) * plan[name], 1) for name in ("earliest_seconds", "busy_seconds"))
        run.status("queued", eta_s=low, eta_low_s=low, eta_high_s=high)
        run.flush()

    def _settle_runtime(self, setup: Setup, run: RunFolder | None) -> Setup:
        """Resolve `auto` once for all processes and store the result in the run."""
        runtime = setup.runtime
        if self.world.is_main:
            setup.model.to(runtime.torch_device)
            runtime = choose_runtime(setup.model, setup.corpus, runtime, setup.settings.training)
        runtime = replace(self.world.share(runtime), device=setup.runtime.device)
        if run is not None:
            config = read_config(run.folder)
            write_json(run.folder / CONFIG, config | {"runtime": runtime.to_dict()})
        return replace(setup, runtime=runtime)

    def _finish(self, setup: Setup, run: RunFolder, trainer: Trainer) -> bool:
        """Score the final weights on the test split, and write the scores into configuration and card.

        Returns False if the run was asked to stop meanwhile; training is then complete and saved, and a resumed run
        continues here.
        """
        best = load_model(run.folder)
        examples = test_examples(setup)
        try:
            scores = score_examples(
                best.model.to(setup.runtime.torch_device),
                best.source,
                best.target,
                examples,
                DecodeConfig(),
                equivalent=setup.task.equivalent,
                group=setup.task.group,
                check=lambda: trainer.check_stop(alone=True),
            )
        except StopRequested:
            return False
        results = _results(setup, trainer.progress) | {
            "split": "test" if setup.task.splits.get("test") else "valid",
            "test": flat(scores.flat(with_bleu=setup.with_bleu)),
        }
        _describe(setup, run.folder, results)
        if results["step"] != trainer.progress.step:  # the pages show the heads of the weights that were kept
            if trainer.n_snapshots:
                weights = stored_weights(best.model)
                keep_snapshot(run.folder, results["step"], weights, trainer.n_snapshots, chosen=True)
            if answer_probe(run.folder, best.model, best.source, best.target):
                run.status(probe_step=results["step"])
        return True


def _results(setup: Setup, progress: Progress) -> dict[str, Any]:
    """Results for the weights in model.safetensors, without the test split."""
    # A state saved by an older version has no `latest` until the next evaluation.
    averaged = setup.settings.training.average_checkpoints and progress.latest
    scores = progress.latest if averaged else progress.best
    return {
        "step": scores["step"],
        "trained_steps": progress.step,
        "seconds": round(progress.seconds, 1),
        "longest_source": max(source - 1 for source, _ in setup.corpus.lengths),  # without <eos>
        "valid": flat(scores),
    }


def _describe(setup: Setup, folder: Path, results: Mapping[str, Any]) -> None:
    """Write results into configuration and card."""
    settings = setup.settings
    extra = {**setup.origin, "runtime": setup.runtime.to_dict(), "results": dict(results)}
    write_json(folder / CONFIG, config_sections(settings.model, settings.data, settings.training, extra))
    write_bytes(folder / CARD, _card(setup, results).encode())


def _fail(run: RunFolder, why: Later) -> None:
    """Write state `failed`; report on standard error if even that fails, as on a full disk."""
    try:
        run.status("failed", error=bounded(str(why)), error_message=to_data(why))
    except OSError as error:
        print(f"status.json could not be written: {error}", file=sys.stderr)
