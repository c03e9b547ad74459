"""What is known about a model, in a few plain lines."""

from __future__ import annotations

import os
import re
from typing import Any

from model.data import TASKS, get_task

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!$:<>|~&])")


# Markdown also makes links of bare addresses, after it has read the escapes: an invisible joiner keeps them text.
_ADDRESS = re.compile(r"(?i)(www(?=\.)|https?(?=:)|ftp(?=:)|mailto(?=:)|xmpp(?=:)|@)")


def plain(text: str) -> str:
    """`text` as Markdown that shows exactly these characters: names, tokens and sentences are never markup."""
    joined = _ADDRESS.sub("\\1\u2060", " ".join(text.split("\n")))
    return _MARKDOWN.sub(r"\\\1", joined)


def why(error: Exception) -> str:
    """What an error says to people: our own speak for themselves, the system's name the file and the reason."""
    if not isinstance(error, OSError):
        return str(error)
    what = os.path.basename(str(error.filename)) if error.filename else "A file"
    reason = error.strerror or str(error)
    return f"{what} cannot be read or written: {reason}. Is the disk full, or the folder read-only?"


def title(summary: dict[str, Any]) -> str:
    """How a model is called in lists."""
    return str(summary["name"]) if summary.get("trained") else f"{summary['name']} (untrained)"


def count(number: float) -> str:
    """A large number as people say it: 950, 12 k, 1.3 M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"


def facts(summary: dict[str, Any]) -> list[str]:
    """Lines for the model card in the sidebar: task, size, shape, scores."""
    model = summary["model"]
    task = str(summary.get("task"))
    by_heart = task.startswith("phrases-")  # these tasks test on the pairs that they train on, and say so
    return [
        f"{get_task(task).title}." if task in TASKS else "Trained on somebody's own data.",
        f"{count(summary['parameters'])} parameters: {_shape(model)}.",
        _scores(summary["results"], by_heart) if summary.get("trained") else "Not trained: its answers are noise.",
    ]


def _shape(model: dict[str, Any]) -> str:
    n_encoder, n_decoder, d_model = model["n_encoder_layers"], model["n_decoder_layers"], model["d_model"]
    if model.get("architecture") == "lstm":
        return f"LSTM, {n_encoder} encoder and {n_decoder} decoder layers, one head of attention, d_model {d_model}"
    style = f"{'pre' if model['norm_first'] else 'post'}-norm, {_POSITIONS[model['positions']]}"
    return (
        f"{n_encoder} encoder layers × {model['n_encoder_heads']} heads, "
        f"{n_decoder} decoder layers × {model['n_decoder_heads']} heads, d_model {d_model}; {style}"
    )


_POSITIONS = {"sinusoidal": "sinusoidal positions", "learned": "learned positions", "none": "no positions"}


def _scores(results: dict[str, Any], by_heart: bool) -> str:
    test = results.get("test") or results
    found = []
    if isinstance(test.get("exact_match"), (int, float)):
        which = "sentences that it learned by heart" if by_heart else "held-out sentences"
        right, of = 100 * test["exact_match"], test.get("sentences", "?")
        found.append(f"{right:.1f} % of {of} {which} exactly right")
    if isinstance(test.get("bleu"), (int, float)):
        found.append(f"BLEU {test['bleu']:.1f}")
    return "; ".join(found) + "." if found else ""
