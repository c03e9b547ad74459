"""Draw training curves: loss, learning rate and scores of one or several runs, against the step.

Each function returns a :class:`Figure` whose specification does not depend on the data, so that an update sends only
numbers and nothing on the page jumps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from explorer.charts.chart import DASHES, HEIGHT, Figure, Table
from explorer.charts.vega_chart import dots, marker, named, specification, step_axis, value_axis
from explorer.runs.metrics import Metrics, Point, logs_plain_loss, optimises_another_loss, plain_loss
from model.headline import headline_name

CACHED = 16  # figures of each kind, shared by everybody who watches a run
MAX_DRAWN = 300  # points of one curve; more could not be told apart, and would slow down updates
MAX_CURVES = len(DASHES)

TRAINING, OPTIMISED, VALIDATION = "training", "training, as optimised", "validation"
MEASURES = {
    "loss": ("loss", "loss (nats per target token)"),
    "exact_match": ("exact match", "sentences exactly right (%)"),
    "token_accuracy": ("token accuracy", "tokens right (%)"),
    "bleu": ("BLEU", "BLEU"),
}
_IN_PERCENT = ("exact_match", "token_accuracy")
TRAINING_LOSS = "training_loss"
# The measures by which runs are compared: a name, and the title of the axis.
COMPARED = {name: (f"validation {of[0]}", of[1]) for name, of in MEASURES.items()} | {
    TRAINING_LOSS: ("training loss", MEASURES["loss"][1])
}
_AFTER_PEAK = {
    "inverse_sqrt": "then falls with 1/√step",
    "constant": "then stays constant",
    "cosine": "then falls along half a cosine",
}

Rows = list[tuple[float, float, str]]  # step, value, curve


@lru_cache(maxsize=CACHED)
def loss_figure(metrics: Metrics, max_steps: int = 0, mark: int | None = None) -> Figure:
    """Draw training and validation loss of one run; the axis ends at `max_steps`, so that it does not move.

    The training loss is drawn as validation is measured, and as optimised if that differs or is the only one logged. A
    dashed rule is drawn at step `mark`, if given.
    """
    plain, both = logs_plain_loss(metrics), optimises_another_loss(metrics)
    rows = _rows(metrics.train, "nll", TRAINING) if plain else []
    rows += _rows(metrics.train, "loss", OPTIMISED) if both or not plain else []
    curves = [TRAINING] if plain or not metrics.train else []
    curves += [OPTIMISED] if both or (metrics.train and not plain) else []
    spec = _spec(MEASURES["loss"][1], max_steps, (*curves, VALIDATION), dotted=(VALIDATION,), marked=mark is not None)
    data = _columns(rows + _rows(metrics.evals, "loss", VALIDATION))
    if mark is not None:
        data["mark"] = [mark] * len(data["step"])
    return Figure(spec, data, loss_caption(metrics), "Loss, in nats per target token")


def loss_caption(metrics: Metrics) -> str:
    """State the latest losses, the first and the lowest ones, and which of them can be compared."""
    train = _measured(metrics, TRAINING_LOSS)
    evals = _measured(metrics, "loss")
    parts = []
    if train:
        parts.append(f"Training loss {_loss_at(train[-1], TRAINING_LOSS)}")
        if len(train) > 1:
            parts[-1] += f", from {_loss_at(train[0], TRAINING_LOSS)}"
    if evals:
        best = min(evals, key=lambda point: point["loss"])
        parts.append(f"Validation loss {_loss_at(evals[-1], 'loss')}")
        if best["step"] != evals[-1]["step"]:
            parts[-1] += f"; lowest {_loss_at(best, 'loss')}"
    if not parts:
        return "Nothing has been measured yet."
    return " ".join([". ".join(parts) + ".", *_which_loss(metrics)])


def _which_loss(metrics: Metrics) -> list[str]:
    """State how the two losses are measured."""
    if not metrics.train:
        return []
    if not logs_plain_loss(metrics):
        return [
            "The training loss is drawn as it is optimised, with dropout and any label smoothing; the validation loss "
            "has neither: compare the curves' shapes, not their heights."
        ]
    optimised = " The optimised loss adds label smoothing or consistency." if optimises_another_loss(metrics) else ""
    return [f"Training is measured with dropout, validation without.{optimised}"]


def score_name(metrics: Metrics) -> str:
    """The main score of a run: BLEU if its answers are sentences, otherwise exact match."""
    return headline_name(metrics.evals[-1] if metrics.evals else {})


@lru_cache(maxsize=CACHED)
def score_figure(metrics: Metrics, max_steps: int = 0) -> Figure:
    """Draw exact match and token accuracy, or BLEU, at each evaluation of one run."""
    main = score_name(metrics)
    bleu = main == "bleu"
    names, title, top = (("bleu",), "BLEU", None) if bleu else (_IN_PERCENT, "right (%)", 100.0)
    rows = [row for name in names for row in _rows(metrics.evals, name, MEASURES[name][0])]
    points = _measured(metrics, main)
    if points:
        write = "BLEU {:.1f}" if bleu else "{:.1f} % exactly right"
        last, best = (write.format(_in_unit(main, value)) for value in _ends(points, main))
        caption = f"{last} at step {metrics.evals[-1]['step']:,.0f}; best so far {best}."
    else:
        caption = "Not scored yet: the first evaluation is still to come."
    curves = tuple(MEASURES[name][0] for name in names)
    spec = _spec(title, max_steps, curves, dotted=curves, top=top)
    return Figure(spec, _columns(rows), caption, "BLEU on validation" if bleu else "Right on validation, in %")


@lru_cache(maxsize=CACHED)
def rate_figure(metrics: Metrics, max_steps: int = 0) -> Figure:
    """Draw the learning rate of each logged update."""
    caption = "No update has been logged yet."
    if points := [point for point in metrics.train if "lr" in point]:
        last, top = _ends(points, "lr")
        caption = f"Learning rate {last:.3g} now; highest so far {top:.3g}."
    data = _columns(_rows(metrics.train, "lr", "learning rate"))
    return Figure(_spec("learning rate", max_steps), data, caption, "Learning rate")


def schedule_figure(points: Sequence[tuple[int, float]], schedule: str) -> Figure:
    """Draw the planned learning rate; `points` are (step, rate) pairs that include its peak and both ends."""
    caption = "The schedule is not known yet."
    if points:
        step, peak = max(points, key=lambda point: point[1])
        last_step, last = points[-1]
        rises = f"rises linearly to {peak:.3g} at step {step:,}" if step > 1 else f"begins at {peak:.3g}"
        after = _AFTER_PEAK.get(schedule, "then changes")
        caption = f"The learning rate {rises}, {after}, and ends with {last:.2g} at step {last_step:,}."
    data = _columns([(step, rate, "learning rate") for step, rate in points])
    return Figure(_spec("learning rate", 0, height=160), data, caption, "The learning rate")


def comparison_figure(
    runs: Mapping[str, Metrics], measure: str, *, over_time: bool = False, log: bool = False
) -> Figure:
    """Draw a measure of several runs (at most `MAX_CURVES`) against the step or, if `over_time`, seconds of training.

    With `log`, a loss is drawn on a logarithmic axis.
    """
    chosen = dict(list(runs.items())[:MAX_CURVES])
    points = {name: _measured(metrics, measure) for name, metrics in chosen.items()}
    if over_time:
        points = {name: [{**p, "step": p["seconds"]} for p in run if "seconds" in p] for name, run in points.items()}
    lasts = {name: run[-1] for name, run in points.items() if run}
    title, axis = COMPARED[measure]
    if lasts:
        order = sorted(lasts, key=lambda name: lasts[name][measure], reverse="loss" not in measure)
        unit = "{:,.0f} s" if over_time else "step {:,.0f}"
        values = [f"{name} {_value(measure, lasts[name])} ({unit.format(lasts[name]['step'])})" for name in order]
        caption = f"{title[0].upper()}{title[1:]} at the end, best first: {', '.join(values)}."
        if over_time and (without_times := [name for name in chosen if name not in lasts]):
            caption += f" No times were logged by {', '.join(without_times)}."
    else:
        caption = f"None of these runs has measured {title}{', or logged its time' if over_time else ''}."
    curves = tuple(chosen)
    spec = _spec(
        axis,
        0,
        curves,
        dotted=curves,
        top=100.0 if measure in _IN_PERCENT else None,
        zero=False,
        log=log and "loss" in measure,
        x_title="seconds of training, without evaluations" if over_time else "step",
    )
    data = _columns([row for name, run in points.items() for row in _rows(run, measure, name)])
    return Figure(spec, data, caption, _heading(title, axis))


def _heading(title: str, axis: str) -> str:
    """Join a measure and its unit; a word that ends one and begins the other is written once."""
    word, capital = title.split()[-1], f"{title[0].upper()}{title[1:]}"
    return f"{capital}{axis.removeprefix(word)}" if axis.startswith(word) else f"{capital}: {axis}"


def evaluation_table(metrics: Metrics) -> list[dict[str, Any]]:
    """Tabulate the evaluations, newest first, each with the latest training loss before it."""
    train = _measured(metrics, TRAINING_LOSS)
    rows = []
    for point in reversed(metrics.evals):
        before = (p[TRAINING_LOSS] for p in reversed(train) if p["step"] <= point["step"])
        row: dict[str, Any] = {"step": int(point["step"]), "validation loss": point.get("loss")}
        row["training loss"] = next(before, None)
        for name in ("exact_match", "token_accuracy", "bleu"):
            if name in point:
                unit = " (%)" if name in _IN_PERCENT else ""
                row[MEASURES[name][0] + unit] = _in_unit(name, point[name])
        rows.append(row)
    return rows


def _measured(metrics: Metrics, measure: str) -> list[Point]:
    """The points of a run that have this measure."""
    if measure != TRAINING_LOSS:
        return [point for point in metrics.evals if measure in point]
    return [{**point, measure: loss} for point in metrics.train if (loss := plain_loss(point)) is not None]


def _ends(points: Sequence[Point], name: str) -> tuple[float, float]:
    """The newest and the highest value."""
    return points[-1][name], max(point[name] for point in points)


def _loss_at(point: Point, name: str) -> str:
    return f"{_value(name, point)} at step {point['step']:,.0f}"


def _value(name: str, point: Point) -> str:
    value = point[name]
    if name in ("loss", TRAINING_LOSS):
        return f"{value:,.0f}" if value >= 100 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
    return f"{100 * value:.1f} %" if name in _IN_PERCENT else f"{value:.1f}"


def _in_unit(name: str, value: float) -> float:
    return 100.0 * value if name in _IN_PERCENT else value


def _rows(points: Sequence[Point], name: str, curve: str) -> Rows:
    """Thin out one number of the points to about `MAX_DRAWN` at regular intervals, always with the last one."""
    with_value = [point for point in points if name in point]
    stride = -(-len(with_value) // MAX_DRAWN) or 1
    drawn = with_value[::stride] + (with_value[-1:] if (len(with_value) - 1) % stride else [])
    return [(point["step"], _in_unit(name, point[name]), curve) for point in drawn]


def _columns(rows: Rows) -> Table:
    return {name: [row[at] for row in rows] for at, name in enumerate(("step", "value", "curve"))}


@lru_cache(maxsize=64)
def _spec(
    title: str,
    max_steps: int,
    curves: tuple[str, ...] = (),
    *,
    dotted: tuple[str, ...] = (),
    top: float | None = None,
    zero: bool = True,
    marked: bool = False,
    log: bool = False,
    x_title: str = "step",
    height: int = HEIGHT,
) -> dict[str, Any]:
    """Specify curves against the step, with a legend for `curves`, and dots on those in `dotted`."""
    base = alt.Chart().encode(
        x=step_axis(max_steps, x_title),
        y=value_axis(top=top, **({"type": "log"} if log else {"zero": zero})),
        tooltip=[
            alt.Tooltip("curve:N", title=" "),
            alt.Tooltip("step:Q", format=",d", title=x_title),
            alt.Tooltip("value:Q", format=".4~g", title=title),
        ],
        **(named("curve", curves, labelLimit=220) if curves else {}),
    )
    layers = [base.mark_line(strokeWidth=2)]
    if dotted:  # a single evaluation would be an invisible line
        points = dots(base, "curve")
        filtered = points.transform_filter(alt.FieldOneOfPredicate(field="curve", oneOf=list(dotted)))
        layers.append(points if dotted == curves else filtered)
    if marked:
        layers.append(marker())
    return specification(*layers, height=height)
