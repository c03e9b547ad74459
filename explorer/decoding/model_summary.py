"""Describe a model in a few plain lines: its name in lists, and its task, size and scores for the sidebar."""

from __future__ import annotations

from typing import Any

from explorer.locale.messages import message, t, translated
from explorer.locale.text import count, fixed, percent
from model.data import TASKS, get_task
from model.headline import headline_name

POSITIONS = {
    "sinusoidal": message("sinusoidal positions"),
    "learned": message("learned positions"),
    "rope": message("rotary positions (RoPE)"),
    "alibi": message("positions as distance (ALiBi)"),
    "relative": message("positions as learned biases"),
    "none": message("no positions"),
}


def title(summary: dict[str, Any]) -> str:
    """A model's name in lists, marked if the model is untrained."""
    return str(summary["name"]) if summary.get("trained") else t("{name} (untrained)", name=summary["name"])


def story(summary: dict[str, Any]) -> str:
    """What the model does, in one plain sentence."""
    task = str(summary.get("task"))
    if not summary.get("trained"):
        return t("Not trained: its answers are noise.")
    if summary.get("imported"):
        return _origin(summary)
    if task in TASKS and (task_story := get_task(task).story):
        return f"{translated(task_story)}."
    return _own_data(summary)


def _own_data(summary: dict[str, Any]) -> str:
    file = summary.get("own_file")
    return t("Trained on the pairs in {file}.", file=file) if file else t("Trained on somebody's own pairs.")


def facts(summary: dict[str, Any]) -> list[str]:
    """The lines of the model card in the sidebar: task; size and shape; scores."""
    model = summary["model"]
    task = str(summary.get("task"))
    task_line = f"{translated(get_task(task).title)}." if task in TASKS else _own_data(summary)
    return [
        _origin(summary) if summary.get("imported") else task_line,
        t("{parameters} parameters: {shape}.", parameters=count(summary["parameters"]), shape=_shape(model)),
        _scores(summary) if summary.get("trained") else t("Not trained: its answers are noise."),
    ]


def by_heart(task: object) -> bool:
    """Whether a task is validated and tested on the very pairs that it trains on."""
    return str(task).startswith("phrases-")


def _origin(summary: dict[str, Any]) -> str:
    """State where an imported model came from, in a sentence."""
    origin = summary["imported"]
    return t(
        "Imported from {source} ({family}).",
        source=origin.get("source", t("elsewhere")),
        family=origin.get("family", t("of unknown kind")),
    )


def _shape(model: dict[str, Any]) -> str:
    encoder = t("{n} encoder layer", "{n:,} encoder layers", n=model["n_encoder_layers"])
    decoder = t("{n} decoder layer", "{n:,} decoder layers", n=model["n_decoder_layers"])
    if model.get("architecture") == "lstm":
        return t(
            "LSTM, {encoder} and {decoder}, one head of attention, d_model {d_model}",
            encoder=encoder,
            decoder=decoder,
            d_model=model["d_model"],
        )
    encoder_heads = t("{n} head", "{n:,} heads", n=model["n_encoder_heads"])
    decoder_heads = t("{n} head", "{n:,} heads", n=model["n_decoder_heads"])
    stacks = [] if model.get("architecture") == "decoder" else [f"{encoder} × {encoder_heads}"]
    return t(
        "{stacks}, d_model {d_model}; {norm}, {positions}",
        stacks=", ".join([*(stacks or [t("no encoder")]), f"{decoder} × {decoder_heads}"]),
        d_model=model["d_model"],
        norm="pre-norm" if model["norm_first"] else "post-norm",
        positions=translated(POSITIONS[model["positions"]]),
    )


def _scores(summary: dict[str, Any]) -> str:
    results = summary["results"]
    test = results.get("test") or results
    leading = headline_name(test)
    scores = [f"BLEU {fixed(test['bleu'], 1)}"] if leading == "bleu" else []
    if isinstance(test.get("exact_match"), (int, float)):
        share, sentences = percent(test["exact_match"], 1), test.get("sentences", "?")
        scores.append(
            t("{share} of {n} sentences that it learned by heart exactly right", share=share, n=sentences)
            if by_heart(summary.get("task"))
            else t("{share} of {n} held-out sentences exactly right", share=share, n=sentences)
        )
    return "; ".join(scores) + "." if scores else ""
