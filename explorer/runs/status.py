"""Read the status of a run from its status.json, with the likely reason if its process is gone."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil

from explorer.locale.messages import message, t, translated
from explorer.runs.process import Launch, exit_code, is_alive, last_lines, last_sentence
from model.file_formats import Status
from model.folder import STATUS, STOP, CheckpointError, checked, read_json
from model.user_error import bounded
from model.wording import from_data

State = Literal["starting", "queued", "running", "stopping", "stopped", "finished", "failed"]
BUSY: tuple[State, ...] = ("starting", "queued", "running", "stopping")
STATE_WORDS = (
    *(message("starting"), message("queued"), message("running"), message("stopping")),
    *(message("stopped"), message("finished"), message("failed")),
)
"""The states, which :func:`translated` writes."""
STATES: tuple[State, ...] = (*BUSY, "stopped", "finished", "failed")

_MAX_NUMBER = 10**15  # steps, seconds; no run writes larger numbers
_LATEST = 1e11  # seconds since 1970: the year 5138; calendars end soon after
_DISK_FULL = message("The disk is full: free some space.")
_OUT = message("Memory ran out: lower “Tokens per batch” (max_tokens) or choose a smaller model.")
_FULL_DISK_BYTES = 20 * 1024**2
_OUT_OF_MEMORY = ("out of memory", "memoryerror", "bad_alloc", "can't allocate memory", "cannot allocate memory")
_SIGKILL = int(getattr(signal, "SIGKILL", 9))  # Windows has none
_NO_SPACE = ("no space left on device", "disk is full")


@dataclass(frozen=True)
class RunStatus:
    """The state of a run at one moment.

    `state` is `starting` until the process has created its folder. A run that claims to be active although its process
    is gone counts as `failed`, and `error` gives the reason in a sentence. `left`: the range of the remaining seconds
    (of a waiting run, from its turn on); `updated` and `started` (of the process): seconds since 1970; `probe_step`:
    the step at which the watched sentence was last translated.
    """

    name: str
    state: State
    step: int = 0
    max_steps: int = 0
    left: tuple[float, float] | None = None
    error: str = ""
    updated: float = 0.0
    probe_step: int | None = None
    started: float = 0.0

    @property
    def busy(self) -> bool:
        """Whether it is being trained, or waits for its turn."""
        return self.state in BUSY

    @property
    def resumable(self) -> bool:
        """Whether it can be resumed."""
        return self.state in ("stopped", "failed")

    @property
    def share(self) -> float:
        """The share that is done, 0 to 1."""
        if self.state == "finished":
            return 1.0
        return min(self.step / self.max_steps, 1.0) if self.max_steps else 0.0


def read_status(checkpoints: Path, name: str, launch: Launch | None = None) -> RunStatus | None:
    """Read the status of the run called `name`; None for a model without a run, and if its folder was removed.

    `launch` is the process last started from a page for it, if any.

    Raises:
        CheckpointError: status.json is damaged.
    """
    path = checkpoints / name / STATUS
    # Unlike Path.is_file, this returns False for a folder without read permission.
    values = checked(path, read_json(path), Status) if os.path.isfile(path) else None
    if launch is not None and not _has_reported(values, launch) and not _is_active(values):
        step, max_steps = _number(values, "step"), _number(values, "max_steps")
        if launch.alive:
            return RunStatus(name, "starting", step, max_steps, started=launch.started)
        code = exit_code(launch.pid)
        if values is None and code is None and _had_ended(checkpoints, name):
            return None
        if (values is None and code != 0) or code not in (0, None):
            error = _never_began(checkpoints, name, launch)
            return RunStatus(name, "failed", step, max_steps, error=error, updated=launch.started)
    return _status(checkpoints, name, values) if values is not None else None


def _has_reported(values: dict[str, Any] | None, launch: Launch) -> bool:
    """Whether status.json was written by this process or a later one."""
    if values is None:
        return False
    started = values.get("started")
    return values.get("pid") == launch.pid or (isinstance(started, (int, float)) and started > launch.started)


def _is_active(values: dict[str, Any] | None) -> bool:
    """Whether status.json says that its process is active, and that process is alive, whoever started it."""
    if values is None or values.get("state") not in BUSY:
        return False
    pid, started = values.get("pid"), _seconds(values.get("started"))
    return isinstance(pid, int) and started is not None and is_alive(pid, started)


def _status(checkpoints: Path, name: str, values: dict[str, Any]) -> RunStatus:
    state: Any = values.get("state")
    if state not in STATES:
        raise CheckpointError(
            "{name}/{status} gives the state {state}, which is not one of {states}.",
            name=name,
            status=STATUS,
            state=repr(state),
            states=", ".join(STATES),
        )
    error = bounded(str(from_data(values.get("error_message")) or values.get("error") or ""))
    if state in BUSY:
        if not _is_active(values):
            state = "failed"
            error = _why_gone(checkpoints, name, values)
        elif os.path.exists(checkpoints / name / STOP):
            state = "stopping"
    probe = values.get("probe_step")
    return RunStatus(
        name=name,
        state=state,
        step=_number(values, "step"),
        max_steps=_number(values, "max_steps"),
        left=_left(values),
        error=error,
        updated=_updated(values),
        probe_step=probe if isinstance(probe, int) else None,
        started=_seconds(values.get("started")) or 0.0,
    )


def _left(values: dict[str, Any]) -> tuple[float, float] | None:
    """The range of the remaining seconds; a run of an earlier version wrote a single number."""
    about = _seconds(values.get("eta_s"))
    if about is None:
        return None
    low, high = (_seconds(values.get(name)) for name in ("eta_low_s", "eta_high_s"))
    return min(about if low is None else low, about), max(about if high is None else high, about)


def _number(values: dict[str, Any] | None, name: str) -> int:
    value = (values or {}).get(name)
    return min(max(value, 0), _MAX_NUMBER) if isinstance(value, int) else 0


def _updated(values: dict[str, Any]) -> float:
    updated = _seconds(values.get("updated")) or 0.0
    return updated if updated < _LATEST else 0.0


def _seconds(value: Any) -> float | None:
    """A non-negative number from a file; None for anything else."""
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= _MAX_NUMBER else None


def _had_ended(checkpoints: Path, name: str) -> bool:
    """Whether the log of a run without a folder says that it was trained to its end, or stopped: model.train."""
    ends = f"{name} finished: ", f"{name} stopped; "
    return any(line.startswith(ends) for line in last_lines(checkpoints, name))


def _never_began(checkpoints: Path, name: str, launch: Launch) -> str:
    """Why the command ended before it created a run folder: its last line is a message for the user."""
    lines = last_lines(checkpoints, name)
    reason = _in_log(lines) or bounded(str(last_sentence(lines)))
    how = _how(exit_code(launch.pid))
    return reason or (
        t("The command ended before it could create the run's folder ({how}).", how=how)
        if how
        else t("The command ended before it could create the run's folder.")
    )


def _why_gone(checkpoints: Path, name: str, values: dict[str, Any]) -> str:
    """The most likely reason why an active process is gone, and what to do."""
    step = _number(values, "step")
    advice = t("Resume continues from the last save.") if step else t("Resume starts it again.")
    if psutil.boot_time() > _updated(values) > 0:
        reason = t("The computer was switched off or restarted while this run was at step {step}.", step=step)
        return f"{reason} {advice}"
    full = shutil.disk_usage(checkpoints).free < _FULL_DISK_BYTES
    if reason := translated(_DISK_FULL) if full else _in_log(last_lines(checkpoints, name)):
        return f"{reason} {advice}"
    pid = values.get("pid")
    code = exit_code(pid) if isinstance(pid, int) else None
    if code not in (None, -_SIGKILL):
        how = _how(code)
        reason = (
            t("The process ended at step {step} ({how}).", step=step, how=how)
            if how
            else t("The process ended at step {step}.", step=step)
        )
    else:
        reason = t(
            "The process was killed at step {step}, most likely by the system because memory ran out, or by hand. If "
            "it happens again, lower “Tokens per batch” (max_tokens) or choose a smaller model.",
            step=step,
        )
    return f"{reason} {advice}"


def _in_log(lines: list[str]) -> str:
    text = "\n".join(lines).lower()
    if any(sign in text for sign in _OUT_OF_MEMORY):
        return translated(_OUT)
    if any(sign in text for sign in _NO_SPACE):
        return translated(_DISK_FULL)
    return ""


def _how(code: int | None) -> str:
    if code is None:
        return ""
    if code < 0:
        return signal.Signals(-code).name if -code in set(signal.Signals) else t("signal {n}", n=-code)
    return t("exit code {code}", code=code)
