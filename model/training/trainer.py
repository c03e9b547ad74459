"""The training loop: updates, evaluations and saves in an order that depends on the step alone.

An update is followed by snapshot, evaluation and save, in this order. The saved progress records which of them are
done, so a run can be interrupted anywhere and resumed with the same result.
"""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import safetensors.torch
import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from model.architectures import Model
from model.checkpoint import average_weights, load_stored, stored_weights, write_weights
from model.config import TrainConfig
from model.data.checks import FEWEST_HELD_OUT
from model.data.proposal import first_look
from model.folder import STATE, WEIGHTS
from model.training.consistency import draw_cutoff
from model.training.corpus import Inputs, Update
from model.training.device import operations
from model.training.distributed import World
from model.training.evaluation import eval_line, evaluate, is_better, reachable
from model.training.failure import not_finite
from model.training.loss import TrainingLoss
from model.training.optimizer import make_optimizer, optimizer_tensors, restore_optimizer
from model.training.probe import answer_probe
from model.training.randomness import start_stream
from model.training.runfolder import RunFolder
from model.training.schedule import learning_rate
from model.training.setup import Setup
from model.training.snapshots import how_many, keep_snapshot, planned_steps
from model.training.state import Progress, recent_path, save_state
from model.training.terminal import Terminal


class Window:
    """Sums between two log lines; losses stay on the device until they are read."""

    def __init__(self, device: torch.device) -> None:
        exact = torch.float64 if device.type == "cpu" else torch.float32
        self.loss = torch.zeros((), device=device, dtype=exact)
        self.nll = torch.zeros((), device=device, dtype=exact)
        self.norm = torch.zeros((), device=device)
        self.target_tokens = 0
        self.tokens = 0
        self.seconds = 0.0

    def add(self, loss: Tensor, nll: Tensor, norm: Tensor, update: Update) -> None:
        """Add one update: its summed loss as optimised, and the plain NLL of the same tokens."""
        self.loss += loss
        self.nll += nll
        self.norm = norm
        self.target_tokens += update.target_tokens
        self.tokens += update.tokens

    def check(self, step: int, config: TrainConfig) -> None:
        """Raise if the gradient norm is not finite; it is the same on all processes, so all of them stop."""
        if not math.isfinite(float(self.norm)):
            raise not_finite(step, config)


SPELL_SECONDS, MOST_SPELLS = 5.0, 24
NEWER = 0.7
"""The weight of a spell as a share of that of the next one: those of the last half minute have 88 % of all weight."""
STEADY_SPELLS = 12


class Pace:
    """Estimates the remaining time and its range from spells of updates.

    A spell is the updates of about five seconds. Newer spells weigh more: the mean of the whole run would adapt too
    slowly to a machine that becomes busier or freer, as it does after a slow start; a single update would make the
    estimate jump. The range is that of the spells, without the slowest and fastest tenth by weight. Few spells say
    little of the next ones, so the range begins nearly twice as wide to either side, and narrows with each spell of the
    first minute. The first update, which also prepares the next ones, is not counted.
    """

    def __init__(self) -> None:
        self._began: tuple[float, int] | None = None  # when and at which step the spell of now began
        self._spells: deque[tuple[float, int]] = deque(maxlen=MOST_SPELLS)  # seconds and updates, newest first

    def remaining(self, now: float, step: int, max_steps: int) -> tuple[float, float, float] | None:
        """Seconds until `max_steps`: at the weighted mean pace, and at a fast and a slow one.

        None before the end of the first spell: a few updates say too little of the others.
        """
        began, first_step = self._began = self._began or (now, step)
        if step > first_step and now - began >= SPELL_SECONDS:
            self._spells.appendleft((now - began, step - first_step))
            self._began = now, step
        if not self._spells:
            return None
        weighted = [(seconds, updates, NEWER**age) for age, (seconds, updates) in enumerate(self._spells)]
        pace = sum(seconds * weight for seconds, _, weight in weighted) / sum(n * weight for _, n, weight in weighted)
        paces = sorted((seconds / updates, weight) for seconds, updates, weight in weighted)
        wide = 1 + 2 * max(0.0, 1 / (1 + len(paces)) - 1 / (1 + STEADY_SPELLS))
        left = max_steps - step
        fast, slow = _without_tenth(paces), _without_tenth(paces[::-1])
        return pace * left, min(fast, pace) * left / wide, max(slow, pace) * left * wide


def _without_tenth(paces: Sequence[tuple[float, float]]) -> float:
    """The first of some paces, each with its weight, after those that have a tenth of the whole weight together."""
    tenth, passed = sum(weight for _, weight in paces) / 10, 0.0
    for pace, weight in paces:
        passed += weight
        if passed > tenth:
            return pace
    return paces[-1][0]


class StopRequested(Exception):
    """The run was asked to stop; its state is saved."""


class Trainer:
    """Training in one process of a run. Rank 0 writes the run folder and reports; the others only compute."""

    def __init__(
        self,
        setup: Setup,
        world: World,
        run: RunFolder | None,
        terminal: Terminal | None = None,
        asked_to_stop: Callable[[], bool] = lambda: False,
        new_weights: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self.setup = setup
        self.config: TrainConfig = setup.settings.training
        self.world = world
        self.run = run
        self.terminal = terminal
        self.asked_to_stop = asked_to_stop
        self.new_weights = new_weights
        self.device = setup.runtime.torch_device
        self.model = setup.model.to(self.device).train()
        self.loss: torch.nn.Module
        self.loss = loss = TrainingLoss(
            self.model,
            smoothing=self.config.label_smoothing,
            fused=setup.runtime.fused,
            consistency=self.config.consistency,
            consistency_weight=self.config.consistency_weight,
        )
        if setup.runtime.compile:
            loss.compile_model()
        if world.size > 1:
            ids = [self.device.index] if self.device.type == "cuda" else None
            self.loss = DistributedDataParallel(loss, device_ids=ids, forward_sync_buffers=False)
        self.optimizer = make_optimizer(self.model, self.config)
        self.progress = Progress()
        self.n_snapshots = how_many(self.config, sum(p.numel() for p in self.model.parameters()))
        self.snapshot_steps = set(planned_steps(self.config.max_steps, self.n_snapshots))
        self.reachable = reachable(setup.task, setup.valid)
        self._window = Window(self.device)
        self._pace = Pace()

    def restore(self, progress: Progress, tensors: dict[str, Tensor]) -> None:
        """Continue from a saved state.

        Raises:
            KeyError: the state belongs to another model.
        """
        weights = {name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")}
        load_stored(self.model, weights)
        restore_optimizer(self.optimizer, self.model, tensors)
        self.progress = progress
        if self.world.is_main:  # the saved sums are over all processes
            self._window.loss += progress.loss
            self._window.nll += progress.nll
        self._window.target_tokens = progress.target_tokens

    def fit(self) -> None:
        """Train until `max_steps`, or until patience runs out or everything held out has been right for long enough.

        Raises:
            StopRequested: asked to stop; the state is saved.
            TrainingError: training cannot continue.
        """
        try:
            while True:
                self._after_update()
                if self.done:
                    if self.progress.step < self.config.max_steps and self.n_snapshots:
                        self._keep_snapshot()  # of the last step, wherever it ends
                    break
                self.check_stop()
                self.update()
        except StopRequested:
            self.save()
            raise
        self.save()

    @property
    def done(self) -> bool:
        """Whether training is complete."""
        patience, right = self.config.patience, self.config.stop_when_right
        return (
            self.progress.step >= self.config.max_steps
            or bool(patience and self.progress.waited >= patience)
            or bool(right and self.progress.right >= right)
        )

    def check_stop(self, *, alone: bool = False) -> None:
        """Raise if any process was asked to stop; all must call this together, unless `alone`.

        Raises:
            StopRequested: a stop was requested.
        """
        requested = self.asked_to_stop() or (self.run is not None and self.run.stop_requested())
        if requested if alone else self.world.any(requested):
            if self.run is not None:
                self.run.status("stopping")
            raise StopRequested

    # One update

    def update(self) -> None:
        """Make one weight update."""
        began = time.monotonic()
        progress = self.progress
        updates = self.setup.corpus.updates(progress.epoch)
        update = updates[progress.update]
        step = progress.step + 1
        rate = learning_rate(self.config, step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss, nll = self.gradients(update, step)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm or math.inf)
        self._window.add(loss, nll, norm, update)
        if self.device.type == "cpu":
            self._window.check(step, self.config)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        progress.step = step
        progress.tokens += update.tokens
        progress.epoch, progress.update = (
            (progress.epoch, progress.update + 1) if progress.update + 1 < len(updates) else (progress.epoch + 1, 0)
        )
        due = step == 1 or step % self.config.log_every == 0 or step == self.config.max_steps
        if due:
            self._window.check(step, self.config)  # waits for the device, whose time is then included
        self._window.seconds += time.monotonic() - began
        progress.seconds += time.monotonic() - began
        if due:
            self._log_training(rate)
        self._tick()

    def gradients(self, update: Update, step: int) -> tuple[Tensor, Tensor]:
        """Compute gradients of the update's mean loss per target token; return this process's summed loss and NLL."""
        share = update.shares[self.world.rank]
        total, plain = torch.zeros((), device=self.device), self._window.nll.new_zeros(())
        try:
            for number, (batch, inputs) in enumerate(zip(share, self._inputs(update, step), strict=True)):
                if number:
                    self.check_stop()
                start_stream(self.config.seed, "update", step, number, self.world.rank)
                loss, nll = self._backward(inputs, batch.weight, update.target_tokens, last=number == len(share) - 1)
                total += loss
                plain += nll
        except StopRequested:
            self.optimizer.zero_grad(set_to_none=True)  # discard the partial update; a resumed run repeats it
            raise
        return total, plain

    def _inputs(self, update: Update, step: int) -> Iterator[Inputs]:
        """This process's inputs of an update, on the device; on CUDA, copied one batch ahead."""
        ahead: deque[Inputs] = deque()
        for number, batch in enumerate(update.shares[self.world.rank]):
            inputs = self.setup.corpus.inputs(batch)
            if self.config.consistency == "simcut":
                nth = number * self.world.size + self.world.rank  # among all batches of the update
                keep_masks = draw_cutoff(inputs.src, inputs.tgt_in, self.config.cutoff, self.config.seed, step, nth)
                inputs = inputs._replace(keep_masks=keep_masks)
            ahead.append(inputs.to(self.device))
            if len(ahead) > (self.device.type == "cuda"):
                yield ahead.popleft()
        yield from ahead

    def _backward(self, inputs: Inputs, weight: float, target_tokens: int, *, last: bool) -> tuple[Tensor, Tensor]:
        accumulate = isinstance(self.loss, DistributedDataParallel) and not last
        sync = self.loss.no_sync() if accumulate else contextlib.nullcontext()  # type: ignore[operator]
        runtime = self.setup.runtime
        views = 1 if self.config.consistency == "none" else 2
        n_operations = operations(self.model, views * max(inputs.src.numel(), inputs.tgt_in.numel()))
        with runtime.matmul(n_operations), sync:
            with runtime.autocast():
                loss, nll = self.loss(*inputs)
            loss = loss * weight
            # DDP averages over processes; we want the sum.
            (loss * (self.world.size / target_tokens)).backward()
        return loss.detach(), nll.detach() * weight

    # What follows an update

    def _after_update(self) -> None:
        """Take a snapshot, evaluate and save, whichever is due at this step and not done yet."""
        progress, config = self.progress, self.config
        step = progress.step
        if step in self.snapshot_steps:
            self._keep_snapshot()
        due = step % config.eval_every == 0 or step >= config.max_steps
        if due and step > progress.evaluated:
            self._window.check(step, config)
            self._evaluate()
        elif 0 < step == first_look(config.max_steps, config.eval_every):
            self._window.check(step, config)
            self._log_scores("look", self.model, self._scored(self.model))
        if step % config.save_every == 0 and step < config.max_steps:
            self._window.check(step, config)
            self.save()

    def _keep_snapshot(self) -> None:
        if self.run is not None:
            self._window.check(self.progress.step, self.config)
            keep_snapshot(self.run.folder, self.progress.step, stored_weights(self.model), self.n_snapshots)

    def _evaluate(self) -> None:
        """Score the current weights or, with averaging, the mean of the last few."""
        setup, progress = self.setup, self.progress
        model, averaged = self._averaged() if self.config.average_checkpoints else (self.model, None)
        line = self._scored(model)
        progress.evaluated = progress.step
        better = is_better(line, progress.best, self.config)
        progress.waited = 0 if better else progress.waited + 1
        enough = len(setup.valid.decoded) >= FEWEST_HELD_OUT  # that fewer are all right may be chance
        progress.right = progress.right + 1 if enough and line["exact_match"] >= self.reachable else 0
        latest = {key: value for key, value in line.items() if key != "samples"} | {"step": progress.step}
        if better:
            progress.best = latest
        if averaged is not None:
            progress.latest, progress.recent = latest, self._steps_to_average()
        if self.run is None:
            return
        if averaged is not None or better:
            write_weights(self.run.folder / WEIGHTS, averaged if averaged is not None else stored_weights(self.model))
            self.new_weights(progress)
        self._log_scores("eval", model, line)
        self.run.status(best=progress.best)

    def _scored(self, model: Model) -> dict[str, Any]:
        """Score a model on validation; the same on every process."""
        setup = self.setup
        scores = evaluate(model, setup.target, setup.task, setup.valid, self.world, check=self.check_stop)
        return eval_line(scores, setup.valid.decoded_examples, with_bleu=setup.with_bleu, most=self.reachable)

    def _log_scores(self, kind: Literal["eval", "look"], model: Model, line: Mapping[str, Any]) -> None:
        """Log scores, and write the attention of the model in the watched sentence."""
        progress, setup = self.progress, self.setup
        if self.run is None:
            return
        if answer_probe(self.run.folder, model, setup.source, setup.target):
            self.run.status(probe_step=progress.step)
            self.run.flush()  # the step of the map that has just been written, which somebody may be looking at
        values: dict[str, Any] = {"epoch": progress.epoch, "seconds": round(progress.seconds, 2), **line}
        self.run.log(kind, progress.step, **values)
        if self.terminal is not None:
            self.terminal.log(kind, progress.step, **values)

    def _steps_to_average(self) -> list[int]:
        """The evaluated steps whose weights are averaged now."""
        return [*self.progress.recent, self.progress.step][-self.config.average_checkpoints :]

    def _averaged(self) -> tuple[Model, dict[str, Tensor]]:
        """A model with the mean weights of the last few evaluations, and these weights; the same on every process."""
        mean: dict[str, Tensor] = {}
        if self.run is not None:
            folder = self.run.folder
            (folder / STATE).mkdir(exist_ok=True)
            write_weights(recent_path(folder, self.progress.step), stored_weights(self.model))
            paths = (recent_path(folder, step) for step in self._steps_to_average())
            mean = average_weights([safetensors.torch.load_file(path) for path in paths])
        elif self.world.is_main:
            mean = stored_weights(self.model)  # without a folder there are no earlier weights
        mean = self.world.share_tensors(mean)
        twin = copy.deepcopy(self.model)
        load_stored(twin, mean)
        return twin, mean

    def save(self) -> None:
        """Save the state to resume from; all processes must call this together."""
        self.progress.loss, self.progress.nll = self.sums_since_log()
        self.progress.target_tokens = self._window.target_tokens
        if self.run is None:
            return
        tensors = {f"model.{name}": tensor for name, tensor in stored_weights(self.model).items()}
        save_state(self.run.folder, self.progress, tensors | optimizer_tensors(self.optimizer, self.model))

    # Reports

    def sums_since_log(self) -> tuple[float, float]:
        """Loss as optimised and plain NLL of all processes since the last log line; all must call this together."""
        loss, nll = self.world.sum(self._window.loss.item(), self._window.nll.item())
        return loss, nll

    def _log_training(self, rate: float) -> None:
        loss, nll = self.sums_since_log()
        values = {
            "epoch": self.progress.epoch,
            "seconds": round(self.progress.seconds, 2),
            "loss": loss / self._window.target_tokens,
            "nll": nll / self._window.target_tokens,
            "lr": rate,
            "grad_norm": float(self._window.norm),
            "tokens_per_s": self._window.tokens / max(self._window.seconds, 1e-9),
        }
        self._window = Window(self.device)
        if self.run is None:
            return
        self.run.log("train", self.progress.step, **values)
        if self.terminal is not None:
            self.terminal.log("train", self.progress.step, **values)

    def _tick(self) -> None:
        if self.run is None:
            return
        progress = self.progress
        left = self._pace.remaining(time.monotonic(), progress.step, self.config.max_steps)
        eta, low, high = (None, None, None) if left is None else (round(seconds, 1) for seconds in left)
        speed = progress.tokens / max(progress.seconds, 1e-9)
        self.run.status(
            step=progress.step,
            max_steps=self.config.max_steps,
            epoch=progress.epoch,
            eta_s=eta,
            eta_low_s=low,
            eta_high_s=high,
            tokens_per_s=round(speed),
        )
        if self.terminal is not None:
            self.terminal.tick(progress.step, left and left[1:], speed)
