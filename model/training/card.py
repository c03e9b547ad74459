"""The card of a model (its README.md): task, data, scores, and the command that trains it again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from model.config import ModelConfig
from model.data import MADE_HERE, Task
from model.headline import headline_name
from model.plurals import plural
from model.training.device import Runtime
from model.training.settings import Settings

REPEATED = (
    "On the same CPU, with the same versions of this program and of PyTorch, it gives the same weights, bit for bit.\n"
    "Elsewhere, the weights differ by rounding, and the scores are about the same."
)


def reproduce_command(name: str, task: Task, origin: Mapping[str, Any], runtime: Runtime | None = None) -> str:
    """The command line that trains this model again; DIR stands for the folder of the corpus.

    It contains the resolved values of `auto`, so that it does the same on another machine, apart from rounding.
    """
    processes = runtime.processes if runtime is not None else 1
    start = ["python", "-m"] if processes == 1 else ["torchrun", f"--nproc-per-node={processes}", "-m"]
    words = [*start, "model.train", "--task", task.name, "--name", name, *origin.get("own_data", ())]
    if task.from_folder:
        words += ["--data-dir", "DIR"]
    if origin.get("added_data"):
        words += ["--add-data", *(entry["file"] for entry in origin["added_data"])]
    if origin.get("preset"):
        words += ["--preset", origin["preset"]]
    if runtime is not None and runtime.settled:
        words += ["--device", runtime.torch_device.type, "--precision", runtime.precision]
        words += ["--threads", str(runtime.threads)]
        words += ["--compile"] if runtime.compile else []
    if origin.get("init") and not origin.get("first"):  # with --first, the same command trains the initial model
        words += ["--init", origin["init"]]
    for option in ("set", "first"):
        if origin.get(option):
            words += [f"--{option}", *(f"{key}={value}" for key, value in origin[option].items())]
    return shlex.join(words)


def write_card(
    name: str,
    task: Task,
    settings: Settings,
    n_parameters: int,
    origin: Mapping[str, Any],
    results: Mapping[str, Any],
    *,
    runtime: Runtime | None = None,
) -> str:
    """The card as Markdown; without results it describes an untrained model."""
    licence = task.licence or "None stated: it depends on the data that the model was trained on."
    if task.name in MADE_HERE:
        licence = "MIT, like the program that made it and its data."
    lines = [f"# {name}", "", f"{task.title}.", "", task.description, ""]
    lines += ["## Model", "", *_bullets(model_facts(settings.model, n_parameters)), ""]
    lines += ["## Training", "", *_bullets(_training_facts(task, settings, origin, results, runtime)), ""]
    lines += ["## Scores", "", *_scores(name, task, results), ""]
    lines += ["## Train it again", "", f"    {reproduce_command(name, task, origin, runtime)}"]
    longer = (f"    python -m model.train --resume {name} --steps {steps}" for steps in origin.get("extended", ()))
    lines += [*longer, "", REPEATED, ""]
    lines += ["## Licence", "", licence, ""]
    return "\n".join(lines)


def _bullets(lines: Sequence[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def model_facts(model: ModelConfig, n_parameters: int) -> list[str]:
    """The sizes and design choices of a model, one per line."""
    ties = {
        "none": "no embeddings shared",
        "target": "target embedding and output share one matrix",
        "all": "source embedding, target embedding and output share one matrix",
    }
    if model.architecture == "lstm":
        design = [
            f"LSTM encoder-decoder with attention, d_model {model.d_model}",
            f"encoder: {plural(model.n_encoder_layers, 'layer')}, read in both directions; "
            f"decoder: {plural(model.n_decoder_layers, 'layer')}; one head of attention from decoder to source",
        ]
    else:
        encoder = f"encoder: {plural(model.n_encoder_layers, 'layer')} of {plural(model.n_encoder_heads, 'head')}; "
        alone = "no encoder and no cross-attention: source and target are one sequence; "
        design = [
            f"d_model {model.d_model}, d_ff {model.d_ff}, {model.activation}",
            f"{encoder if model.has_encoder else alone}"
            f"decoder: {plural(model.n_decoder_layers, 'layer')} of {plural(model.n_decoder_heads, 'head')}",
            f"{'pre-norm' if model.norm_first else 'post-norm'}, {model.positions} positions",
        ]
    return [
        f"{n_parameters:,} parameters ({4 * n_parameters / 1e6:.2f} MB)",
        *design,
        ties[model.share_embeddings]
        if model.has_encoder or model.share_embeddings == "none"
        else "embedding and output share one matrix",
        f"vocabulary: {model.src_vocab_size:,} source and {model.tgt_vocab_size:,} target tokens, specials included"
        if model.has_encoder
        else f"vocabulary: {model.tgt_vocab_size:,} tokens, specials included",
    ]


def _training_facts(
    task: Task, settings: Settings, origin: Mapping[str, Any], results: Mapping[str, Any], runtime: Runtime | None
) -> list[str]:
    training = settings.training
    n_train, added = len(task.splits["train"]), origin.get("added_data") or ()
    n_added = sum(entry.get("pairs", 0) for entry in added)
    union = f" ({n_train - n_added:,} of the task and {n_added:,} added)" if n_added else ""
    facts = [
        f"data: task `{task.name}`, {plural(n_train, 'training pair')}{union}, split seed {settings.data.split_seed}",
        f"{training.optimizer}, learning rate {training.learning_rate:g} ({training.schedule}, "
        f"{plural(training.warmup_steps, 'warm-up update')}), label smoothing {training.label_smoothing:g}, "
        f"dropout {settings.model.dropout:g}, seed {training.seed}",
    ]
    if training.consistency != "none":
        simcut = training.consistency == "simcut"
        fact = f"{'SimCut' if simcut else 'R-Drop'}: consistency weight {training.consistency_weight:g}"
        facts.append(f"{fact}, token cutoff {training.cutoff:g}" if simcut else fact)
    if results.get("trained_steps"):
        times, tokens = training.gradient_accumulation_steps, f"{training.max_tokens:,} tokens"
        batch = tokens if times == 1 else f"{times} × {tokens}"
        facts.append(f"{plural(results['trained_steps'], 'update')} of at most {batch} per side")
    if runtime is not None and runtime.settled:
        processes = f" in {runtime.processes} processes" if runtime.processes > 1 else ""
        facts.append(
            f"computed on {runtime.torch_device.type} in {runtime.precision} with {plural(runtime.threads, 'thread')}"
            f"{processes}{', compiled' if runtime.compile else ''}, PyTorch {runtime.torch_version}"
        )
    return facts


def _scores(name: str, task: Task, results: Mapping[str, Any]) -> list[str]:
    test = results.get("test")
    if not test:
        valid = results.get("valid")
        if valid:
            return [
                f"On validation, after {plural(valid['step'], 'update')}; training has not finished:",
                "",
                *_bullets(score_lines(valid)),
            ]
        return ["None: this model is untrained."]
    folder = " --data-dir DIR" if task.from_folder else ""
    lines = [
        f"On the split `{results['split']}` ({plural(test['sentences'], 'sentence')}), greedy search, as printed by",
        f"`python -m model.evaluate --model {name} --task {task.name} --split {results['split']}{folder}`:",
        "",
        *_bullets(score_lines(test)),
    ]
    if results["split"] == "valid":
        lines += ["", "The same sentences selected the best weights, so scores on others may be a little lower."]
    return lines


def score_lines(scores: Mapping[str, Any]) -> list[str]:
    """Readable scores, one per line, with the headline score first."""
    lines = [
        f"exact match {scores['exact_match']:.4f}",
        f"token accuracy {scores['token_accuracy']:.4f}",
        f"loss {scores['loss']:.4f} nats per target token",
    ]
    if scores.get("bleu_signature"):
        bleu = (
            f"BLEU {scores['bleu']:.1f} ({scores['bleu_signature']}); "
            f"lower-cased and tokenized by Moses, as papers report it: {scores['bleu_lc_tok']:.1f}"
        )
        lines.insert(0 if headline_name(scores) == "bleu" else len(lines), bleu)
    return lines
