"""Further training pairs that trained models write: made by `python -m model.relabel` in a process of its own.

Each making has a record (its order) and, once it has ended, its file, both in a hidden folder beside the models. The
process is recorded and recognised there as that of a run is (see explorer/runs/process.py).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

from explorer.locale.text import plural
from explorer.runs.command import PairsOrder
from explorer.runs.process import (
    RunError,
    exit_code,
    forget_launch,
    last_lines,
    read_launch,
    start_process,
    terminate,
)
from explorer.runs.status import clock
from explorer.runs.viewer_mode import refuse
from model.folder import modified, read_json, sweep_drafts, write_json

MADE = ".pairs"  # inside the checkpoints folder; hidden, so that no model can have this name
HOTTEST = 1_000  # a temperature in a record above this is damage
_NO_MESSAGE = (
    "The process ended before the pairs were written, most likely because memory ran out or somebody ended it. "
    "Make them again."
)


@dataclass(frozen=True)
class Making:
    """One file of pairs, made or being made.

    `path` exists once it is finished. While it is running, `model` is at work, `done` of `sentences` are translated,
    and `seconds_left` is None until that is known; `left_out` counts sentences that are empty or too long; `error`
    says in a sentence why it failed.
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
        """When it was finished, in seconds since 1970."""
        return modified(self.path)

    def progress(self) -> str:
        """How far it is, in a sentence."""
        if not self.sentences:
            return "Reading the data and the models …"
        left = "" if self.seconds_left is None else f", about {clock(self.seconds_left)} left"
        return f"'{self.model}' translates: {self.done:,} of {plural(self.sentences, 'sentence')}{left}"

    def origin(self) -> str:
        """Which models wrote which side, and what they left out: "targets by 'a', sources by 'b'"."""
        order = self.order
        sides = [f"{side} by '{by}'" for side, by in (("targets", order.model), ("sources", order.reverse)) if by]
        drawn = f", drawn at random (temperature {order.sample:g}, seed {order.seed})" if order.sample else ""
        left = f"; {plural(self.left_out, 'sentence')} left out as empty or too long" if self.left_out else ""
        return ", ".join(sides) + drawn + left


class MadePairs:
    """The made pairs of one checkpoints folder."""

    def __init__(self, checkpoints: Path) -> None:
        self.checkpoints = checkpoints
        self.folder = checkpoints / MADE

    def all(self) -> list[Making]:
        """Every making, the oldest file first and unfinished ones last; unreadable records are left out."""
        found = [making for path in self.folder.glob("*.json") if (making := self.making(path.stem)) is not None]
        return sorted(found, key=lambda making: (making.state != "finished", making.made, making.name))

    def unfinished(self) -> list[Making]:
        """Those that are being made or have failed."""
        return [making for making in self.all() if making.state != "finished"]

    def finished(self, task: str, data: Sequence[str]) -> list[Making]:
        """The files that were made from these training pairs: those of a task, or a person's own."""
        return [
            making
            for making in self.all()
            if making.state == "finished" and (making.order.task, making.order.data) == (task, tuple(data))
        ]

    def next_drawn(self, order: PairsOrder) -> PairsOrder:
        """The order with the lowest seed, from 1, that no finished file was made with."""
        made = {making.order for making in self.all() if making.state == "finished"}
        seeds = (dataclasses.replace(order, seed=seed) for seed in count(1))
        return next(drawn for drawn in seeds if drawn not in made)

    def making(self, name: str) -> Making | None:
        """One by its name, as it is now; None where there is none, or its record cannot be read."""
        order = _read_order(self.folder / f"{name}.json")
        if order is None:
            return None
        path = self._file(name)
        launch = read_launch(self.folder, name)
        alive = launch is not None and launch.alive  # before the file is looked for, which is the last that it writes
        lines = last_lines(self.folder, name)
        state: Literal["running", "finished", "failed"]
        state = "finished" if path.is_file() else "running" if alive else "failed"
        error = _why_ended(lines, exit_code(launch.pid) if launch else None) if state == "failed" else ""
        return Making(name, order, path, state, error=error, **_progress(lines))

    def start(self, order: PairsOrder) -> str:
        """Start making these pairs, in place of an attempt that failed; returns the name of the making.

        Raises:
            ViewerError: this server is for looking only. RunError: no model is named, others are being made, these
                are there already, or HEADLIGHT_NICE is not a niceness.
        """
        refuse("Making pairs is")
        if not (order.model or order.reverse):
            raise RunError("Choose at least one model that writes the pairs.")
        for making in self.all():
            if making.state == "running":
                raise RunError(
                    f"Pairs are being made already ('{making.name}'); wait until that has ended, or stop it."
                )
            if making.state == "finished" and making.order == order:
                raise RunError(f"These pairs are made already: '{making.name}'.")
        for making in self.unfinished():
            if making.order == order:
                self.remove(making.name)
        name = self._free_name(order)
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep_drafts(self.folder)  # no process writes there now
        launch = start_process(self.folder, name, order.command(self.checkpoints, self._file(name)))
        try:
            write_json(self.folder / f"{name}.json", dataclasses.asdict(order))
        except OSError:
            terminate(launch)
            raise
        return name

    def remove(self, name: str) -> None:
        """Stop the process if it still runs, and delete the file and what is known of it.

        Raises:
            ViewerError: this server is for looking only.
        """
        refuse("Removing pairs is")
        if _read_order(self.folder / f"{name}.json") is None:
            return  # removed in another tab, or never there
        launch = read_launch(self.folder, name)
        if launch is not None:
            terminate(launch)  # it writes its file at the very end, in one piece
        self._file(name).unlink(missing_ok=True)
        (self.folder / f"{name}.json").unlink(missing_ok=True)
        forget_launch(self.folder, name)

    def command(self, order: PairsOrder) -> list[str]:
        """The command that :meth:`start` would run now."""
        return order.command(self.checkpoints, self._file(self._free_name(order)))

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"

    def _free_name(self, order: PairsOrder) -> str:
        """A name that says what the file holds, such as dates-by-a-back-by-b, with a number if it is taken.

        A failed attempt at the same order makes room for the next.
        """
        back = f"-back-by-{order.reverse}" if order.reverse else ""
        drawn = f"-drawn-{order.seed}" if order.sample else ""
        wanted = order.task + (f"-by-{order.model}" if order.model else "") + back + drawn
        taken = {making.name for making in self.all() if making.state != "failed" or making.order != order}
        numbered = (wanted, *(f"{wanted}-{number}" for number in range(2, 10_000)))
        return next(name for name in numbered if name not in taken and not self._file(name).exists())


def _read_order(path: Path) -> PairsOrder | None:
    try:
        values = read_json(path)
        texts = {key: str(values[key]) for key in ("task", "model", "reverse", "device")}
        data = tuple(map(str, values["data"]))
        sample, seed = values.get("sample", 0.0), values.get("seed", 0)  # older records have none
    except (ValueError, KeyError, TypeError, AttributeError):  # a CheckpointError is a ValueError
        return None
    if type(sample) not in (int, float) or type(seed) is not int or not 0 <= sample <= HOTTEST or not 0 <= seed < 2**53:
        return None
    return PairsOrder(data=data, sample=sample, seed=seed, **texts)


def _progress(lines: Sequence[str]) -> dict[str, Any]:
    """What the last line of progress says, by the fields of a making."""
    for line in reversed(lines):
        said = _json(line)
        if said is None:
            continue
        try:
            return {
                "model": str(said["model"]),
                **{key: int(said[key]) for key in ("done", "sentences", "left_out")},
                "seconds_left": float(said["seconds_left"]),
            }
        except (KeyError, ValueError, TypeError, OverflowError):
            continue  # the first line may be cut, as only the end of a long log is read
    return {}


def _json(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _why_ended(lines: Sequence[str], code: int | None) -> str:
    """Why there is no file: the command's last line if it is a sentence for people, or the likely reason."""
    said = [line for line in lines if not line.startswith("{")]
    if not said or (code is not None and code < 0):
        return _NO_MESSAGE
    if any(line.startswith("Traceback") for line in said):
        return f"The program failed ({said[-1]}); please report this."
    return said[-1]
