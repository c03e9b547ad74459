"""List runs and models as rows and sentences, and the curves of several runs as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from explorer.decoding.examples import FILES
from explorer.decoding.model_summary import by_heart
from explorer.locale.messages import message, t, translated
from explorer.locale.text import count, day, fixed, shortened
from explorer.runs.lifecycle import Entry
from explorer.runs.origin import device_text
from explorer.runs.progress import range_text, score_text
from model.analysis.run_curves import is_perfect
from model.analysis.run_diagnosis import Verdict
from model.data import TASKS, get_task
from model.headline import HeadlineName, headline_name, number

_NOTE_CHARACTERS = 80
_YEAR_9999 = 253_370_000_000.0  # seconds since 1970


VERDICTS: Mapping[Verdict, str] = {
    "early": message("too early"),
    "few": message("too few pairs"),
    "learning": message("still learning"),
    "learned": message("learned"),
    "levelled": message("levelled off"),
    "memorising": message("learned by heart"),
    "diverged": message("diverged"),
    "stuck": message("stuck"),
    "leaking": message("fails in use"),
}


def rows(entries: Sequence[Entry], verdicts: Mapping[str, Verdict] | None = None) -> list[dict[str, Any]]:
    """One table row per run or model, with the verdict on it by name; columns without any value are left out."""
    table = [_row(entry, (verdicts or {}).get(entry.name)) for entry in entries]
    columns = [name for name in table[0] if any(row[name] is not None for row in table)] if table else []
    return [{name: row[name] for name in columns} for row in table]


def texts(table: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What the list shows instead of numbers and times: scores with their intervals, and days."""
    when = t("when")
    days = {when: [day(row[when]) if row[when] else "–" for row in table]} if table and when in table[0] else {}
    return days | {
        name: [
            "–" if (value := row[name]) is None else fixed(value, 1) + (f" ({row[ends]})" if row.get(ends) else "")
            for row in table
        ]
        for name, ends in ((t("right (%)"), t("right, 95 %")), ("BLEU", t("BLEU, 95 %")))
        if table and name in table[0]
    }


def _row(entry: Entry, verdict: Verdict | None) -> dict[str, Any]:
    summary, results = entry.summary, entry.summary.get("results") or {}
    scores, test = _scored(entry)
    n = scores.get("sentences")
    exact, seconds = number(scores, "exact_match"), number(results, "seconds")
    bleu = number(scores, "bleu") if headline_name(scores) == "bleu" else None
    known = by_heart(summary.get("task"))
    scored = t("{n:,} test", n=n or 0) if test else t("{n:,} held out", n=n or 0)
    return {
        t("name"): entry.name,
        t("data"): _short_data(entry),
        t("verdict"): verdict_text(entry, verdict),
        t("right (%)"): None if exact is None else round(100 * exact, 1),
        t("right, 95 %"): None if known else _interval("exact_match", exact, n),
        "BLEU": None if bleu is None else round(bleu, 1),
        t("BLEU, 95 %"): None if known else _interval("bleu", bleu, n),
        t("scored on"): (t("{n:,} training", n=n) if known else scored) if type(n) is int else None,
        t("min"): None if seconds is None or summary.get("init") else round(seconds / 60, 1),
        t("parameters"): summary.get("parameters"),
        t("when"): _moment(entry.date),
        t("note"): shortened(note.splitlines()[0], _NOTE_CHARACTERS) if (note := entry.note.strip()) else None,
        t("updates"): _updates(entry),
    }


def card(entry: Entry, verdict: Verdict | None) -> str:
    """What a narrow screen says of an entry: verdict, score with its interval, data and day."""
    scores, test = _scored(entry)
    score = _score(entry, scores)
    if not score:
        said = ""
    elif by_heart(entry.summary.get("task")):
        said = t("{score} on training pairs", score=score)
    else:
        said = score if test else t("{score} on validation", score=score)
    moment = _moment(entry.date)
    when = day(moment) if moment else ""
    return " · ".join(filter(None, (verdict_text(entry, verdict), said, _short_data(entry), when)))


def result_rows(entries: Mapping[str, Entry]) -> list[dict[str, str]]:
    """What came of runs as rows of a table beside their settings."""
    results = {}
    for name, entry in entries.items():
        row, (scores, _) = _row(entry, None), _scored(entry)
        results[name] = {
            t("Parameters"): count(row[t("parameters")] or 0),
            t("Score"): _score(entry, scores) or "–",
            t("Scored sentences"): row[t("scored on")] or "–",
            t("Minutes of training"): "–" if (minutes := row[t("min")]) is None else fixed(minutes, 1),
        }
    labels = next(iter(results.values()), {})
    return [{t("setting"): label, **{name: said[label] for name, said in results.items()}} for label in labels]


def outcome(entry: Entry) -> str:
    """The main score of an entry, and of which sentences it is; empty without one, or if they were learned by heart."""
    scores, test = _scored(entry)
    if by_heart(entry.summary.get("task")) or not (score := _score(entry, scores)):
        return ""
    n = scores.get("sentences") or 0
    if test:
        return t("On {n} test sentence: {score}", "On {n:,} test sentences: {score}", n=n, score=score)
    return t("The validation sentences also chose the weights: there is no test of its own")


def _scored(entry: Entry) -> tuple[Mapping[str, Any], bool]:
    """The last scores of an entry, and whether they are of test sentences, which chose nothing."""
    results = entry.summary.get("results") or {}
    return results.get("test") or results.get("valid") or {}, "test" in results and results.get("split") != "valid"


def _score(entry: Entry, scores: Mapping[str, Any]) -> str:
    """The share of right answers and, of sentences, BLEU, which says nothing more where all are right.

    Each has its interval, which pairs learned by heart lack: they are no sample of others.
    """
    sentences = scores.get("sentences")
    n = sentences if isinstance(sentences, int) and not by_heart(entry.summary.get("task")) else 0
    exact, bleu = number(scores, "exact_match"), number(scores, "bleu")
    said = [] if exact is None else [t("{score} exactly right", score=score_text("exact_match", exact, n))]
    if bleu is not None and headline_name(scores) == "bleu" and not (said and is_perfect("bleu", bleu)):
        said.append(f"BLEU {score_text('bleu', bleu, n)}")
    return ", ".join(said)


def _interval(name: HeadlineName, score: float | None, sentences: object) -> str | None:
    """The interval of a score; None if it is unknown, or has none as a BLEU of 100."""
    if score is None or type(sentences) is not int or sentences <= 0 or is_perfect(name, score):
        return None
    return range_text(name, score, sentences)


def _data(entry: Entry) -> str | None:
    task = entry.summary.get("task")
    if task == FILES:
        return entry.summary.get("own_file") or t("own pairs")
    return translated(get_task(str(task)).title) if task in TASKS else str(task) if task else None


def _short_data(entry: Entry) -> str | None:
    """The data in a list: "Multi30k (de → en)", or without languages where a task has only these."""
    title, task, data = _data(entry), str(entry.summary.get("task")), entry.summary.get("data") or {}
    if title is None or ":" not in title or task not in TASKS:
        return title
    name, languages = title.partition(":")[0], (data.get("src_lang"), data.get("tgt_lang"))
    return f"{name} ({languages[0]} → {languages[1]})" if task.endswith(f"{languages[0]}-{languages[1]}") else name


def verdict_text(entry: Entry, verdict: Verdict | None) -> str:
    """What has become of a run: how it went if it has finished, and otherwise its state, in a few words."""
    if entry.problem:
        return t("cannot be opened")
    status = entry.status
    if status is not None and status.state != "finished":
        state = translated(status.state)
        if status.state in ("running", "stopped"):
            return t("{state} ({percent:.0f} %)", state=state, percent=100 * status.share)
        return state
    if verdict is not None:
        known = verdict == "learned" and by_heart(entry.summary.get("task"))
        return translated(VERDICTS["memorising" if known else verdict])
    return "" if entry.summary.get("trained") else t("untrained")


def _updates(entry: Entry) -> float | None:
    """The updates that a run has made, of one in training those so far; None if they are not known."""
    if entry.busy and entry.status is not None:
        return float(entry.status.step)
    return number(entry.summary.get("results") or {}, "trained_steps")


def _moment(seconds_since_1970: float) -> datetime | None:
    """Convert a time for the list; None if it is unknown or out of range, as it may be in a foreign file."""
    return datetime.fromtimestamp(seconds_since_1970) if 0 < seconds_since_1970 < _YEAR_9999 else None


def description(entry: Entry) -> str:
    """Describe an entry, and why it cannot be renamed or deleted, if so."""
    parts = []
    data, training = entry.summary.get("data") or {}, entry.summary.get("training") or {}
    results = entry.summary.get("results") or {}
    if (steps := _updates(entry)) is not None:
        trained = t(
            "{data}, {parameters} parameters, {n} update, seed {seed}, split seed {split}",
            "{data}, {parameters} parameters, {n:,.0f} updates, seed {seed}, split seed {split}",
            data=_data(entry),
            parameters=count(entry.summary.get("parameters") or 0),
            n=steps,
            seed=training.get("seed"),
            split=data.get("split_seed"),
        )
        parts.append(trained)
        if device := entry.summary.get("device"):
            parts.append(t("Trained on {device}", device=device_text(device)))
        if init := entry.summary.get("init"):
            continued = t(
                "Its {n:,.0f} updates continue the training of “{model}”; the curves show these alone",
                n=steps,
                model=init,
            )
            parts.append(continued)
            if (seconds := number(results, "seconds")) is not None:
                took = t(
                    "These took {minutes:.1f} minutes; those of the whole training are not recorded here",
                    minutes=seconds / 60,
                )
                parts.append(took)
    if said := outcome(entry):
        parts.append(said)
    if entry.bundled:
        parts.append(t("It came with Headlight and can be neither renamed nor deleted"))
    elif entry.busy:
        parts.append(t("It is being trained: stop it before you rename or delete it"))
    if entry.status is not None and entry.status.error:
        parts.append(entry.status.error.removesuffix("."))
    return ". ".join(parts) + "." if parts else ""


def curve_rows(data: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Pivot columns `step`, `value` and `curve` into one row per step with a column per curve."""
    by_step: dict[float, dict[str, Any]] = {}
    for step, value, curve in zip(data["step"], data["value"], data["curve"], strict=True):
        by_step.setdefault(step, {t("step"): int(step)})[curve] = float(f"{value:.4g}")
    return [by_step[step] for step in sorted(by_step)]
