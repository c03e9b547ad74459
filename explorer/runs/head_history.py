"""Follow how heads form: attention in one sentence, and scores of all heads, at each snapshot of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import entropy
from explorer.locale.messages import t
from explorer.runs.wrong_answers import validation_task
from model.analysis.recorded_batches import Sample, observe, written_sample
from model.checkpoint import LoadedModel, load_model, snapshot_path
from model.config import ATTENTION_KINDS, AttentionKind, DecodeConfig
from model.data.task import Alignment, DataError
from model.decoding.decode import decode_recorded
from model.folder import CheckpointError
from model.scoring import evenly_spaced
from model.trace import VISIBLE, AttentionTrace

SENTENCES = 32  # validation sentences behind the scores of heads
MAX_TOKENS = 40  # longer sentences are left out

Scores = NDArray[np.float64]
ScoreName = Literal["aligned", "normalised_entropy"]


@dataclass(frozen=True, eq=False)
class Moment:
    """A sentence at one snapshot: the attention along a fixed target, and the snapshot's own translation."""

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


def stamp(folder: Path, step: int) -> str:
    """A text that changes when the snapshot of this step changes, for cache keys.

    Raises:
        CheckpointError: the snapshot no longer exists.
    """
    try:
        status = snapshot_path(folder, step).stat()
    except OSError:
        raise CheckpointError(
            "Step {step:,} of “{name}” is no longer here: the run was deleted or renamed. Choose another one.",
            step=step,
            name=folder.name,
        ) from None
    return f"{step}-{status.st_mtime_ns}-{status.st_size}"


def load_snapshot(folder: Path, step: int) -> LoadedModel:
    """Load the model as it was at this step.

    Raises:
        CheckpointError: the snapshot no longer exists, or is damaged.
    """
    return load_model(folder, snapshot=step)


def moment(loaded: LoadedModel, step: int, text: str, path: Sequence[int]) -> Moment:
    """Record the attention of a snapshot in `text` along the target ids in `path`, and its own greedy translation."""
    source = loaded.source.encode(text)
    forced = decode_recorded(loaded.model, source, loaded.target, DecodeConfig(), prefix=path)
    own = decode_recorded(loaded.model, source, loaded.target, DecodeConfig())
    return Moment(step, forced.trace, loaded.target.decode(own.path))


def validation_sample(loaded: LoadedModel) -> Sample | None:
    """Sample the validation sentences of the run's own task, evenly spread; None if they are not on this machine."""
    try:
        task = validation_task(loaded)
    except DataError:
        return None
    longest = min(MAX_TOKENS, loaded.model_config.max_positions)
    sample = written_sample(task.splits["valid"], loaded.source, loaded.target, longest)
    fitting = [i for i, (src, _) in enumerate(sample.pairs.lengths) if src > 2]
    return sample.part([fitting[i] for i in evenly_spaced(len(fitting), SENTENCES)]) if fitting else None


def head_scores(loaded: LoadedModel, step: int, sample: Sample) -> HeadScores:
    """Score every head of one snapshot, with the reference target given (teacher forcing).

    Raises:
        CheckpointError: the model is not a Transformer.
    """
    entropies: dict[AttentionKind, Scores] = {}
    rows: dict[AttentionKind, int] = dict.fromkeys(ATTENTION_KINDS, 0)
    aligned: Scores | float | None = 0.0
    n_aligned = 0
    for _, observed, weights in observe([loaded.transformer], sample, loaded.source, loaded.target):
        for kind in ATTENTION_KINDS:
            own = weights[kind][0]  # [layer, head, query, key]
            visible = (observed.trace.mask(kind) == VISIBLE).sum(axis=-1)  # [query]
            has_choice = visible > 1
            share = entropy(own)[..., has_choice] / np.log(visible[has_choice])
            entropies[kind] = entropies.get(kind, 0.0) + share.sum(axis=-1)
            rows[kind] += int(has_choice.sum())
        gold = _fitting(observed.alignment, len(observed.src_ids))
        aligned = None if gold is None or aligned is None else aligned + _on_gold(weights["cross"][0], gold)
        n_aligned += sum(map(bool, gold or ()))
    means = {kind: total / max(rows[kind], 1) for kind, total in entropies.items()}
    return HeadScores(step, means, None if aligned is None else np.asarray(aligned / max(n_aligned, 1)), len(sample))


def _fitting(gold: Alignment | None, n_src: int) -> Alignment | None:
    """The gold alignment, unless it refers to tokens of another tokenizer."""
    return gold if max((position for row in gold or () for position in row), default=0) < n_src - 1 else None


def _on_gold(weights: NDArray[np.float32], gold: Alignment) -> Scores:
    """The weight on the gold source tokens, summed over the rows that have some: [layer, head].

    Row t predicts target token t.
    """
    total: Scores = sum(
        (weights[:, :, row, list(places)].sum(axis=-1, dtype=np.float64) for row, places in enumerate(gold) if places),
        np.zeros(weights.shape[:2]),
    )
    return total


def first_head(history: Sequence[HeadScores], kind: AttentionKind) -> tuple[int, int]:
    """Layer and head (from 1) to show first: the best aligned at the last snapshot, otherwise the most focused."""
    last = history[-1]
    score = last.aligned if kind == "cross" and last.aligned is not None else -last.normalised_entropy[kind]
    layer, head = np.unravel_index(int(score.argmax()), score.shape)
    return int(layer) + 1, int(head) + 1


def score_names(history: Sequence[HeadScores], kind: AttentionKind) -> tuple[ScoreName, ...]:
    """The scores that are known for this kind of attention, the most informative first."""
    has_alignment = kind == "cross" and history[0].aligned is not None
    return ("aligned", "normalised_entropy") if has_alignment else ("normalised_entropy",)


def scores_by_step(history: Sequence[HeadScores], kind: AttentionKind, score: ScoreName) -> dict[int, Scores]:
    """One score of all heads of a kind, [layer, head], at each snapshot."""
    return {
        scores.step: scores.aligned
        if score == "aligned" and scores.aligned is not None
        else scores.normalised_entropy[kind]
        for scores in history
    }


def score_caption(score: ScoreName, n_sentences: int) -> str:
    """Explain what a score means and what it is averaged over."""
    if score == "aligned":
        return t(
            "The weight on the source tokens aligned with the next target token (alignment score), as a mean over {n} "
            "validation sentence with known alignment. Grey lines are the other heads.",
            "The weight on the source tokens aligned with the next target token (alignment score), as a mean over "
            "{n:,} validation sentences with known alignment. Grey lines are the other heads.",
            n=n_sentences,
        )
    return t(
        "0 %: every row looks at one token; 100 %: at all tokens equally (entropy over its highest value). A mean over "
        "{n} validation sentence, without rows that see only one token. Grey lines are the other heads.",
        "0 %: every row looks at one token; 100 %: at all tokens equally (entropy over its highest value). A mean over "
        "{n:,} validation sentences, without rows that see only one token. Grey lines are the other heads.",
        n=n_sentences,
    )
