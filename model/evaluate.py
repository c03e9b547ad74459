"""Score a model: `python -m model.evaluate --model NAME --task reverse --split test`, or on a pair of text files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model.commands import (
    CommandError,
    OneSentenceParser,
    add_checkpoints,
    add_search,
    run_command,
    search_config,
    typed,
)
from model.config import own_search
from model.nearest import nearest
from model.plurals import plural

if TYPE_CHECKING:
    from model.checkpoint import LoadedModel
    from model.data import Example, Task


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    options = OneSentenceParser(
        prog=typed("model.evaluate"),
        description="Score a model on a split of a task or on two text files: exact match, token accuracy, loss, BLEU.",
    )
    options.add_argument("--model", required=True, metavar="NAME", help="name of a model in the checkpoints folder")
    options.add_argument("--task", metavar="TASK", help="task to score on (default: the one it was trained on)")
    options.add_argument(
        "--split", help="train, valid, test, or another split of the task (default: test, if it has one)"
    )
    options.add_argument(
        "--source", type=Path, metavar="FILE", help="sentences to translate, one a line, UTF-8 (.gz too)"
    )
    options.add_argument("--target", type=Path, metavar="FILE", help="their reference translations, line by line")
    add_search(options)
    options.add_argument("--device", default="cpu", help="auto, cpu, cuda, cuda:N or mps (default: %(default)s)")
    options.add_argument("--data-dir", type=Path, metavar="DIR", help="folder of corpora that a task reads")
    options.add_argument("--json", action="store_true", help="print one JSON object")
    add_checkpoints(options)
    return options


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every expected failure is a :class:`UserError`."""
    options = parser().parse_args(arguments)
    if (options.source is None) != (options.target is None):
        raise CommandError("--source and --target go together: give both files.")
    if options.source and options.task:
        raise CommandError("score on a task or on files, not both: leave out --task, or --source and --target.")
    config = search_config(options)
    from model.checkpoint import load_model
    from model.data.task import one_group, same_text
    from model.folder import find_model
    from model.metrics import flat
    from model.scoring import score_examples
    from model.training.device import resolve_device

    device = resolve_device(options.device)
    loaded = load_model(find_model(options.checkpoints, options.model))
    if options.own_search:
        config = own_search(loaded.summary["search"], config)
    if options.source:
        task, examples = None, _read_files(options.source, options.target)
        where = f"{options.source.name} and {options.target.name}"
    else:
        task = _task(loaded, options.task, options.data_dir)
        split = options.split or ("test" if "test" in task.splits else "valid")
        examples = _split(task, split)
        where = f"split '{split}' of {task.name}"
    _refuse_too_long(loaded, examples)
    loaded.model.to(device)
    scores = score_examples(
        loaded.model,
        loaded.source,
        loaded.target,
        examples,
        config,
        equivalent=task.equivalent if task else same_text,
        group=task.group if task else one_group,
    )
    values = {"model": loaded.name, "on": where, **scores.flat()}
    if len(scores.groups) > 1:
        values["groups"] = scores.groups
    if options.json:
        print(json.dumps(flat(values), ensure_ascii=False))
    else:
        print(_as_text(values, with_bleu=_are_sentences(loaded, examples)))
    return 0


def _task(loaded: LoadedModel, name: str | None, data_dir: Path | None) -> Task:
    """The task to score on, split as it was when the model was trained."""
    from model.data import get_task
    from model.data.task import IMPORTED

    name = name or loaded.data_config.task
    if name == IMPORTED:
        raise CommandError(
            "{name} was trained elsewhere, so it has no test sentences here: name a --task, or --source and --target.",
            name=loaded.name,
        )
    if name == "files" and data_dir is None:
        data_dir = loaded.folder  # your own data is stored with the model trained on it
    return get_task(name, split_seed=loaded.data_config.split_seed, data_dir=data_dir, fetch=True)


def _split(task: Task, name: str) -> tuple[Example, ...]:
    examples = task.split(name)
    if examples is None:
        splits = [*task.splits, *task.own_splits]
        raise CommandError(
            "task {name} has no split '{split}'. {nearest}", name=task.name, split=name, nearest=nearest(name, splits)
        )
    return examples


def _read_files(source: Path, target: Path) -> tuple[Example, ...]:
    """Pairs from two text files, line by line."""
    from model.data import Example
    from model.data.text_files import parallel

    sources, targets = parallel(source, target, exact=True)
    if not any(sources):
        raise CommandError("{source} is empty; there is nothing to score.", source=source)
    return tuple(map(Example, sources, targets))


def _refuse_too_long(loaded: LoadedModel, examples: Sequence[Example]) -> None:
    """Refuse sentences longer than a table of learned positions; other positional encodings have no limit."""
    limit = loaded.model_config.max_positions
    if loaded.model_config.positions != "learned":
        return
    for number, example in enumerate(examples, start=1):
        lengths = len(loaded.source.encode(example.source)), len(loaded.target.encode(example.target))
        longest = max(lengths) if loaded.model_config.has_encoder else sum(lengths) + 1
        if longest + 1 > limit:
            raise CommandError(
                "sentence {number} has {longest} tokens, but this model places at most {limit}.",
                number=number,
                longest=longest,
                limit=limit - 1,
            )


def _are_sentences(loaded: LoadedModel, examples: Sequence[Example]) -> bool:
    """Whether the targets are sentences, for which BLEU is meaningful, and not strings of letters or single words."""
    from model.data.proposal import are_sentences

    if loaded.data_config.task == "files":
        return are_sentences([example.target for example in examples])
    return loaded.data_config.tokenizer != "characters"


def _as_text(values: dict[str, Any], *, with_bleu: bool) -> str:
    """The scores, one per line, then those of groups."""
    sentences = values["sentences"]
    right = round(values["exact_match"] * sentences)
    lines = [
        f"{values['model']} on {values['on']}: {plural(sentences, 'sentence')}",
        f"exact match     {values['exact_match']:.4f}  ({right:,} of {sentences:,})",
        f"token accuracy  {values['token_accuracy']:.4f}",
        f"loss            {values['loss']:.4f}  nats per target token",
    ]
    if with_bleu:
        lines.append(f"BLEU            {values['bleu']:.1f}  ({values['bleu_signature']})")
        lines.append(
            f"BLEU, lc tok    {values['bleu_lc_tok']:.1f}  (lower-cased, tokenized by Moses, as papers report it)"
        )
    groups = values.get("groups", {})
    width = max((len(name) for name in groups), default=0) + 2
    lines += [f"  {name:<{width}}{share:.4f}" for name, share in groups.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    run_command(main)
