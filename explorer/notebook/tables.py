"""What Probe measures, as tables for a notebook: `probe`, `importance` and `patch`, which call the page's functions.

A table is a pandas DataFrame with a row for each number: its score, the ends of its 95 % interval over sentences, the
baseline beside it, and the number of sentences or pairs. One sentence alone has no interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from explorer.decoding.translator import Translator
from explorer.probing.importance import measure_importance
from explorer.probing.measured import measure
from explorer.probing.patching import ChangedPair, changed_pairs, mean_patches, pair_of
from explorer.probing.reporting import Report, unheard
from explorer.probing.sample import MAX_SENTENCES, SampleChoice, SampleError, gather, is_alignment
from explorer.probing.tables import number_rows, roles
from model.analysis.patching import PatchError
from model.checkpoint import LoadedModel
from model.config import EOS, SOS, DecodeConfig
from model.notebook import LoadedTranslator, load

Model = str | Path | LoadedModel | LoadedTranslator
Pair = str | Sequence[str]
_NAMES = {
    "mean": "score",
    "mean, low": "low",
    "mean, high": "high",
    "uniform": "baseline",
    "untrained": "baseline, untrained",
    "sentences": "n",
}


def probe(model: Model, pairs: Iterable[Pair], *, report: Report = unheard) -> pd.DataFrame:
    """Measure every head of a model on sentence pairs: a row for each head and score, with its role.

    `model`: a name in the folder of models, the path of a model's folder, or a loaded model. `pairs`: up to 1,000
    sources, or sources with their translations and, if known, the alignment of their words ("0-0 1-2"). Without a
    translation, the model's own is read. `baseline` is uniform attention on the same rows, `baseline, untrained` the
    mean of untrained models of the same shape; the differences to both have their intervals. `report` is called with
    the share of the work done and a label.

    Raises:
        CheckpointError: there is no such model. SampleError: a pair cannot be used, or the model can read none.
    """
    loaded = _loaded(model)
    probed = measure(_choice(pairs), loaded, report).probe
    names = {(kind, layer + 1, head + 1): role.name for (kind, layer, head), role in roles(probed).items()}
    rows = [
        {_NAMES.get(name, name): value for name, value in row.items()}
        | {"role": names[row["kind"], row["layer"], row["head"]]}
        for row in number_rows(probed)
    ]
    return _table(rows)


def importance(model: Model, pairs: Iterable[Pair], *, report: Report = unheard) -> pd.DataFrame:
    """Measure how much the loss changes without each head, on at most 100 of the pairs: a row for each head.

    `score` is the change in nats per target token; `baseline` is its mean over the other heads of the same kind;
    `by mean` is the change with the head's mean output in place of zero. Arguments and errors as :func:`probe`.
    """
    loaded = _loaded(model)
    sample, _, _ = gather(_choice(pairs), loaded, report)
    measured = measure_importance(loaded, sample, report)
    rows = []
    for kind, layer, head in reversed(measured.least_first()):
        estimate = measured.ablation.loss_interval[kind]
        score, low, high = estimate.at(layer, head)
        others = estimate.value.size - 1
        rows.append(
            {
                "kind": kind,
                "layer": layer + 1,
                "head": head + 1,
                "score": score,
                "low": low,
                "high": high,
                "baseline": (float(estimate.value.sum()) - score) / others if others else float("nan"),
                "by mean": float(measured.by_mean[kind].value[layer, head]) if measured.by_mean else float("nan"),
                "n": measured.sentences,
            }
        )
    return _table(rows)


def patch(model: Model, pairs: Iterable[Pair], *, report: Report = unheard) -> pd.DataFrame:
    """Put vectors and head outputs of one sentence into another: a row for each layer and place, and for each head.

    `pairs`: sentences with a changed sentence of equally many tokens each; or sentences alone, in up to 50 of which one
    token is replaced by a similar one. Only pairs that get another answer count. `score` is the share of the difference
    that the patch carries over, a mean over pairs; `baseline` is the mean over all places or heads of the same kind.

    Raises:
        PatchError: two sentences differ in length, or no pair gets another answer. Others as :func:`probe`.
    """
    loaded, given = _loaded(model), [(pair,) if isinstance(pair, str) else tuple(pair) for pair in pairs]
    if all(len(pair) == 1 for pair in given):
        choice = SampleChoice("own", tuple(_one_line(text) for (text,) in given), MAX_SENTENCES, translated=True)
        changed = changed_pairs(loaded, gather(choice, loaded, report)[0], report)
    else:
        changed = [found for pair in given if (found := _given_pair(loaded, *pair)) is not None]
    rows = mean_patches(loaded, changed, report).rows()
    return _table(
        [{{"effect": "score", "pairs": "n"}.get(name, name): value for name, value in row.items()} for row in rows]
    )


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    ends = [name for name in table.columns if name.rpartition(", ")[2] in ("low", "high")]
    table.loc[table["n"] < 2, ends] = float("nan")
    return table


def _given_pair(loaded: LoadedModel, *texts: str) -> ChangedPair | None:
    if len(texts) != 2:
        raise PatchError("Give each sentence with the changed one, or all sentences alone.")
    translation = Translator(loaded).translate(texts[0], DecodeConfig())
    src, other = (*translation.source.ids, EOS), (*loaded.source.encode(texts[1]).ids, EOS)
    if len(src) != len(other):
        raise PatchError(
            "'{sentence}' and '{changed}' have {tokens} and {other} tokens, not as many.",
            sentence=texts[0],
            changed=texts[1],
            tokens=len(src) - 1,
            other=len(other) - 1,
        )
    return pair_of(loaded, src, [other], (SOS, *translation.path[translation.n_prompt : -1]))


def _loaded(model: Model) -> LoadedModel:
    if isinstance(model, str | Path):
        model = load(model)
    return model.loaded if isinstance(model, LoadedTranslator) else model


def _choice(pairs: Iterable[Pair]) -> SampleChoice:
    """The pairs as a user's own list of sentences."""
    lines = tuple(_line(pair) for pair in pairs)
    if not lines:
        raise SampleError("There are no sentences.")
    if len(lines) > MAX_SENTENCES:
        raise SampleError(
            "There are {lines:,} sentences; at most {max_sentences:,} are measured.",
            lines=len(lines),
            max_sentences=MAX_SENTENCES,
        )
    return SampleChoice("own", lines, len(lines))


def _line(pair: Pair) -> str:
    parts = [pair] if isinstance(pair, str) else list(pair)
    if not 1 <= len(parts) <= 3 or not all(isinstance(part, str) for part in parts):
        raise SampleError("A pair is a source, a translation if known, and their alignment if known, all of them text.")
    if len(parts) == 3 and parts[2] and not is_alignment(parts[2]):
        raise SampleError("'{links}' is not an alignment such as 0-0 1-2.", links=parts[2][:60])
    return "\t".join(map(_one_line, parts))


def _one_line(text: str) -> str:
    return " ".join(text.split())
