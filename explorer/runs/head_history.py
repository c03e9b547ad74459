"""How heads form: the attention in one sentence at every snapshot of a run, and scores of single heads there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.decoding.entropy import entropy
from explorer.locale.text import plural
from model.checkpoint import LoadedModel, load_model, snapshot_path, snapshot_steps
from model.config import ATTENTION_KINDS, AttentionKind, DecodeConfig
from model.data import MADE_HERE, get_task
from model.data.batching import collate, encode_pairs
from model.data.files import DATA_FILE
from model.data.task import Example
from model.decoding.decode import decode_recorded
from model.folder import CheckpointError
from model.recording import AttentionRecorder
from model.trace import AttentionTrace

SENTENCES = 32  # validation sentences behind the scores of heads
MAX_TOKENS = 40  # longer sentences are left out

Scores = NDArray[np.float64]
ScoreName = Literal["aligned", "normalised_entropy"]


@dataclass(frozen=True, eq=False)
class Moment:
    """One snapshot and a sentence: its attention along a fixed target, and its own translation."""

    step: int
    trace: AttentionTrace
    own_text: str


@dataclass(frozen=True, eq=False)
class HeadScores:
    """Scores of all heads at one snapshot, as means over a sample of sentences.

    Shapes: all [layer, head]. `normalised_entropy[kind]`: the entropy of a row over the highest it could have, from 0
    (one token) to 1 (all tokens equally), without rows that see only one token. `aligned`: the weight that
    cross-attention gives to the source tokens aligned with the next target token; None without a known alignment.
    """

    step: int
    normalised_entropy: dict[AttentionKind, Scores]
    aligned: Scores | None
    n_sentences: int


def steps(folder: Path) -> list[int]:
    """The training steps of the run's snapshots."""
    return snapshot_steps(folder)


def stamp(folder: Path, step: int) -> str:
    """A text that changes when the snapshot of this step does: part of a cache key.

    Raises:
        CheckpointError: the snapshot is gone.
    """
    try:
        status = snapshot_path(folder, step).stat()
    except OSError:
        raise CheckpointError(
            f"Step {step:,} of '{folder.name}' is no longer here: the run was deleted or renamed. Choose another one."
        ) from None
    return f"{step}-{status.st_mtime_ns}-{status.st_size}"


def load_snapshot(folder: Path, step: int) -> LoadedModel:
    """The model as it was at this step.

    Raises:
        CheckpointError: the snapshot is gone or damaged.
    """
    return load_model(folder, snapshot=step)


def moment(loaded: LoadedModel, step: int, text: str, path: Sequence[int]) -> Moment:
    """The attention of a snapshot in `text`, with the target ids in `path` given, and its own greedy translation."""
    source = loaded.source.encode(text)
    forced = decode_recorded(loaded.model, source, loaded.target, DecodeConfig(), prefix=path)
    own = decode_recorded(loaded.model, source, loaded.target, DecodeConfig())
    return Moment(step, forced.trace, loaded.target.decode(own.path))


def validation_examples(loaded: LoadedModel) -> list[Example]:
    """Validation sentences of the run's own task, evenly spread; none where they would have to be downloaded."""
    data = loaded.data_config
    own = (loaded.folder / DATA_FILE).is_file()
    if not own and data.task not in MADE_HERE:
        return []
    task = get_task(data.task, split_seed=data.split_seed, data_dir=loaded.folder if own else None)
    examples = task.splits["valid"]
    pairs = encode_pairs(examples, loaded.source, loaded.target)
    limit = min(MAX_TOKENS, loaded.model_config.max_positions)
    fitting = [i for i, (src, tgt) in enumerate(pairs.lengths) if 2 < src <= limit and 1 < tgt <= limit]
    count = min(len(fitting), SENTENCES)
    return [examples[fitting[i * len(fitting) // count]] for i in range(count)]


@torch.inference_mode()
def head_scores(loaded: LoadedModel, step: int, examples: Sequence[Example]) -> HeadScores:
    """Score every head of one snapshot, with the reference target given (teacher forcing)."""
    pairs = encode_pairs(examples, loaded.source, loaded.target)
    batch = collate(pairs, range(len(examples)))
    recorder = AttentionRecorder()
    loaded.model(batch.src, batch.tgt_in, tap=recorder)
    lengths = pairs.lengths
    entropies = {
        kind: np.stack([_normalised_entropy(weights, kind, lengths) for weights in _layers(recorder, kind)])
        for kind in ATTENTION_KINDS
    }
    known = [_fits(example, pairs.sources[i], pairs.targets[i]) for i, example in enumerate(examples)]
    aligned = None
    if known and all(known):
        cross = _layers(recorder, "cross")
        aligned = np.stack([_aligned(weights, examples) for weights in cross])
    return HeadScores(step, entropies, aligned, len(examples))


def _layers(recorder: AttentionRecorder, kind: AttentionKind) -> list[NDArray[np.float32]]:
    """[batch, head, query, key] of each layer."""
    layers = sorted(layer for recorded, layer in recorder.calls if recorded == kind)
    return [recorder.calls[kind, layer][0].float().cpu().numpy() for layer in layers]


def _normalised_entropy(
    weights: NDArray[np.float32], kind: AttentionKind, lengths: Sequence[tuple[int, int]]
) -> Scores:
    """Mean over rows of entropy ÷ ln(visible keys): weights [batch, head, query, key] → [head]."""
    n_src, n_tgt = (np.array(side)[:, None] for side in zip(*lengths, strict=True))  # [batch, 1]
    rows = np.arange(weights.shape[2])[None, :]  # [1, query]
    visible = np.where(rows >= 0, rows + 1 if kind == "decoder" else n_src, 0)  # [batch, query]
    counted = (rows < (n_src if kind == "encoder" else n_tgt)) & (visible > 1)
    share = entropy(weights) / np.log(np.maximum(visible, 2))[:, None, :]  # [batch, head, query]
    mean: Scores = (share * counted[:, None, :]).sum(axis=(0, 2)) / max(int(counted.sum()), 1)
    return mean


def _fits(example: Example, source: Sequence[int], target: Sequence[int]) -> bool:
    """Whether the gold alignment is about these tokens, and not about those of another tokenizer."""
    gold = example.alignment
    if gold is None or len(gold) != len(target):
        return False
    return max((position for row in gold for position in row), default=0) < len(source)


def _aligned(weights: NDArray[np.float32], examples: Sequence[Example]) -> Scores:
    """Mean over target tokens of the weight on their gold source tokens: weights as above → [head].

    Row t predicts target token t.
    """
    total, rows = np.zeros(weights.shape[1]), 0
    for i, example in enumerate(examples):
        for query, positions in enumerate(example.alignment or ()):
            if positions:
                total += weights[i][:, query, list(positions)].sum(axis=-1)
                rows += 1
    return total / max(rows, 1)


def first_head(history: Sequence[HeadScores], kind: AttentionKind) -> tuple[int, int]:
    """Layer and head (from 1) to begin with: the best aligned at the last snapshot, otherwise the most focused."""
    last = history[-1]
    score = last.aligned if kind == "cross" and last.aligned is not None else -last.normalised_entropy[kind]
    layer, head = np.unravel_index(int(score.argmax()), score.shape)
    return int(layer) + 1, int(head) + 1


def score_names(history: Sequence[HeadScores], kind: AttentionKind) -> tuple[ScoreName, ...]:
    """The scores that are known for this kind of attention, the most telling first."""
    known = kind == "cross" and history[0].aligned is not None
    return ("aligned", "normalised_entropy") if known else ("normalised_entropy",)


def scores_by_step(history: Sequence[HeadScores], kind: AttentionKind, score: ScoreName) -> dict[int, Scores]:
    """One score of all heads of a kind, [layer, head], at each snapshot."""
    return {
        at.step: at.aligned if score == "aligned" and at.aligned is not None else at.normalised_entropy[kind]
        for at in history
    }


def score_caption(score: ScoreName, n_sentences: int) -> str:
    """What a score means and what it is a mean over."""
    if score == "aligned":
        return (
            f"The weight on the source tokens aligned with the next target token (alignment score), as a mean over "
            f"{plural(n_sentences, 'validation sentence')} with known alignment. Grey lines are the other heads."
        )
    return (
        f"0 %: every row looks at one token; 100 %: at all tokens equally (entropy over its highest value). A mean "
        f"over {plural(n_sentences, 'validation sentence')}, without rows that see only one token. Grey lines are the "
        f"other heads."
    )
