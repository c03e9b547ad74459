"""Training curves: loss, learning rate, speed and scores of one run or several, against the step.

Each function returns a :class:`Figure` whose specification does not depend on the data, so that an update sends numbers
only and nothing on the page jumps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from explorer.charts.chart import DASHES, HEIGHT, Figure, Table
from explorer.charts.vega_chart import marker, step_axis
from explorer.runs.metrics import Metrics, Point, logs_plain_loss, optimises_another_loss, plain_loss
from model.headline import headline_name

CACHED = 16  # figures of each kind: everybody who watches a run gets the same one, made once per change
MAX_DRAWN = 300  # points of one curve; more cannot be told apart and cost time at each update
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
# What runs are compared by: a name, and what the axis shows.
COMPARED = {name: (f"validation {of[0]}", of[1]) for name, of in MEASURES.items()} | {
    TRAINING_LOSS: ("training loss", MEASURES["loss"][1])
}


def thin(points: Sequence[Point], most: int = MAX_DRAWN) -> list[Point]:
    """About `most` of the points at regular intervals, and always the last one."""
    stride = -(-len(points) // most) or 1
    thinned = list(points[::stride])
    if points and thinned[-1] is not points[-1]:
        thinned.append(points[-1])
    return thinned


@lru_cache(maxsize=CACHED)
def loss_figure(metrics: Metrics, max_steps: int = 0, mark: int | None = None) -> Figure:
    """Training and validation loss of one run; the axis ends at `max_steps`, so that it does not move.

    Training is drawn as validation is measured, and as optimised where that is another number or the only one known. A
    dashed rule is drawn at step `mark`, if given.
    """
    rows = _training_rows(metrics) + _rows(metrics.evals, "loss", VALIDATION)
    plain, both = logs_plain_loss(metrics), optimises_another_loss(metrics)
    curves = [TRAINING] if plain or not metrics.train else []
    curves += [OPTIMISED] if both or (metrics.train and not plain) else []
    spec = _spec("loss", MEASURES["loss"][1], max_steps, (*curves, VALIDATION), marked=mark is not None)
    data = _columns(rows)
    if mark is not None:
        data["mark"] = [mark] * len(rows)
    return Figure(spec, data, loss_caption(metrics), "Loss, in nats per target token")


def _training_rows(metrics: Metrics) -> list[tuple[float, float, str]]:
    """The training loss, and the optimised one where it differs or stands alone."""
    if not logs_plain_loss(metrics):
        return _rows(metrics.train, "loss", OPTIMISED)
    plain = _rows(metrics.train, "nll", TRAINING)
    return plain + _rows(metrics.train, "loss", OPTIMISED) if optimises_another_loss(metrics) else plain


def loss_caption(metrics: Metrics) -> str:
    """The latest losses, where they started, the lowest one, and which of them can be compared, in a few sentences."""
    train = [
        {"step": point["step"], "loss": loss} for point in metrics.train if (loss := plain_loss(point)) is not None
    ]
    evals = [point for point in metrics.evals if "loss" in point]
    parts = []
    if train:
        first, last = train[0], train[-1]
        parts.append(f"Training loss {_nats(last['loss'])} at step {last['step']:,.0f}")
        if last is not first:
            parts[-1] += f", from {_nats(first['loss'])} at step {first['step']:,.0f}"
    if evals:
        best, last = min(evals, key=lambda point: point["loss"]), evals[-1]
        parts.append(f"Validation loss {_nats(last['loss'])} at step {last['step']:,.0f}")
        if best["step"] != last["step"]:
            parts[-1] += f"; lowest {_nats(best['loss'])} at step {best['step']:,.0f}"
    if not parts:
        return "Nothing has been measured yet."
    return " ".join([". ".join(parts) + ".", *_which_loss(metrics)])


def _which_loss(metrics: Metrics) -> list[str]:
    """How the two losses are measured, in a sentence."""
    if not metrics.train:
        return []
    if not logs_plain_loss(metrics):
        return [
            "Training is drawn as it is optimised, with dropout and any label smoothing, which validation is without: "
            "compare the curves' shapes, not their heights."
        ]
    optimised = " What is optimised adds label smoothing or consistency." if optimises_another_loss(metrics) else ""
    return [f"Both are plain log-likelihoods, training's with dropout.{optimised}"]


def score_name(metrics: Metrics) -> str:
    """The main score of a run: BLEU where its answers are sentences, otherwise exact match."""
    return headline_name(metrics.evals[-1] if metrics.evals else {})


@lru_cache(maxsize=CACHED)
def score_figure(metrics: Metrics, max_steps: int = 0) -> Figure:
    """Exact match and token accuracy, or BLEU, at each evaluation of one run."""
    main = score_name(metrics)
    names = ("bleu",) if main == "bleu" else ("exact_match", "token_accuracy")
    heading = "BLEU on validation" if main == "bleu" else "Right on validation, in %"
    rows = [row for name in names for row in _rows(metrics.evals, name, MEASURES[name][0])]
    title = "BLEU" if main == "bleu" else "right (%)"
    top = None if main == "bleu" else 100.0
    last, best = metrics.latest("evals", main), max((p[main] for p in metrics.evals if main in p), default=None)
    if last is None or best is None:
        caption = "Not scored yet: the first evaluation is still to come."
    else:
        caption = f"{_score(main, last)} at step {metrics.evals[-1]['step']:,.0f}; best so far {_score(main, best)}."
        caption = caption[0].upper() + caption[1:]
    spec = _spec("score", title, max_steps, tuple(MEASURES[name][0] for name in names), top)
    return Figure(spec, _columns(rows), caption, heading)


@lru_cache(maxsize=CACHED)
def rate_figure(metrics: Metrics, max_steps: int = 0) -> Figure:
    """The learning rate of each logged update."""
    rows = _rows(metrics.train, "lr", "learning rate")
    last, top = metrics.latest("train", "lr"), max((p["lr"] for p in metrics.train if "lr" in p), default=None)
    known = last is not None and top is not None
    caption = f"Learning rate {last:.3g} now; highest so far {top:.3g}." if known else "No update has been logged yet."
    return Figure(_spec("rate", "learning rate", max_steps), _columns(rows), caption, "Learning rate")


@lru_cache(maxsize=CACHED)
def speed_figure(metrics: Metrics, max_steps: int = 0) -> Figure:
    """Source and target tokens per second, padding not counted."""
    rows = _rows(metrics.train, "tokens_per_s", "tokens/s")
    last = metrics.latest("train", "tokens_per_s")
    caption = (
        f"{last:,.0f} source and target tokens per second now." if last is not None else "No speed is measured yet."
    )
    return Figure(_spec("speed", "tokens/s", max_steps), _columns(rows), caption, "Tokens per second")


def comparison_figure(
    runs: Mapping[str, Metrics], measure: str, *, over_time: bool = False, log: bool = False
) -> Figure:
    """One measure of several runs (at most `MAX_CURVES`) against the step or, if `over_time`, seconds of training.

    `log`: a loss is drawn on a logarithmic axis.
    """
    chosen = dict(list(runs.items())[:MAX_CURVES])
    points = {name: _measured(metrics, measure) for name, metrics in chosen.items()}
    if over_time:
        points = {name: [{**p, "step": p["seconds"]} for p in of if "seconds" in p] for name, of in points.items()}
    rows = [row for name, of in points.items() for row in _rows(of, measure, name)]
    lasts = {name: of[-1] for name, of in points.items() if of}
    title, axis = COMPARED[measure]
    if not lasts:
        caption = f"None of these runs has measured {title}{', or logged its time' if over_time else ''}."
    else:
        order = sorted(lasts, key=lambda name: lasts[name][measure], reverse="loss" not in measure)
        values = [f"{name} {_value(measure, lasts[name][measure])} ({_at(lasts[name], over_time)})" for name in order]
        caption = f"{title[0].upper()}{title[1:]} at the end, best first: {', '.join(values)}."
        if over_time and (silent := [name for name in chosen if name not in lasts]):
            caption += f" No times were logged by {', '.join(silent)}."
    top = 100.0 if measure in _IN_PERCENT else None
    x_title = "seconds of training, without evaluations" if over_time else "step"
    spec = _spec("comparison", axis, 0, tuple(chosen), top, log=log and "loss" in measure, x_title=x_title)
    return Figure(spec, _columns(rows), caption, _heading(title, axis))


def _heading(title: str, axis: str) -> str:
    """The measure and its unit; a word that ends one and begins the other stands once."""
    word, capital = title.split()[-1], f"{title[0].upper()}{title[1:]}"
    return f"{capital}{axis.removeprefix(word)}" if axis.startswith(word) else f"{capital}: {axis}"


def _measured(metrics: Metrics, measure: str) -> list[Point]:
    """The points of a run that have this measure."""
    if measure != TRAINING_LOSS:
        return [point for point in metrics.evals if measure in point]
    known = ((point, plain_loss(point)) for point in metrics.train)
    return [{**point, measure: loss} for point, loss in known if loss is not None]


def _at(point: Point, over_time: bool) -> str:
    return f"{point['step']:,.0f} s" if over_time else f"step {point['step']:,.0f}"


def evaluation_table(metrics: Metrics) -> list[dict[str, Any]]:
    """The evaluations as a table, newest first, each with the latest training loss before it."""
    rows = []
    for point in reversed(metrics.evals):
        row: dict[str, Any] = {"step": int(point["step"]), "validation loss": point.get("loss")}
        row["training loss"] = next(
            (
                loss
                for p in reversed(metrics.train)
                if p["step"] <= point["step"] and (loss := plain_loss(p)) is not None
            ),
            None,
        )
        for name in ("exact_match", "token_accuracy", "bleu"):
            if name in point:
                unit = " (%)" if name in _IN_PERCENT else ""
                row[MEASURES[name][0] + unit] = _in_unit(name, point[name])
        rows.append(row)
    return rows


def _rows(points: Sequence[Point], name: str, curve: str) -> list[tuple[float, float, str]]:
    known = thin([point for point in points if name in point])
    return [(point["step"], _in_unit(name, point[name]), curve) for point in known]


def _in_unit(name: str, value: float) -> float:
    return 100.0 * value if name in _IN_PERCENT else value


def _columns(rows: Sequence[tuple[float, float, str]]) -> Table:
    steps, values, curves = zip(*rows, strict=True) if rows else ((), (), ())
    return {"step": list(steps), "value": list(values), "curve": list(curves)}


def _nats(loss: float) -> str:
    return f"{loss:.2f}" if loss >= 0.1 else f"{loss:.2g}"


def _value(name: str, value: float) -> str:
    if name in ("loss", TRAINING_LOSS):
        return _nats(value)
    return f"{100 * value:.1f} %" if name in _IN_PERCENT else f"{value:.1f}"


def _score(name: str, value: float) -> str:
    return f"BLEU {value:.1f}" if name == "bleu" else f"{100 * value:.1f} % exactly right"


@lru_cache(maxsize=64)
def _spec(
    kind: str,
    title: str,
    max_steps: int,
    curves: tuple[str, ...] = (),
    top: float | None = None,
    *,
    marked: bool = False,
    log: bool = False,
    x_title: str = "step",
) -> dict[str, Any]:
    """A chart of curves against the step, with a legend for `curves`, which differ in dashes as well as colours."""
    scale = alt.Scale(zero=kind != "comparison", nice=True) if top is None else alt.Scale(domain=[0, top])
    if log:
        scale = alt.Scale(type="log", nice=True)
    base = alt.Chart().encode(
        x=step_axis(max_steps).title(x_title),
        y=alt.Y("value:Q", title=None, scale=scale, axis=alt.Axis(tickCount=5)),
        tooltip=[
            alt.Tooltip("curve:N", title=" "),
            alt.Tooltip("step:Q", format=",d", title=x_title),
            alt.Tooltip("value:Q", format=".4~g", title=title),
        ],
    )
    if curves:
        legend = alt.Legend(orient="top", title=None, labelLimit=220, symbolSize=400, symbolType="stroke")
        dashes = alt.Scale(domain=list(curves), range=list(DASHES[: len(curves)]))
        base = base.encode(
            color=alt.Color("curve:N", legend=legend, sort=None, scale=alt.Scale(domain=list(curves))),
            strokeDash=alt.StrokeDash("curve:N", legend=legend, sort=None, scale=dashes),
        )
    layers = [base.mark_line(strokeWidth=2)]
    if kind in ("score", "comparison"):
        dots = base.encode(strokeDash=alt.Undefined, color=alt.Color("curve:N", legend=None))
        layers.append(dots.mark_circle(size=28, opacity=1))
    if kind == "loss":  # a first evaluation alone would be a line without length
        dots = base.encode(strokeDash=alt.Undefined, color=alt.Color("curve:N", legend=None))
        dots = dots.transform_filter(alt.datum.curve == VALIDATION)
        layers.append(dots.mark_circle(size=28, opacity=1))
    if marked:
        layers.append(marker())
    made: dict[str, Any] = alt.layer(*layers).properties(height=HEIGHT).to_dict()
    made.pop("config", None)
    return made
