"""Validation during training: every process scores its share of the examples, and the scores are combined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from model.architectures import Model
from model.config import DecodeConfig, TrainConfig
from model.data.batching import EncodedPairs
from model.data.checks import best_score
from model.data.task import Example, Task, same_text
from model.metrics import TokenScores
from model.scoring import Scores, evenly_spaced, score_predictions, scoring_batches, teacher_forced, translate_pairs
from model.text.tokenizer import Tokenizer
from model.training.distributed import World

SAMPLES = 5


@dataclass(frozen=True)
class ValidationSet:
    """Examples to score and their ids; those at the indices `decoded` are also translated."""

    examples: tuple[Example, ...]
    pairs: EncodedPairs
    decoded: tuple[int, ...]

    @property
    def decoded_examples(self) -> tuple[Example, ...]:
        """The examples that are translated."""
        return tuple(self.examples[i] for i in self.decoded)


def evaluate(
    model: Model,
    target: Tokenizer,
    task: Task,
    data: ValidationSet,
    world: World,
    *,
    check: Callable[[], None],
) -> Scores:
    """Loss and token accuracy over all examples, exact match over the decoded ones; the same on every process.

    Each rank takes every `world.size`-th example, and the model is in evaluation mode. All processes call `check`
    equally often, once before each batch; it may raise on all of them.
    """
    was_training = model.training
    model.eval()
    try:
        to_score = data.pairs.part(range(world.rank, len(data.pairs), world.size))
        decoded = data.decoded[world.rank :: world.size]
        to_decode = data.pairs.part(decoded)
        with _in_step(to_score, world, check):
            tokens = teacher_forced(model, to_score, check=check)
        with _in_step(to_decode, world, check):
            texts = translate_pairs(model, to_decode, target, DecodeConfig(), check=check)
    finally:
        model.train(was_training)
    nll, correct, count = world.sum(tokens.nll, tokens.correct, tokens.tokens)
    predictions: dict[int, str] = {}
    for part in world.gather(dict(zip(decoded, texts, strict=True))):
        predictions |= part
    return score_predictions(
        data.decoded_examples,
        [predictions[i] for i in data.decoded],
        TokenScores(nll, int(correct), int(count)),
        equivalent=task.equivalent,
        group=task.group,
        lang=target.lang,
    )


@contextmanager
def _in_step(pairs: EncodedPairs, world: World, check: Callable[[], None]) -> Iterator[None]:
    """Run the body, then call `check` once for each batch that the process with the most batches has more."""
    n_batches = len(scoring_batches(pairs))
    most = max(world.gather(n_batches))
    yield
    for _ in range(most - n_batches):
        check()


def reachable(task: Task, data: ValidationSet) -> float:
    """The largest share of decoded examples that can be right: less than 1 if a source has several answers."""
    return best_score(data.decoded_examples) if task.equivalent is same_text else 1.0


def eval_line(scores: Scores, examples: Sequence[Example], *, with_bleu: bool, most: float = 1.0) -> dict[str, Any]:
    """The values of an evaluation for metrics.jsonl: scores, `most` if not all can be right, and a few samples."""
    flat = scores.flat(with_bleu=with_bleu)
    keys = ("loss", "exact_match", "token_accuracy", "bleu", "sentences")
    samples = [
        {"source": examples[i].source, "target": examples[i].target, "prediction": scores.predictions[i]}
        for i in evenly_spaced(len(examples), SAMPLES)
    ]
    limit = {"reachable": most} if most < 1 else {}
    return {key: flat[key] for key in keys if key in flat} | limit | {"samples": samples}


def is_better(new: dict[str, Any], best: dict[str, Any], config: TrainConfig) -> bool:
    """Whether an evaluation beats the best so far by the configured score; ties go to the lower loss."""
    return not best or _rank(new, config) > _rank(best, config)


def _rank(scores: dict[str, Any], config: TrainConfig) -> tuple[float, float]:
    loss = -float(scores["loss"])
    return (loss if config.select_by == "loss" else float(scores[config.select_by]), loss)
