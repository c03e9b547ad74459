"""Generate further training pairs with trained models, by `python -m model.relabel` in a separate process.

Each job has a record (its order) and, when it has finished, a file of pairs, both in a hidden folder beside the models.
The process is recorded and recognised like that of a run (see explorer/runs/process.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

import msgspec

from explorer.decoding.examples import FILES
from explorer.locale.durations import clock
from explorer.locale.messages import message, t, translated
from explorer.runs.command import PairsOrder
from explorer.runs.process import (
    RunError,
    exit_code,
    forget_launch,
    free_name,
    last_lines,
    last_sentence,
    read_launch,
    start_process,
    terminate,
)
from explorer.runs.uploads import LANGUAGES
from explorer.runs.viewer_mode import refuse
from model.config import DataConfig
from model.data import TASKS, get_task
from model.data.files import direction, fits
from model.folder import CheckpointError, modified, read_json, sweep_drafts, write_json

SELF_REVERSE = ("copy", "reverse")
"""Tasks that map each answer back to its input, so that one model serves both directions."""

MADE = ".pairs"  # inside the checkpoints folder; hidden, so that no model can have this name
MAX_TEMPERATURE = 1_000  # a record with a higher one is damaged
_NO_MESSAGE = message(
    "The process ended before the pairs were written, most likely because memory ran out or somebody ended it. "
    "Make them again."
)


@dataclass(frozen=True)
class Making:
    """The job that makes one file of pairs.

    `path` exists once the job has finished. While it runs, `model` is at work, `done` of `sentences` are translated,
    and `seconds_left` is None until it is known; `left_out` counts sentences that are empty or too long; `error` says
    in a sentence why the job failed.
    """

    name: str
    order: PairsOrder
    path: Path
    state: Literal["running", "finished", "failed"]
    model: str = ""
    done: int = 0
    sentences: int = 0
    left_out: int = 0
    seconds_left: float | None = None
    error: str = ""

    @property
    def share(self) -> float:
        """The share that is done, 0 to 1."""
        return min(self.done / self.sentences, 1.0) if self.sentences else 0.0

    @property
    def made(self) -> float:
        """When the file was written, in seconds since 1970."""
        return modified(self.path)

    def progress(self) -> str:
        """State how far the job is."""
        if not self.sentences:
            return t("Reading the data and the models …")
        if self.seconds_left is None:
            return t(
                "“{model}” translates: {done:,} of {n} sentence",
                "“{model}” translates: {done:,} of {n:,} sentences",
                model=self.model,
                done=self.done,
                n=self.sentences,
            )
        return t(
            "“{model}” translates: {done:,} of {n} sentence, about {duration} left",
            "“{model}” translates: {done:,} of {n:,} sentences, about {duration} left",
            model=self.model,
            done=self.done,
            n=self.sentences,
            duration=clock(self.seconds_left),
        )

    def origin(self) -> str:
        """State which models wrote which side, and what they left out: "targets by 'a', sources by 'b'"."""
        order = self.order
        parts = [t("targets by “{model}”", model=order.model)] if order.model else []
        parts += [t("sources by “{model}”", model=order.reverse)] if order.reverse else []
        if order.sample:
            parts.append(
                t("drawn at random (temperature {sample:g}, seed {seed})", sample=order.sample, seed=order.seed)
            )
        origin = ", ".join(parts)
        if not self.left_out:
            return origin
        return t(
            "{origin}; {n} sentence left out as empty or too long",
            "{origin}; {n:,} sentences left out as empty or too long",
            origin=origin,
            n=self.left_out,
        )


class MadePairs:
    """The jobs and files of pairs of one checkpoints folder."""

    def __init__(self, checkpoints: Path) -> None:
        self.checkpoints = checkpoints
        self.folder = checkpoints / MADE

    def all(self) -> list[Making]:
        """All jobs, the oldest file first and unfinished ones last; unreadable records are left out."""
        jobs = [making for path in self.folder.glob("*.json") if (making := self.making(path.stem)) is not None]
        return sorted(jobs, key=lambda making: (making.state != "finished", making.made, making.name))

    def unfinished(self) -> list[Making]:
        """Jobs that are running or have failed."""
        return [making for making in self.all() if making.state != "finished"]

    def finished(self, task: str, data: Sequence[str]) -> list[Making]:
        """Finished jobs whose source was these training pairs: those of a task, or the user's own."""
        return [
            making
            for making in self.all()
            if making.state == "finished" and (making.order.task, making.order.data) == (task, tuple(data))
        ]

    def next_drawn(self, order: PairsOrder) -> PairsOrder:
        """The order with the lowest seed, from 1, that no finished job has."""
        finished = {making.order for making in self.all() if making.state == "finished"}
        seeds = (dataclasses.replace(order, seed=seed) for seed in count(1))
        return next(drawn for drawn in seeds if drawn not in finished)

    def making(self, name: str) -> Making | None:
        """The current state of a job; None if there is none of this name, or its record cannot be read."""
        order = _read_order(self.folder / f"{name}.json")
        if order is None:
            return None
        path = self._file(name)
        launch = read_launch(self.folder, name)
        alive = launch is not None and launch.alive  # checked before the file, which the process writes last
        lines = last_lines(self.folder, name)
        state: Literal["running", "finished", "failed"]
        state = "finished" if path.is_file() else "running" if alive else "failed"
        error = _why_ended(lines, exit_code(launch.pid) if launch else None) if state == "failed" else ""
        return Making(name, order, path, state, error=error, **_progress(lines))

    def start(self, order: PairsOrder) -> str:
        """Start a job, replacing a failed one with the same order; returns its name.

        Raises:
            ViewerError: this server is read-only. RunError: no model is named, another job is running, these pairs
                exist already, or HEADLIGHT_NICE is not a niceness.
        """
        refuse(message("Making pairs is switched off: this server is for looking only."))
        if not (order.model or order.reverse):
            raise RunError("Choose at least one model that writes the pairs.")
        for making in self.all():
            if making.state == "running":
                raise RunError(
                    "Pairs are being made already (“{name}”); wait until that has ended, or stop it.", name=making.name
                )
            if making.state == "finished" and making.order == order:
                raise RunError("These pairs are made already: “{name}”.", name=making.name)
        for making in self.unfinished():
            if making.order == order:
                self.remove(making.name)
        name = self._free_name(order)
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep_drafts(self.folder)  # no process is writing there
        launch = start_process(self.folder, name, order.command(self.checkpoints, self._file(name)))
        try:
            write_json(self.folder / f"{name}.json", dataclasses.asdict(order))
        except OSError:
            terminate(launch)
            raise
        return name

    def remove(self, name: str) -> None:
        """Stop the process if it is still running, and delete the file and the records.

        Raises:
            ViewerError: this server is read-only.
        """
        refuse(message("Removing pairs is switched off: this server is for looking only."))
        if _read_order(self.folder / f"{name}.json") is None:
            return  # removed in another tab, or never existed
        launch = read_launch(self.folder, name)
        if launch is not None:
            terminate(launch)  # it writes its file at the end, atomically
        self._file(name).unlink(missing_ok=True)
        (self.folder / f"{name}.json").unlink(missing_ok=True)
        forget_launch(self.folder, name)

    def command(self, order: PairsOrder) -> list[str]:
        """The command that :meth:`start` would run now."""
        return order.command(self.checkpoints, self._file(self._free_name(order)))

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"

    def _free_name(self, order: PairsOrder) -> str:
        """A name that describes the file, such as dates-by-a-back-by-b, with a number if it is taken.

        A failed job with the same order does not count as taken.
        """
        back = f"-back-by-{order.reverse}" if order.reverse else ""
        drawn = f"-drawn-{order.seed}" if order.sample else ""
        wanted = order.task + (f"-by-{order.model}" if order.model else "") + back + drawn
        taken = {making.name for making in self.all() if making.state != "failed" or making.order != order}
        return free_name(wanted, lambda name: name in taken or self._file(name).exists())


class _Progress(msgspec.Struct):
    """A line of progress that the command prints."""

    model: str
    done: int
    sentences: int
    left_out: int
    seconds_left: float


def _read_order(path: Path) -> PairsOrder | None:
    try:
        order = msgspec.convert(read_json(path), PairsOrder)
    except (CheckpointError, msgspec.ValidationError):
        return None
    return order if 0 <= order.sample <= MAX_TEMPERATURE and 0 <= order.seed < 2**53 else None


def _progress(lines: Sequence[str]) -> dict[str, Any]:
    """Parse the last line of progress into fields of a job."""
    for line in reversed(lines):
        try:
            return msgspec.structs.asdict(msgspec.json.decode(line, type=_Progress))
        except msgspec.DecodeError:
            continue  # another message, or a truncated first line, since only the end of a long log is read
    return {}


def _why_ended(lines: Sequence[str], code: int | None) -> str:
    """Why there is no file: the last line of the command if it is a message for the user, or the likely reason."""
    sentences = [line for line in lines if not line.startswith("{")]
    if not sentences or (code is not None and code < 0):
        return translated(_NO_MESSAGE)
    if any(line.startswith("Traceback") for line in sentences):
        return t("The program failed ({reason}); please report this.", reason=sentences[-1])
    return str(last_sentence(lines))


@dataclass(frozen=True)
class Writers:
    """The models that can write one side of a task's pairs, those of the same task first.

    `proposed` is preselected, or empty; `missing` says what to train if there is none.
    """

    names: tuple[str, ...]
    proposed: str
    missing: str


def writers(summaries: Iterable[Mapping[str, Any]], data: DataConfig, side: str, busy: Collection[str] = ()) -> Writers:
    """Find the models that can write the `side` ("target" or "source") of these data.

    `summaries` are those of model.folder.summarize; `busy` are the names of models that are being trained. Models
    trained without the causal mask are left out: they have seen what comes next, and cannot write word by word.
    """
    languages = direction(data, side)
    # If the languages differ, a model of the same direction surely translates between them, so it may be proposed.
    certain = data.task != FILES and data.src_lang != data.tgt_lang
    candidates = []
    for summary in summaries:
        model_data, able = summary["data"], summary.get("trained") and summary["model"].get("causal") is not False
        if (
            summary["name"] in busy
            or not able
            or not fits((str(model_data.get("src_lang")), str(model_data.get("tgt_lang"))), languages)
        ):
            continue
        # Trained on the same task, in the direction that writes this side.
        same = model_data.get("task") == data.task != FILES and (side == "target" or data.task in SELF_REVERSE)
        # `model.relabel` checks the languages only: dates and number words are both English to English. Languages that
        # nobody named say nothing: such pairs are written by models of own pairs alone.
        own = model_data.get("task") == FILES
        if certain or own or same or (data.task == FILES and languages[0] != languages[1]):
            candidates.append((not same, str(summary["name"]), same or certain))
    candidates.sort()
    names = tuple(name for _, name, _ in candidates)
    proposed = candidates[0][1] if candidates and candidates[0][2] else ""
    return Writers(names, proposed, "" if names else _missing(data, side))


def _missing(data: DataConfig, side: str) -> str:
    """State what is missing and how to get it, in two sentences."""
    source, target = direction(data, side)
    if source != target and "xx" not in (source, target):
        lack = t(
            "No trained model here translates {source} to {target}.",
            source=translated(LANGUAGES.get(source, source)),
            target=translated(LANGUAGES.get(target, target)),
        )
    elif side == "target":
        lack = t("No trained model here turns these sources into targets.")
    else:
        lack = t("No trained model here turns these targets back into sources.")
    if side == "target":
        return f"{lack} {t('Train a model on these data first; it can then translate their sources.')}"
    tasks = {name: get_task(name).data for name in TASKS if name != data.task and source != target}
    reverse = next(
        (name for name, data_of in tasks.items() if (data_of.src_lang, data_of.tgt_lang) == (source, target)), ""
    )
    example = (
        t("Train a model of the reverse direction first, for example on the data “{data}”.", data=reverse)
        if reverse
        else t(
            "Train a model of the reverse direction first, for example on the same pairs with their columns exchanged."
        )
    )
    return f"{lack} {example}"
