"""Draw training curves: loss, learning rate and scores of one or several runs, against the step.

Each function returns a :class:`Figure`. The specification of those of one run does not depend on the data, so that an
update sends only numbers and nothing on the page jumps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from explorer.charts.chart import DASHES, HEIGHT, Figure, Table
from explorer.charts.vega_chart import dots, marker, named, specification, step_axis, value_axis
from explorer.locale.language import cached_by_language
from explorer.locale.messages import message, t, translated
from explorer.locale.text import capitalised, fixed, percent
from explorer.runs.metrics import Metrics, Point, logs_plain_loss, optimises_another_loss, plain_loss
from model.analysis.run_curves import loss_text
from model.headline import headline_name

CACHED = 16  # figures of each kind, shared by everybody who watches a run
MAX_DRAWN = 300  # points of one curve; more could not be told apart, and would slow down updates
MAX_CURVES = len(DASHES)

TRAINING = message("training")
OPTIMISED = message("training, as optimised")
VALIDATION = message("validation")
MEASURES = {
    "loss": (message("loss"), message("loss (nats per target token)")),
    "exact_match": (message("exact match"), message("sentences exactly right (%)")),
    "token_accuracy": (message("token accuracy"), message("tokens right (%)")),
    "bleu": ("BLEU", "BLEU"),
}
_IN_PERCENT = ("exact_match", "token_accuracy")
TRAINING_LOSS = "training_loss"
BESIDE_THE_ANSWER = ("loss", "token_accuracy", TRAINING_LOSS)  # measured while the model reads the right answer
# The measures by which runs are compared: a name, and the title of the axis.
COMPARED = {
    "loss": (message("validation loss"), MEASURES["loss"][1]),
    "exact_match": (message("validation exact match"), MEASURES["exact_match"][1]),
    "token_accuracy": (message("validation token accuracy"), MEASURES["token_accuracy"][1]),
    "bleu": (message("validation BLEU"), "BLEU"),
    TRAINING_LOSS: (message("training loss"), MEASURES["loss"][1]),
}
_HEADINGS = {
    "loss": message("Validation loss (nats per target token)"),
    "exact_match": message("Validation: sentences exactly right (%)"),
    "token_accuracy": message("Validation token accuracy: tokens right (%)"),
    "bleu": message("Validation BLEU"),
    TRAINING_LOSS: message("Training loss (nats per target token)"),
}
_AFTER_PEAK = {
    "inverse_sqrt": message("then falls with 1/√step"),
    "constant": message("then stays constant"),
    "cosine": message("then falls along half a cosine"),
}
_CHANGES = message("then changes")

Rows = list[tuple[float, float, str]]  # step, value, curve


@cached_by_language(CACHED)
def loss_figure(metrics: Metrics, max_steps: int = 0, mark: int | None = None, *, alike: bool = False) -> Figure:
    """Draw training and validation loss of one run; the axis of steps ends at `max_steps`, or else with the curves.

    The training loss is drawn as validation is measured, and as optimised if that differs or is the only one logged. A
    dashed rule is drawn at step `mark`, if given. `alike`: whether the run had nothing that alters the loss of
    training only.
    """
    plain, both = logs_plain_loss(metrics), optimises_another_loss(metrics)
    rows = _rows(metrics.train, "nll", translated(TRAINING)) if plain else []
    rows += _rows(metrics.train, "loss", translated(OPTIMISED)) if both or not plain else []
    curves = [translated(TRAINING)] if plain or not metrics.train else []
    curves += [translated(OPTIMISED)] if both or (metrics.train and not plain) else []
    validation, title = translated(VALIDATION), translated(MEASURES["loss"][1])
    spec = _spec(title, max_steps, (*curves, validation), dotted=(validation,), marked=mark is not None, log=True)
    data = _columns(rows + _rows(metrics.scored, "loss", validation), mark)
    return Figure(spec, data, loss_caption(metrics, alike), t("Loss, in nats per target token (logarithmic)"))


def loss_caption(metrics: Metrics, alike: bool = False) -> str:
    """State the latest losses, the first and the lowest ones, and which of them can be compared."""
    train = _measured(metrics, TRAINING_LOSS)
    evals = _measured(metrics, "loss")
    parts = []
    if train:
        now, first = _loss_at(train[-1], TRAINING_LOSS), _loss_at(train[0], TRAINING_LOSS)
        one = len(train) == 1
        parts.append(
            t("Training loss {now}.", now=now) if one else t("Training loss {now}, from {first}.", now=now, first=first)
        )
    if evals:
        best = min(evals, key=lambda point: point["loss"])
        now, lowest = _loss_at(evals[-1], "loss"), _loss_at(best, "loss")
        newest_is_best = best["step"] == evals[-1]["step"]
        parts.append(
            t("Validation loss {now}.", now=now)
            if newest_is_best
            else t("Validation loss {now}; lowest {lowest}.", now=now, lowest=lowest)
        )
    if not parts:
        return t("Nothing has been measured yet.")
    return " ".join([*parts, *_which_loss(metrics, alike)])


def _which_loss(metrics: Metrics, alike: bool) -> list[str]:
    """State how the two losses are measured."""
    if not metrics.train:
        return []
    if alike:
        return [t("Both are measured alike: this run has neither dropout nor label smoothing.")]
    if not logs_plain_loss(metrics):
        return [t("Training is measured as it is optimised, with dropout and any label smoothing, validation without.")]
    said = [t("Training is measured with dropout, validation without.")]
    if optimises_another_loss(metrics):
        said.append(t("The optimised loss adds label smoothing or consistency."))
    return said


def score_name(metrics: Metrics) -> str:
    """The main score of a run: BLEU if its answers are sentences, otherwise exact match."""
    return headline_name(metrics.scored[-1] if metrics.scored else {})


@cached_by_language(CACHED)
def score_figure(metrics: Metrics, max_steps: int = 0, mark: int | None = None) -> Figure:
    """Draw exact match and, as it suits the answers, BLEU or token accuracy at each evaluation of one run.

    Where both are the same throughout, they are one curve. A dashed rule is drawn at step `mark`, if given.
    """
    main = score_name(metrics)
    bleu = main == "bleu"
    names = ("exact_match", "bleu") if bleu else _IN_PERCENT
    title = t("BLEU, and right (%)") if bleu else t("right (%)")
    curves = tuple(translated(MEASURES[name][0]) for name in names)
    first, second = (_rows(metrics.scored, name, curve) for name, curve in zip(names, curves, strict=True))
    rows = first + second
    drawn, other = ({step: round(value, 1) for step, value, _ in each} for each in (first, second))
    if drawn and drawn == other:
        curves = (t("{measure} and {other}", measure=curves[0], other=curves[1]),)
        rows = [(step, value, *curves) for step, value, _ in first]
    points = _measured(metrics, main)
    if points:
        last, best = (_quality(point, main) for point in (points[-1], max(points, key=lambda point: point[main])))
        caption = (
            t("{last} at step {step:,.0f}; no evaluation was better.", last=last, step=points[-1]["step"])
            if best == last
            else t("{last} at step {step:,.0f}; at best {best}.", last=last, step=points[-1]["step"], best=best)
        )
    else:
        caption = t("Not scored yet: the first evaluation is still to come.")
    spec = _spec(title, max_steps, curves, dotted=curves, top=100.0, marked=mark is not None)
    heading = t("Right on validation in %, and BLEU") if bleu else t("Right on validation, in %")
    return Figure(spec, _columns(rows, mark), caption, heading)


def _quality(point: Point, main: str) -> str:
    """The main score of an evaluation in words, a BLEU with the share of right answers."""
    if main != "bleu":
        return t("{percent:.1f} % exactly right", percent=100 * point[main])
    if "exact_match" not in point:
        return t("BLEU {number:.1f}", number=point[main])
    return t("BLEU {number:.1f} ({percent} exactly right)", number=point[main], percent=_value("exact_match", point))


@cached_by_language(CACHED)
def rate_figure(metrics: Metrics, max_steps: int = 0, mark: int | None = None) -> Figure:
    """Draw the learning rate of each logged update."""
    caption = t("No update has been logged yet.")
    if points := [point for point in metrics.train if "lr" in point]:
        top = max(point["lr"] for point in points)
        caption = t("Learning rate {last:.3g} now; highest so far {top:.3g}.", last=points[-1]["lr"], top=top)
    data = _columns(_rows(metrics.train, "lr", t("learning rate")), mark)
    spec = _spec(t("learning rate"), max_steps, marked=mark is not None)
    return Figure(spec, data, caption, t("Learning rate"))


def schedule_figure(points: Sequence[tuple[int, float]], schedule: str) -> Figure:
    """Draw the planned learning rate; `points` are (step, rate) pairs that include its peak and both ends."""
    caption = t("The schedule is not known yet.")
    if points:
        step, peak = max(points, key=lambda point: point[1])
        last_step, last = points[-1]
        last = 0.0 if last < peak / 1000 else last
        after = translated(_AFTER_PEAK.get(schedule, _CHANGES))
        rises = t(
            "The learning rate rises linearly to {peak:.3g} at step {step:,}, {after}, and ends with {last:.2g} at "
            "step {last_step:,}.",
            peak=peak,
            step=step,
            after=after,
            last=last,
            last_step=last_step,
        )
        begins = t(
            "The learning rate begins at {peak:.3g}, {after}, and ends with {last:.2g} at step {last_step:,}.",
            peak=peak,
            after=after,
            last=last,
            last_step=last_step,
        )
        caption = rises if step > 1 else begins
    data = _columns([(step, rate, t("learning rate")) for step, rate in points])
    return Figure(_spec(t("learning rate"), 0, height=160), data, caption, t("The learning rate"))


def comparison_figure(
    runs: Mapping[str, Metrics], measure: str, height: int = HEIGHT, among: Sequence[str] = ()
) -> Figure:
    """Draw a measure of several runs (at most `MAX_CURVES`) against the step, a loss on a logarithmic axis.

    A run has the same colour and dashes in all figures that draw some runs `among` the same ones.
    """
    chosen = dict(list(runs.items())[:MAX_CURVES])
    points = {name: _measured(metrics, measure) for name, metrics in chosen.items()}
    lasts = {name: run[-1] for name, run in points.items() if run}
    title, axis = COMPARED[measure]
    if lasts:
        caption = t(
            "{measure} at the end: {runs}.", measure=capitalised(translated(title)), runs=_ranked(measure, lasts)
        )
        shortest = min(last["step"] for last in lasts.values())
        if any(last["step"] > shortest for last in lasts.values()):
            then = {name: [point for point in points[name] if point["step"] <= shortest][-1:] for name in lasts}
            early = _ranked(measure, {name: point for name, found in then.items() for point in found})
            caption += " " + t("The last until step {step:,.0f}: {runs}.", step=shortest, runs=early)
    else:
        caption = t("None of these runs has measured {measure}.", measure=translated(title))
    curves = tuple(chosen)
    rows = [row for name, run in points.items() for row in _rows(run, measure, name)]
    spec = _spec(
        translated(axis),
        0,
        tuple(among) or curves,
        drawn=curves,
        dotted=tuple(among) or curves,
        top=100.0 if measure in _IN_PERCENT else None,
        zero=False,
        log="loss" in measure,
        labels=_log_labels(rows) if "loss" in measure else (),
        height=height,
    )
    return Figure(spec, _columns(rows), caption, translated(_HEADINGS[measure]))


def measures_of(metrics: Metrics) -> list[str]:
    """The measures by which runs are compared that this one has; BLEU only where it is its main score."""
    names = [name for name in COMPARED if _measured(metrics, name)]
    return [name for name in names if name != "bleu" or score_name(metrics) == "bleu"]


def evaluation_table(metrics: Metrics) -> list[dict[str, Any]]:
    """Tabulate the evaluations, newest first, each with the latest training loss before it."""
    train = _measured(metrics, TRAINING_LOSS)
    rows = []
    for point in reversed(metrics.scored):
        before = (p[TRAINING_LOSS] for p in reversed(train) if p["step"] <= point["step"])
        row: dict[str, Any] = {t("step"): int(point["step"]), t("validation loss"): point.get("loss")}
        row[t("training loss")] = next(before, None)
        for name in ("exact_match", "token_accuracy", "bleu"):
            if name in point:
                measure = translated(MEASURES[name][0])
                column = t("{measure} (%)", measure=measure) if name in _IN_PERCENT else measure
                row[column] = _in_unit(name, point[name])
        rows.append(row)
    return rows


def _measured(metrics: Metrics, measure: str) -> list[Point]:
    """The points of a run that have this measure."""
    if measure != TRAINING_LOSS:
        return [point for point in metrics.scored if measure in point]
    return [{**point, measure: loss} for point in metrics.train if (loss := plain_loss(point)) is not None]


def _loss_at(point: Point, name: str) -> str:
    return t("{loss} at step {step:,.0f}", loss=_value(name, point), step=point["step"])


def _scored(name: str, point: Point) -> str:
    """A value and, of a score, the number of sentences."""
    value, sentences = _value(name, point), int(point.get("sentences", 0))
    scored = sentences and "loss" not in name
    return t("{value} of {n:,} sentences", value=value, n=sentences) if scored else value


def _value(name: str, point: Point) -> str:
    value = point[name]
    if name in ("loss", TRAINING_LOSS):
        return loss_text(value)
    return percent(value, 1) if name in _IN_PERCENT else fixed(value, 1)


def _ranked(measure: str, points: Mapping[str, Point]) -> str:
    """One point of each run in words, the best first."""
    order = sorted(points, key=lambda name: points[name][measure], reverse="loss" not in measure)
    said = (
        t("{run} {value} (step {step:,.0f})", run=name, value=_scored(measure, at), step=at["step"])
        for name in order
        if (at := points[name])
    )
    return ", ".join(said)


def _in_unit(name: str, value: float) -> float:
    return 100.0 * value if name in _IN_PERCENT else value


def _rows(points: Sequence[Point], name: str, curve: str) -> Rows:
    """Thin out one number of the points to about `MAX_DRAWN` at regular intervals, always with the last one."""
    with_value = [point for point in points if name in point]
    stride = -(-len(with_value) // MAX_DRAWN) or 1
    drawn = with_value[::stride] + (with_value[-1:] if (len(with_value) - 1) % stride else [])
    return [(point["step"], _in_unit(name, point[name]), curve) for point in drawn]


def _columns(rows: Rows, mark: int | None = None) -> Table:
    columns = {name: [row[at] for row in rows] for at, name in enumerate(("step", "value", "curve"))}
    return columns if mark is None else columns | {"mark": [mark] * len(rows)}


def _log_labels(rows: Rows) -> tuple[float, ...]:
    """The labels of a logarithmic axis, from a round number at or below the lowest value to the highest.

    They are 1, 2 and 5 times a power of ten or, over a factor of 300 and more, powers of ten.
    """
    values = [value for _, value, _ in rows if 0 < value < math.inf]
    if not values:
        return ()
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    numbers = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    numbers = numbers[:: 3 if high > 300 * low else 1]
    first = max((number for number in numbers if number <= low), default=low)
    return tuple(number for number in numbers if first <= number <= high)


@cached_by_language(64)
def _spec(
    title: str,
    max_steps: int,
    curves: tuple[str, ...] = (),
    *,
    drawn: tuple[str, ...] = (),
    dotted: tuple[str, ...] = (),
    top: float | None = None,
    zero: bool = True,
    marked: bool = False,
    log: bool = False,
    labels: tuple[float, ...] = (),
    height: int = HEIGHT,
) -> dict[str, Any]:
    """Specify curves against the step, with a legend for `curves` or those `drawn`, and dots on those in `dotted`."""
    base = alt.Chart().encode(
        x=step_axis(max_steps),
        y=value_axis(top=top, labels=labels, **({"type": "log", "nice": False} if log else {"zero": zero})),
        tooltip=[
            alt.Tooltip("curve:N", title=" "),
            alt.Tooltip("step:Q", format=",d", title=t("step")),
            alt.Tooltip("value:Q", format=".4~g", title=title),
        ],
        **(named("curve", curves, labelLimit=320, values=list(drawn or curves)) if curves else {}),
    )
    layers = [base.mark_line(strokeWidth=2)]
    points = dots(base, "curve") if curves else base.mark_circle(size=28, opacity=1)
    if not curves or dotted != curves:  # of the other curves, a single value, which would be an invisible line
        points = points.transform_joinaggregate(values="count()", groupby=["curve"])
        each = {"or": [{"field": "curve", "oneOf": list(dotted)}, "datum.values == 1"]}
        points = points.transform_filter(alt.LogicalOrPredicate(**each))
    layers.append(points)
    if marked:
        layers.append(marker())
    return specification(*layers, height=height)
