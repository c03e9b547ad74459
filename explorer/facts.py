"""What is known about a model, in a few plain lines."""

from __future__ import annotations

import re
from typing import Any

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!$:<>|~&])")


def plain(text: str) -> str:
    """`text` as Markdown that shows exactly these characters: names, tokens and sentences are never markup."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split("\n")))


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
    shape = (
        f"{model['n_encoder_layers']} encoder layers × {model['n_encoder_heads']} heads, "
        f"{model['n_decoder_layers']} decoder layers × {model['n_decoder_heads']} heads, d_model {model['d_model']}"
    )
    style = f"{'pre' if model['norm_first'] else 'post'}-norm, {_POSITIONS[model['positions']]}"
    lines = [f"{count(summary['parameters'])} parameters: {shape}; {style}."]
    lines.append(_scores(summary["results"]) if summary.get("trained") else "Not trained: its answers are noise.")
    return [line for line in lines if line]


_POSITIONS = {"sinusoidal": "sinusoidal positions", "learned": "learned positions", "none": "no positions"}


def _scores(results: dict[str, Any]) -> str:
    test = results.get("test") or results
    found = []
    if isinstance(test.get("exact_match"), (int, float)):
        found.append(
            f"{100 * test['exact_match']:.1f} % of {test.get('sentences', '?')} held-out sentences exactly right"
        )
    if isinstance(test.get("bleu"), (int, float)):
        found.append(f"BLEU {test['bleu']:.1f}")
    return "; ".join(found) + "." if found else ""
