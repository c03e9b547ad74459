"""Describe a model in a few plain lines: its name in lists, and its task, size and scores for the sidebar."""

from __future__ import annotations

from typing import Any

from explorer.locale.text import count, fixed, percent, plural
from model.data import TASKS, get_task
from model.headline import headline_name

POSITIONS = {
    "sinusoidal": "sinusoidal positions",
    "learned": "learned positions",
    "rope": "rotary positions (RoPE)",
    "alibi": "positions as distance (ALiBi)",
    "relative": "positions as learned biases",
    "none": "no positions",
}


def title(summary: dict[str, Any]) -> str:
    """A model's name in lists, marked if the model is untrained."""
    return str(summary["name"]) if summary.get("trained") else f"{summary['name']} (untrained)"


def story(summary: dict[str, Any]) -> str:
    """What the model does, in one plain sentence."""
    task = str(summary.get("task"))
    if not summary.get("trained"):
        return "Not trained: its answers are noise."
    if summary.get("imported"):
        return f"{_origin(summary)}."
    task_story = get_task(task).story if task in TASKS else ""
    return f"{task_story or 'Trained on somebody’s own data'}."


def facts(summary: dict[str, Any]) -> list[str]:
    """The lines of the model card in the sidebar: task; size and shape; scores."""
    model = summary["model"]
    task = str(summary.get("task"))
    by_heart = task.startswith("phrases-")  # these tasks are tested on the very pairs that they train on
    task_line = f"{get_task(task).title}." if task in TASKS else "Trained on somebody's own data."
    return [
        f"{_origin(summary)}." if summary.get("imported") else task_line,
        f"{count(summary['parameters'])} parameters: {_shape(model)}.",
        _scores(summary["results"], by_heart) if summary.get("trained") else "Not trained: its answers are noise.",
    ]


def _origin(summary: dict[str, Any]) -> str:
    """State where an imported model came from."""
    origin = summary["imported"]
    return f"Imported from {origin.get('source', 'elsewhere')} ({origin.get('family', 'of unknown kind')})"


def _shape(model: dict[str, Any]) -> str:
    encoder, decoder = (
        plural(model["n_encoder_layers"], "encoder layer"),
        plural(model["n_decoder_layers"], "decoder layer"),
    )
    d_model = f"d_model {model['d_model']}"
    if model.get("architecture") == "lstm":
        return f"LSTM, {encoder} and {decoder}, one head of attention, {d_model}"
    norm = "pre-norm" if model["norm_first"] else "post-norm"
    if model.get("architecture") == "decoder":
        heads = f"{decoder} × {plural(model['n_decoder_heads'], 'head')}"
        return f"no encoder, {heads}, {d_model}; {norm}, {POSITIONS[model['positions']]}"
    return (
        f"{encoder} × {plural(model['n_encoder_heads'], 'head')}, "
        f"{decoder} × {plural(model['n_decoder_heads'], 'head')}, {d_model}; {norm}, {POSITIONS[model['positions']]}"
    )


def _scores(results: dict[str, Any], by_heart: bool) -> str:
    test = results.get("test") or results
    leading = headline_name(test)
    scores = [f"BLEU {fixed(test['bleu'], 1)}"] if leading == "bleu" else []
    if isinstance(test.get("exact_match"), (int, float)):
        which = "sentences that it learned by heart" if by_heart else "held-out sentences"
        scores.append(f"{percent(test['exact_match'], 1)} of {test.get('sentences', '?')} {which} exactly right")
    return "; ".join(scores) + "." if scores else ""
