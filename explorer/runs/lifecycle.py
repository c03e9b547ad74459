"""Start, resume, stop, rename, delete and list training runs. A run is a process and a folder.

The process is `python -m model.train …`, started as one would type it; none of its code is imported here. The process
writes the folder; this module reads it and writes two files there: `stop`, which asks the process to end, and
`probe.json`, the sentence that is being watched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.locale.messages import Later, later, message
from explorer.locale.text import why
from explorer.runs.command import longer_command, resume_command
from explorer.runs.process import (
    Launch,
    RunError,
    forget_launch,
    free_name,
    launches,
    read_launch,
    rename_launch,
    start_process,
    terminate,
)
from explorer.runs.status import RunStatus, read_status
from explorer.runs.uploads import discard, uploaded, users_of
from explorer.runs.viewer_mode import refuse
from model import faults
from model.file_formats import NOTE_CHARACTERS, Note, fits
from model.folder import (
    CARD,
    MAX_CARD_BYTES,
    NOTE,
    PROBE,
    SHIPPED,
    SNAPSHOTS,
    STATUS,
    STOP,
    UNFORESEEN,
    CheckpointError,
    check_name,
    checked,
    model_folders,
    read_card,
    read_json,
    replace_file,
    summarize,
    write_bytes,
    write_json,
)
from model.user_error import UserError

MAX_PROBE_TEXT = 300  # characters; the maps of longer sentences are unreadable at the size of a thumbnail


@dataclass(frozen=True)
class Entry:
    """One entry of the list of runs and models: the folder's summary (see model.folder) and the status of its run."""

    name: str
    summary: dict[str, Any]
    status: RunStatus | None
    note: str = ""

    @property
    def bundled(self) -> bool:
        """Whether it is shipped with Headlight."""
        return self.name in SHIPPED

    @property
    def busy(self) -> bool:
        """Whether it is being trained, or waits for its turn."""
        return self.status is not None and self.status.busy

    @property
    def problem(self) -> str:
        """Why it cannot be opened; empty if it can."""
        return str(self.summary.get("error") or "")

    @property
    def date(self) -> float:
        """When it last changed, in seconds since 1970; 0 if unknown: shipped files are as new as the installation."""
        copied = 0.0 if self.bundled else float(self.summary.get("modified") or 0.0)
        return max(copied, self.status.updated if self.status else 0.0)


def _turn(status: RunStatus) -> tuple[bool, bool, float]:
    """Sort key: busy runs first, waiting ones by their start (model.training.runfolder.turn), then the newest first."""
    waits = status.state in ("queued", "starting")
    return (not status.busy, waits, status.started if waits else -status.updated)


class Runs:
    """The runs and models of one checkpoints folder."""

    def __init__(self, checkpoints: Path) -> None:
        self.checkpoints = checkpoints

    # Queries

    def folder(self, name: str) -> Path:
        """The folder of the run called `name`, which need not exist.

        Raises:
            CheckpointError: the name is not allowed.
        """
        return self.checkpoints / check_name(name)

    def status(self, name: str) -> RunStatus | None:
        """The status of the run; None for a model without a run and for a name that does not exist.

        Raises:
            CheckpointError: the name is not allowed, or status.json is damaged.
        """
        self.folder(name)
        return read_status(self.checkpoints, name, read_launch(self.checkpoints, name))

    def peek(self, name: str) -> RunStatus | None:
        """Like :meth:`status`, but None if status.json is damaged, or is being written on a system that locks files."""
        return self._status_or_problem(name)[0]

    def _status_or_problem(self, name: str) -> tuple[RunStatus | None, str]:
        """The status, and why it cannot be read, if so; never raises, so that one bad run does not hide the others."""
        try:
            return self.status(name), ""
        except CheckpointError as damaged:
            return None, str(damaged)
        except Exception as fault:
            faults.report(fault)
            return None, UNFORESEEN

    def launch(self, name: str) -> Launch | None:
        """The process last started from a page for it, dead or alive."""
        return read_launch(self.checkpoints, name)

    def entries(self) -> list[Entry]:
        """All runs and models: active runs first, then the user's own, newest first, then shipped ones.

        Of the shipped ones, those with snapshots come first. Folders that cannot be opened are included.
        """
        names = {path.name for path in model_folders(self.checkpoints)}
        names |= {launch.name for launch in launches(self.checkpoints)}
        entries = [entry for name in sorted(names) if (entry := self.entry(name)) is not None]
        return sorted(entries, key=self._sort_key)

    def _sort_key(self, entry: Entry) -> tuple[bool, bool, bool, float]:
        has_snapshots = entry.bundled and any((self.folder(entry.name) / SNAPSHOTS).glob("*.safetensors"))
        return (not entry.busy, entry.bundled, not has_snapshots, -entry.date)

    def entry(self, name: str) -> Entry | None:
        """The entry of this name; None if there is none."""
        folder = self.folder(name)
        summary = summarize(folder) if folder.is_dir() else {"name": name, "error": None}
        status, problem = self._status_or_problem(name)
        if problem:
            return Entry(name, summary | {"error": problem}, None)
        return Entry(name, summary, status, self.note(name)) if folder.is_dir() or status is not None else None

    def note(self, name: str) -> str:
        """The user's note about it, or why the note cannot be read; empty if there is none."""
        try:
            return read_note(self.folder(name))
        except CheckpointError as damaged:
            return str(damaged)
        except OSError as unreadable:
            return why(unreadable)

    def statuses(self) -> list[RunStatus]:
        """The status of all runs: the one being trained, waiting ones in order, then the others, newest first."""
        names = {path.parent.name for path in self.checkpoints.glob(f"[A-Za-z0-9]*/{STATUS}")}
        names |= {launch.name for launch in launches(self.checkpoints)}
        readable = [status for name in names if (status := self.peek(name)) is not None]
        return sorted(readable, key=_turn)

    def free_name(self, wanted: str) -> str:
        """`wanted`, or the first free name among wanted-2, wanted-3 …"""
        return free_name(wanted, self._taken)

    def unfit_name(self, name: str) -> str:
        """Why a new run cannot be called `name`, in a sentence; empty if it can."""
        try:
            self._refuse_taken(name)
        except UserError as refused:
            return str(refused)
        return ""

    def _taken(self, name: str) -> bool:
        launch = read_launch(self.checkpoints, name)
        return (self.checkpoints / name).exists() or name in SHIPPED or (launch is not None and launch.alive)

    # Actions; each raises a ViewerError on a read-only server.

    def start(self, name: str, arguments: Sequence[str]) -> None:
        """Start the process of a new run; `arguments` is the whole command, beginning with "python".

        Raises:
            CheckpointError: the name is not allowed. RunError: the name is taken, or HEADLIGHT_NICE is not a niceness.
        """
        refuse(message("Changing runs is switched off: this server is for looking only."))
        self._refuse_taken(name)
        start_process(self.checkpoints, name, arguments)

    def resume(self, name: str) -> None:
        """Continue a stopped or failed run.

        Raises:
            RunError: it is active, finished, or not a run.
        """
        refuse(message("Changing runs is switched off: this server is for looking only."))
        status = self.status(name)
        if status is None or not status.resumable:
            raise RunError("“{name}” cannot be resumed. Its state: {state}.", name=name, state=_state(status))
        launch = self.launch(name)
        if launch is not None and not os.path.exists(self.folder(name) / STATUS):
            start_process(self.checkpoints, name, launch.arguments)  # it never created its folder: repeat the command
            return
        start_process(self.checkpoints, name, resume_command(name, self.checkpoints))

    def longer(self, name: str, steps: int) -> None:
        """Continue training a finished run to `steps` updates in total.

        Raises:
            RunError: it has not finished.
        """
        refuse(message("Changing runs is switched off: this server is for looking only."))
        status = self.status(name)
        if status is None or status.state != "finished":
            raise RunError("“{name}” cannot be trained longer. Its state: {state}.", name=name, state=_state(status))
        start_process(self.checkpoints, name, longer_command(name, steps, self.checkpoints))

    def stop(self, name: str) -> None:
        """Ask the run's process to end after its current batch, with everything saved."""
        refuse(message("Changing runs is switched off: this server is for looking only."))
        folder, launch = self.folder(name), self.launch(name)
        status = self.status(name)
        if status is None or not status.busy:
            return
        if status.state == "starting" and launch is not None:
            terminate(launch)  # it does not look for a stop file yet, and has nothing to save
            if not folder.exists():
                forget_launch(self.checkpoints, name)
            return
        write_bytes(folder / STOP, b"")

    def watch(self, name: str, text: str) -> None:
        """Ask the run to record its attention on this sentence at each evaluation."""
        refuse(message("Changing runs is switched off: this server is for looking only."))
        write_json(self.folder(name) / PROBE, {"source": text[:MAX_PROBE_TEXT]})

    def watched(self, name: str) -> str:
        """The sentence that the run was asked to watch; empty if there is none."""
        try:
            text = read_json(self.folder(name) / PROBE).get("source")
        except CheckpointError:
            return ""
        return text[:MAX_PROBE_TEXT] if isinstance(text, str) else ""

    def write_note(self, name: str, text: str) -> None:
        """Store a note about a run or model, even while it is being trained; an empty note deletes the file.

        Raises:
            CheckpointError: it is too long or has control characters. RunError: it came with Headlight.
        """
        refuse(message("Changing runs is switched off: this server is for looking only."))
        if name in SHIPPED:
            raise RunError(
                "“{name}” came with Headlight and cannot be given a note; export it and import a copy.", name=name
            )
        write_note(self.folder(name), text)

    def rename(self, name: str, new: str) -> None:
        """Rename a run or model, including the heading of its card.

        Raises:
            CheckpointError: the new name is not allowed. RunError: it came with Headlight, is being trained, or the
                new name is taken.
        """
        self._refuse_bundled(name)
        if new == name:
            return
        self._refuse_taken(new)
        folder = self.folder(new)
        replace_file(self.folder(name), folder)
        rename_launch(self.checkpoints, name, new)
        card = folder / CARD
        heading = f"# {name}\n"
        text = read_card(folder)
        if text.startswith(heading) and card.stat().st_size <= MAX_CARD_BYTES:
            write_bytes(card, f"# {new}\n{text[len(heading) :]}".encode())

    def delete(self, name: str) -> None:
        """Delete a run or model with everything in it, and what was uploaded for it alone.

        Raises:
            RunError: it came with Headlight, or is being trained.
        """
        self._refuse_bundled(name)
        folder = self.folder(name)
        if folder.exists():
            doomed = self.checkpoints / f".{name}.deleted"
            shutil.rmtree(doomed, ignore_errors=True)
            replace_file(folder, doomed)  # atomic, even if the deletion fails
            shutil.rmtree(doomed, ignore_errors=True)
        launch = self.launch(name)
        forget_launch(self.checkpoints, name)
        if launch is not None:
            discard(launch.words, self.checkpoints)

    def sharing(self, names: Collection[str]) -> list[str]:
        """The other runs that need uploads of these."""
        words = [word for name in names if (launch := self.launch(name)) for word in launch.words]
        return sorted(users_of(uploaded(words, self.checkpoints), self.checkpoints) - {*names})

    def _refuse_taken(self, name: str) -> None:
        check_name(name)
        if self._taken(name):
            raise RunError("There is already a run or model “{name}”; choose another name.", name=name)

    def _refuse_bundled(self, name: str) -> None:
        refuse(message("Changing runs is switched off: this server is for looking only."))
        if name in SHIPPED:
            raise RunError(
                "“{name}” came with Headlight and can be neither renamed nor deleted; export it and import a copy.",
                name=name,
            )
        status, launch = self.peek(name), self.launch(name)
        # Without a readable status.json, the process started from a page decides.
        busy = status.busy if status is not None else launch is not None and launch.alive
        if busy:
            raise RunError("“{name}” is being trained; stop it first.", name=name)


def _state(status: RunStatus | None) -> Later:
    return Later(status.state) if status else later("not a run")


def read_note(folder: Path) -> str:
    """Read the note in a folder; empty if there is none.

    Raises:
        CheckpointError: note.json is damaged or not valid.
    """
    path = folder / NOTE
    return str(checked(path, read_json(path), Note)["text"]) if path.is_file() else ""


def write_note(folder: Path, text: str) -> None:
    """Store a note; an empty one deletes the file.

    Raises:
        CheckpointError: it is too long or has control characters.
    """
    text = text.strip()
    if not text:
        (folder / NOTE).unlink(missing_ok=True)
        return
    if not fits({"text": text}, Note):
        raise CheckpointError(
            "A note has at most {note_characters:,} characters, none of which controls or reorders the text.",
            note_characters=NOTE_CHARACTERS,
        )
    write_json(folder / NOTE, {"text": text})
