"""List runs and models as rows and sentences, and the curves of several runs as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from explorer.decoding.model_summary import headline
from explorer.locale.text import plural, shortened
from explorer.runs.lifecycle import Entry
from explorer.runs.status import age
from explorer.runs.viewer_mode import REASON
from model.analysis.run_diagnosis import LITTLE_SHOWN, Verdict
from model.headline import headline_name

_NOTE_CHARACTERS = 80
_TEXTS = ("data", "score", "verdict", "note")
_YEAR_9999 = 253_370_000_000.0  # seconds since 1970


VERDICTS: Mapping[Verdict, str] = {
    "early": "too early to say",
    "few": "too few pairs to say",
    "learning": "still learning",
    "learned": "learned",
    "levelled": "levelled off",
    "memorising": "learned by heart",
    "diverged": "diverged",
    "stuck": "stuck",
}


def rows(entries: Sequence[Entry], verdicts: Mapping[str, Verdict] | None = None) -> list[dict[str, Any]]:
    """One table row per run or model, with the verdict on it by name; columns without any value are left out."""
    table = [_row(entry, (verdicts or {}).get(entry.name)) for entry in entries]
    columns = [name for name in table[0] if any(row[name] is not None for row in table)] if table else []
    # A table shows a missing number as an empty cell, but a missing text as None.
    return [{name: "" if row[name] is None and name in _TEXTS else row[name] for name in columns} for row in table]


def _row(entry: Entry, verdict: Verdict | None) -> dict[str, Any]:
    summary, results = entry.summary, entry.summary.get("results") or {}
    scores = results.get("test") or results.get("valid") or {}
    exact = scores.get("exact_match")
    size = summary.get("bytes")
    return {
        "name": entry.name,
        "data": summary.get("own_file") or summary.get("task"),
        "score": _with_number(scores),
        "verdict": VERDICTS[verdict] if verdict else None,
        "state": state_label(entry),
        "note": _first_line(entry.note),
        "parameters": summary.get("parameters"),
        "exact match (%)": 100 * exact if isinstance(exact, (int, float)) else None,
        "BLEU": scores.get("bleu") if headline_name(scores) == "bleu" else None,
        "loss": scores.get("loss"),
        "weights (MB)": size / 1e6 if size else None,
        "changed": _moment(entry.date),
    }


def _with_number(scores: Mapping[str, Any]) -> str | None:
    """The headline score with its label and, of few sentences, their number."""
    named = headline(scores)
    if named is None:
        return None
    sentences = scores.get("sentences")
    if not isinstance(sentences, int) or sentences >= LITTLE_SHOWN:
        return " ".join(named)
    return f"{' '.join(named)} of {plural(sentences, 'sentence')}"


def _first_line(note: str) -> str | None:
    """The first line of a note, shortened for the list; None without a note."""
    return shortened(note.strip().splitlines()[0], _NOTE_CHARACTERS) if note.strip() else None


def _moment(seconds_since_1970: float) -> datetime | None:
    """Convert a time for the list; None if it is unknown or out of range, as it may be in a foreign file."""
    return datetime.fromtimestamp(seconds_since_1970) if 0 < seconds_since_1970 < _YEAR_9999 else None


def state_label(entry: Entry) -> str:
    """Name the state of a run or model, in a word or two."""
    if entry.problem:
        return "cannot be opened"
    status = entry.status
    if status is None:
        bundled = "came with Headlight" if entry.bundled else "finished"
        return bundled if entry.summary.get("trained") else "untrained"
    return f"{status.state} ({100 * status.share:.0f} %)" if status.state in ("running", "stopped") else status.state


def summary(entries: Sequence[Entry]) -> str:
    """Count the runs and models, and name the active ones."""
    active = [f"{entry.name} is {entry.status.state}" for entry in entries if entry.busy and entry.status]
    number = plural(len(entries), "run or model", "runs and models")
    return f"{number}; {', '.join(active) if active else 'none is being trained'}."


def description(entry: Entry, *, read_only: bool = False, now: float | None = None) -> str:
    """Describe an entry: its age, and why it cannot be renamed or deleted, if so; `read_only` is viewer mode."""
    parts = [f"Changed {age(entry.date, now)}"] if entry.date else []
    if entry.bundled:
        parts.append("It came with Headlight and can be neither renamed nor deleted")
    elif read_only:
        parts.append(f"It can be neither renamed nor deleted here: {REASON}")
    elif entry.busy:
        parts.append("It is being trained: stop it before you rename or delete it")
    if entry.status is not None and entry.status.error:
        parts.append(entry.status.error.removesuffix("."))
    return ". ".join(parts) + "." if parts else ""


def curve_rows(data: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Pivot columns `step`, `value` and `curve` into one row per step with a column per curve."""
    by_step: dict[float, dict[str, Any]] = {}
    for step, value, curve in zip(data["step"], data["value"], data["curve"], strict=True):
        by_step.setdefault(step, {"step": int(step)})[curve] = round(value, 4)
    return [by_step[step] for step in sorted(by_step)]
