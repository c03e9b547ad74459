"""Estimate a run before it starts, by the training command itself: `--dry-run --json`."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from explorer.locale.messages import t
from explorer.runs.command import TrainingOrder
from explorer.runs.home import ROOT
from explorer.runs.process import RunError, environment, last_sentence, lower_priority, niceness
from explorer.runs.settings import KINDS, value_of
from model.analysis.size import parameters_of
from model.config import SPECIALS, DataConfig, ModelConfig, TrainConfig, from_dict, to_dict
from model.data.proposal import TokenKind, earliest_end
from model.durations import span
from model.presets import PRESETS, Preset
from model.user_error import UserError
from model.wording import Later

TIMEOUT_SECONDS = 60.0
MOST_COUNTED = 10**9  # parameters that are counted without a trial
_POLL_SECONDS = 0.2  # between checks whether anybody still waits for an estimate
PATIENCE_SECONDS = 10.0
"""How long an asker counts as waiting after its last request; an open form asks more than once a second."""
_LIBRARY_BYTES = 300 * 2**20
_UPDATE_SECONDS, _TOKEN_SECONDS = 0.012, 1e-5  # of two cores, by trials of tiny with 171 to 2,973 tokens an update
_OPERATIONS_PER_SECOND = 1.2e11  # by trials of tiny and small
_PACE = {"lstm": 0.8, "decoder": 2.0}
"""The time of an update as a share of what it is with a Transformer of both stacks, by trials of the tiny presets."""
UNTIMED = 1.6
"""Sizes without a trial may take this many times what the trial of others lets expect; small took 1.3 times."""
LEAST = 0.6
"""And at least this share of it on a CPU."""
LOADED_SECONDS = 3600.0  # of a run for which the load of now is expected to last
MAX_PLANS = 128
MAX_ASKERS = 512
FEW_TOKENS, MANY_TOKENS = {"characters": 30}, 120  # of a small task, without those of own pairs
REFUSAL = 2  # exit code of the command when its message is one sentence for the user


class PlanError(UserError):
    """There is no plan; the message says why.

    `refused`: the run itself could not start with these settings, and the message is the command's own sentence.
    """

    def __init__(self, message: str | Later | Exception, /, *, refused: bool = False, **fields: object) -> None:
        super().__init__(message, **fields)
        self.refused = refused


class Plan(msgspec.Struct, frozen=True):
    """The estimate of a run, as `--dry-run --json` prints it.

    `memory` in bytes; `seconds` for the whole run on `threads` cores of a CPU, or else `device_name`, at `tokens_per_s`
    (source and target, without padding, as `tokens_per_update`) if it does nothing else, `busy_seconds` if it becomes
    somewhat busier than it was while updates were timed; `earliest_seconds`: the part of `seconds` until the run may
    end, at step `earliest`, at the fastest pace timed on this machine; `examples` by split; `training`: all settings;
    `skipped`: number of training pairs that are too long or empty; `schedule`: pairs of step and learning rate.
    """

    parameters: int
    memory: int = msgspec.field(name="memory_bytes")
    seconds: float
    steps: int
    epochs: float
    tokens_per_s: float
    device: str
    device_name: str
    precision: str
    src_vocab_size: int
    tgt_vocab_size: int
    tokens_per_update: int
    busy_seconds: float
    earliest_seconds: float
    threads: int
    earliest: int
    training: dict[str, Any]
    skipped: int = 0
    examples: dict[str, int] = {}
    schedule: tuple[tuple[int, float], ...] = ()

    @property
    def duration_text(self) -> str:
        """The time of the run, from its first chance to end on a free machine to all of it on one busier than now."""
        return span(self.earliest_seconds, self.busy_seconds)

    def summary(self) -> str:
        """Device, updates, passes over the data and vocabularies in a few sentences."""
        pairs = self.examples.get("train", 0)
        cores = t("{n} core of the CPU", "{n} cores of the CPU", n=self.threads)
        epochs = t("{n:,.0f}", n=self.epochs) if self.epochs >= 10 else t("{n:.1f}", n=self.epochs)
        said = [
            t(
                "On {device} ({precision}): {updates} of {batches}, about {tokens:,.0f} tokens of both sides together, "
                "at up to {speed:,.0f} tokens/s; {epochs} times through {data}. Vocabulary: {source_tokens} and "
                "{target_tokens}, {special} of them special on each side.",
                device=cores if self.device == "cpu" else self.device_name,
                precision=self.precision,
                updates=t("{n} update", "{n:,} updates", n=self.steps),
                tokens=float(f"{self.tokens_per_update:.2g}"),
                speed=float(f"{self.tokens_per_s:.2g}"),
                batches=t(
                    "a batch of at most {most:,} tokens a side",
                    "up to {n} batches of at most {most:,} tokens a side",
                    n=self.training["gradient_accumulation_steps"],
                    most=self.training["max_tokens"],
                ),
                epochs=t("at most {n}", n=epochs) if self.earliest < self.steps else epochs,
                data=t("the only training pair", "the {n:,} training pairs", n=pairs),
                source_tokens=t("{n} source token", "{n:,} source tokens", n=self.src_vocab_size),
                target_tokens=t("{n} target token", "{n:,} target tokens", n=self.tgt_vocab_size),
                special=len(SPECIALS),
            )
        ]
        if self.skipped:
            said.append(
                t(
                    "{n} pair is left out, empty or too long.",
                    "{n:,} pairs are left out, empty or too long.",
                    n=self.skipped,
                )
            )
        return " ".join(said)

    @staticmethod
    def range_sentence() -> str:
        """What the two ends of the time assume."""
        return t(
            "The shorter time is that until the run may end for the first time, on a machine that does nothing else; "
            "the longer one is that of all updates, on one somewhat busier than now. The run gives way to other "
            "programs: if they need more, it can take several times as long."
        )


class Sizes(NamedTuple):
    """About the sizes of a run by arithmetic, before any trial: parameters, memory and seconds.

    `earliest`: the share of its updates after which it may end.
    """

    parameters: int
    memory: int
    seconds: float
    earliest: float


def sizes_at_once(
    order: TrainingOrder, preset: Preset, data: DataConfig, kind: TokenKind | None = None
) -> Sizes | None:
    """Compute the sizes of a run whose data settings are `data`, of own pairs with the chosen `kind` of tokens.

    None where only the trial can: it starts from another model, or is too large.
    """
    changes = {name: value_of(KINDS[name], text) for name, text in order.changes}

    def changed(start: Mapping[str, Any], names: type) -> dict[str, Any]:
        return {**start, **{item.name: changes[item.name] for item in fields(names) if item.name in changes}}

    data = from_dict(DataConfig, changed(to_dict(data), DataConfig))
    model = from_dict(ModelConfig, changed(preset.model, ModelConfig))
    if kind is not None and kind.kind == data.tokenizer:
        sides = kind.src_vocab_size, kind.tgt_vocab_size
    else:
        sides = (data.vocab_size if data.tokenizer == "subwords" else FEW_TOKENS.get(data.tokenizer, MANY_TOKENS),) * 2
    if not model.has_encoder:
        sides = (sides[0] if data.tokenizer == "subwords" else sum(sides),) * 2
    config = replace(model, src_vocab_size=sides[0], tgt_vocab_size=sides[1])
    parameters = parameters_of(config)
    if order.init or parameters > MOST_COUNTED:
        return None  # the trial says whether they fit into the memory
    training = from_dict(TrainConfig, changed({**preset.training}, TrainConfig))
    layers = model.n_encoder_layers + 1.5 * model.n_decoder_layers
    activations = 80 * training.max_tokens * model.d_model * layers  # about twenty numbers of a layer, in float32
    memory = int(_LIBRARY_BYTES + 16 * parameters + activations)
    tokens = 2 * training.max_tokens * training.gradient_accumulation_steps  # nearly, unless the pairs are few
    update = update_seconds(parameters, tokens if kind is None else min(tokens, kind.tokens))
    seconds = _PACE.get(model.architecture, 1.0) * training.max_steps * update
    earliest = earliest_end(training, training.eval_sentences if kind is None else kind.held_out)
    return Sizes(parameters, memory, seconds, earliest / training.max_steps)


def update_seconds(parameters: int, tokens: float) -> float:
    """The time of an update, by a multiplication and an addition per parameter and token, forward and twice back."""
    return _UPDATE_SECONDS + (_TOKEN_SECONDS + 6 * parameters / _OPERATIONS_PER_SECOND) * tokens


def memory_text(size: int) -> str:
    """Format bytes as MB or GB."""
    return f"{size / 2**30:.1f} GB" if size >= 2**29 else f"{size / 2**20:.0f} MB"


def read_plan(output: str) -> Plan:
    """Parse the output of `--dry-run --json`.

    Raises:
        PlanError: the output is not a plan.
    """
    try:
        return msgspec.json.decode(output, type=Plan)
    except msgspec.DecodeError as error:
        raise PlanError(
            "The training command printed no plan ({error}); run it in a terminal to see why.", error=error
        ) from None


def run_trial(command: Sequence[str], wanted: Callable[[], bool] = lambda: True) -> Plan | None:
    """Run the command (beginning with "python") and read its plan; returns None as soon as it is no longer `wanted`.

    Raises:
        PlanError: the command refused, failed, or took too long.
    """
    try:
        nice = niceness()
    except RunError as error:
        raise PlanError(error) from None
    process = subprocess.Popen(
        [sys.executable, *command[1:]],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environment(),
    )
    lower_priority(process.pid, nice)
    output, errors = None, ""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while output is None:
        try:
            output, errors = process.communicate(timeout=_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            if (needed := wanted()) and time.monotonic() < deadline:
                continue
            process.kill()
            process.communicate()
            if not needed:
                return None
            raise PlanError(
                "The estimate took more than {timeout_seconds:.0f} seconds and was abandoned; you can still start the "
                "run.",
                timeout_seconds=TIMEOUT_SECONDS,
            ) from None
    if process.returncode:
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        refused = process.returncode == REFUSAL
        if not lines:
            raise PlanError("The training command failed without a message.")
        raise PlanError(last_sentence(lines), refused=refused)
    return read_plan(output)


class PlanService:
    """Makes plans one at a time and caches them; all sessions share one service.

    A request is skipped or abandoned if nobody waits for it any more, because its asker has changed a setting or left.
    """

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="plan")
        self._lock = threading.Lock()
        self._device, self._pace, self._slower = "cpu", 1.0, 1.0  # see `untimed`
        self._timed = False  # whether there was a trial
        self._answers: OrderedDict[tuple[str, ...], Future[Plan | None]] = OrderedDict()
        self._wanted: OrderedDict[str, tuple[tuple[str, ...], float]] = (
            OrderedDict()
        )  # command and time of request, by asker

    def untimed(self, sizes: Sizes) -> tuple[float, float]:
        """The shortest and the longest time of a run of these sizes without a trial.

        The shortest is that until the run may end, on a free machine by the fastest of all trials here, so that it does
        not move with the load. For the longest, other programs go on for an hour as in the latest trial. Before the
        first trial on this machine, they are those of two cores that do nothing else.
        """
        calm = UNTIMED * self._pace * sizes.seconds
        longest = calm + (self._slower - 1) * min(calm, LOADED_SECONDS)
        # What small sizes take on a GPU bounds the time of large ones from above only.
        return self.least(sizes) * sizes.earliest, longest

    def least(self, sizes: Sizes) -> float:
        """The shortest time of all updates of a run of these sizes without a trial; 0 on a GPU, where it is unknown."""
        return LEAST * self._pace * sizes.seconds if self._device == "cpu" else 0.0

    def ask(self, asker: str, command: Sequence[str]) -> Plan | PlanError | None:
        """Return the plan of a command, the error, or None while the estimate is running; never blocks."""
        key = tuple(command)
        with self._lock:
            self._wanted[asker] = key, time.monotonic()
            self._wanted.move_to_end(asker)
            while len(self._wanted) > MAX_ASKERS:
                self._wanted.popitem(last=False)
            answer = self._answers.get(key)
            if answer is None or (answer.done() and answer.exception() is None and answer.result() is None):
                answer = self._answers[key] = self._worker.submit(self._answer, key)
            self._answers.move_to_end(key)
            while len(self._answers) > MAX_PLANS:
                self._answers.popitem(last=False)
        if not answer.done():
            return None
        error = answer.exception()
        if error is None:
            return answer.result()
        return error if isinstance(error, PlanError) else PlanError("The estimate failed: {error}.", error=error)

    def known(self, command: Sequence[str]) -> Plan | None:
        """The plan of a command if it has been made, without asking for one."""
        with self._lock:
            answer = self._answers.get(tuple(command))
        return answer.result() if answer is not None and answer.done() and answer.exception() is None else None

    def forget(self, command: Sequence[str]) -> None:
        """Drop a finished answer, so that the next request starts a new estimate."""
        with self._lock:
            answer = self._answers.get(tuple(command))
            if answer is not None and answer.done():
                del self._answers[tuple(command)]

    def _answer(self, key: tuple[str, ...]) -> Plan | None:
        plan = run_trial(key, lambda: self._is_wanted(key)) if self._is_wanted(key) else None
        if plan is not None and plan.steps and plan.seconds:
            named = [name for name in PRESETS if ("--preset", name) in pairwise(key)]
            architecture = PRESETS[named[0]].model.get("architecture", "") if named else ""
            rough = plan.steps * update_seconds(plan.parameters, plan.tokens_per_update) * _PACE.get(architecture, 1.0)
            earlier = self._pace if self._timed and plan.device == self._device else plan.seconds / rough
            self._device, self._pace = plan.device, min(earlier, plan.seconds / rough)
            self._slower, self._timed = plan.busy_seconds / plan.seconds, True
            fastest = plan.earliest_seconds * self._pace * rough / plan.seconds
            return msgspec.structs.replace(plan, earliest_seconds=fastest)
        return plan

    def _is_wanted(self, key: tuple[str, ...]) -> bool:
        with self._lock:
            since = time.monotonic() - PATIENCE_SECONDS
            return any(asked == key and at >= since for asked, at in self._wanted.values())
