"""Checks of a model's sizes, settings, card, training curves and test results."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Literal

from explorer.lessons.checks.registry import Live, check, item_at
from explorer.lessons.expressions import Value
from explorer.runs.experiment_arms import arm_runs
from explorer.runs.experiment_relations import differs
from explorer.runs.metrics import load_metrics
from model.config import ATTENTION_KINDS, AttentionKind
from model.experiments.catalogue import get_experiment
from model.folder import METRICS, read_card

Curve = Literal["loss", "valid_loss", "exact_match", "token_accuracy"]


@check
def head_size(live: Live, kind: AttentionKind, heads: int = 0) -> Value:
    """The number of dimensions of a head's queries and keys, or what it would be with this number of heads."""
    config = live.translator.loaded.model_config
    return float(config.d_model // (heads or config.n_heads(kind)))


@check
def heads(live: Live, kind: AttentionKind) -> Value:
    """The number of heads of a kind of attention in all its layers."""
    weights = live.translation.trace.weights(kind)
    return float(weights.shape[0] * weights.shape[1])


@check
def all_heads(live: Live) -> Value:
    """The number of heads in encoder, decoder and cross-attention together."""
    return float(sum(float(heads(live, kind)) for kind in ATTENTION_KINDS))


@check
def parameters(live: Live) -> Value:
    """The number of trainable parameters."""
    return float(live.summary["parameters"])


@check
def setting(live: Live, name: str) -> Value:
    """A setting of the model, such as d_model, positions, norm_first."""
    value = live.summary["model"][name]
    return value if isinstance(value, (str, bool)) else float(value)


@check
def card_says(live: Live, words: str) -> Value:
    """Whether the model's card contains these words; line breaks do not matter."""
    card = read_card(Path(live.summary["folder"]))
    return " ".join(words.split()) in " ".join(card.split())


@check
def even_chance(live: Live) -> Value:
    """The probability of each target token if all were equally likely."""
    return 1.0 / float(live.summary["model"]["tgt_vocab_size"])


@check
def curve(live: Live, name: Curve, at: Literal["first", "last"] = "last") -> Value:
    """The first or last value of a curve: loss in training; valid_loss, exact_match or token_accuracy on validation."""
    return _curve(live, name)[0 if at == "first" else -1][1]


@check
def step_reaching(live: Live, name: Literal["exact_match", "token_accuracy"], value: float) -> Value:
    """The number of updates after which a validation score first reached a value."""
    reached = [step for step, score in _curve(live, name) if score >= value]
    return item_at(reached, 1, "step")


def _curve(live: Live, name: str) -> list[tuple[float, float]]:
    """(step, value) of each line of the run's metrics that has this value."""
    metrics = load_metrics(Path(live.summary["folder"]) / METRICS)
    points, key = (metrics.train if name == "loss" else metrics.evals), name.removeprefix("valid_")
    return [(point["step"], point[key]) for point in points if key in point]


@check
def result(live: Live, name: str) -> Value:
    """A test score stored in the model's folder: exact_match, token_accuracy, loss or bleu."""
    results = live.summary["results"]
    return float((results.get("test") or results)[name])


@check
def experiment(
    live: Live, name: str, arm: str, number: Literal["test", "lowest", "highest", "long", "runs", "parameters"]
) -> Value:
    """A number of an arm of an experiment: its runs, their parameters, or their share of right answers.

    The share is the mean, lowest or highest on test, or the mean on strings longer than in training (long).
    """
    del live
    runs = {each.arm.label: each.runs for each in arm_runs(get_experiment(name))}[arm]
    if number == "runs":
        return float(len(runs))
    if number == "parameters":
        return float(item_at(runs, 1, "run").parameters)
    shares = [run.scores["long" if number == "long" else "test"]["exact_match"] for run in runs]
    return float({"lowest": min, "highest": max}.get(number, fmean)(shares))


@check
def told_apart(live: Live, name: str) -> Value:
    """Whether the stored runs of an experiment tell an arm from its first one."""
    del live
    return differs(arm_runs(get_experiment(name)))
