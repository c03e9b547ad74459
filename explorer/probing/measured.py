"""Measure the heads of a model on a sample, or read the results from the file that shipped models have.

A file belongs to one model and one sample. It stores hashes of the weights and of the tokenized sentences; if either
has changed since, the file is stale and ignored.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import logging
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from explorer.decoding.translator import Translator
from explorer.locale.messages import Later, later
from explorer.probing.corpus_scores import CorpusScores
from explorer.probing.importance import Importance
from explorer.probing.measurement import Gold, KindScores, Probe, SentenceScores, Tally, summarised
from explorer.probing.pattern_shares import BINS
from explorer.probing.reporting import Report, report_sentences, unheard
from explorer.probing.sample import SEEDS, SampleChoice, gather
from model.analysis.bootstrap import Estimate
from model.analysis.importance import Ablation
from model.analysis.recorded_batches import Observed, Sample, observe, untrained_like
from model.checkpoint import LoadedModel
from model.config import AttentionKind
from model.data import Task
from model.embeddings import count_parameters
from model.folder import WEIGHTS

LARGE = 30_000_000  # parameters above which a model is compared with two untrained ones only, and shown in parts
FIRST_PART = 24  # sentences at least
FILE = "heads.npz"
VERSION = 1  # of the measurement; increase it when a formula changes, so that stored results become stale
LARGEST = 64_000_000  # bytes, unpacked
# The last axes of each array, by the last part of its name; every array read from the file is checked against them.
# Older files contain `gradient`, `by_layer` and `similarity`, which nothing reads any more.
LAST_AXES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("own", "estimate", "over_uniform", "loss", "accuracy", "by_mean", "gradient", "by_layer"),
        ("layer", "head"),
    ),
    "similarity": ("each head", "each head"),
    "relative": ("layer", "head", "bin", "bin"),
    **dict.fromkeys(("uniform", "untrained", "untrained_heads", "of_mean"), ()),  # of the sentences, or of the layers
}

Arrays = dict[str, NDArray[Any]]
Size = Annotated[int, Meta(ge=0, le=10**6)]
Sum = Annotated[str, Meta(min_length=64, max_length=64)]


@dataclass(frozen=True, eq=False)
class Measured:
    """A model measured on a sample.

    `about` describes the sample in words; `importance` is None unless it was stored. :func:`read_again` gives the
    sentences as the model reads them.
    """

    sample: Sample
    probe: Probe
    about: Later
    task: Task | None
    importance: Importance | None = None


def seeds_for(loaded: LoadedModel) -> tuple[int, ...]:
    """The seeds of the untrained baseline models; fewer for large models, since each takes as much memory."""
    return SEEDS if count_parameters(loaded.transformer) <= LARGE else SEEDS[:2]


def parts(n: int, *, large: bool) -> list[range]:
    """Divide the indices of `n` sentences, each part evenly spread; a large model begins with a few, then doubles."""
    step = 1
    while large and n >= 2 * step * FIRST_PART:
        step *= 2
    divided = [range(0, n, step)]
    while step > 1:
        divided.append(range(step // 2, n, step))
        step //= 2
    return divided


def measure(
    choice: SampleChoice,
    loaded: LoadedModel,
    report: Report,
    *,
    again: bool = False,
    so_far: Callable[[Measured], None] = lambda _: None,
) -> Measured:
    """Measure the heads of a model on a sample, unless results of this sample are stored (and not `again`).

    A large model is measured in parts; `so_far` receives the results of the first part, then of the first two, and so
    on, except the last.

    Raises:
        SampleError: there is nothing to measure on. Exceptions from `report` propagate.
    """
    report(0.0, later("Gathering sentences"))
    sample, about, task = gather(choice, loaded, report)
    seeds = seeds_for(loaded)
    stored = None if again else load(loaded.folder, sample_hash(sample, seeds))
    if stored is not None:
        return Measured(sample, _annotated(stored.probe, choice, sample), about, task, stored.importance)
    models = [loaded.transformer, *(untrained_like(loaded.transformer, seed) for seed in seeds)]
    tally = Tally()
    indices: list[int] = []
    for part in parts(len(sample), large=len(seeds) < len(SEEDS)):
        if indices:
            so_far(Measured(sample.part(indices), _annotated(tally.result(), choice, sample), about, task))
        indices = sorted([*indices, *part])
        for nth, observed, weights in observe(models, sample.part(part), loaded.source, loaded.target):
            tally.add(part[nth], observed, weights)
            report_sentences(report, later("Measuring"), tally.sentences, len(sample))
    return Measured(sample, _annotated(tally.result(), choice, sample), about, task)


def _annotated(probe: Probe, choice: SampleChoice, sample: Sample) -> Probe:
    """The measurement with the name of its annotation; files do not tell scenes from other links between words."""
    is_scenes = choice.origin == "scenes" and probe.gold == "words"
    return dataclasses.replace(probe, gold="scenes") if is_scenes else probe


def measured_before(choice: SampleChoice, translator: Translator) -> Measured | None:
    """Read the results stored beside a model, if they are of this sample.

    Raises:
        SampleError: there is nothing to measure on.
    """
    loaded = translator.loaded
    if not (loaded.folder / FILE).is_file():
        return None
    sample, about, task = gather(choice, loaded, unheard)
    stored = load(loaded.folder, sample_hash(sample, seeds_for(loaded)))
    return stored and Measured(sample, _annotated(stored.probe, choice, sample), about, task, stored.importance)


def read_again(sample: Sample, loaded: LoadedModel, report: Report) -> tuple[Observed, ...]:
    """Run the model on a sample again and return its recordings in order, since measuring keeps only scores."""
    by_index: dict[int, Observed] = {}
    for index, observed, _ in observe([loaded.transformer], sample, loaded.source, loaded.target):
        by_index[index] = observed
        report_sentences(report, later("Reading"), len(by_index), len(sample))
    return tuple(by_index[i] for i in range(len(sample)))


class About(Struct, omit_defaults=True):
    """The entry `about` of heads.npz, which says what was measured; the other entries are arrays."""

    version: Size
    weights: Sum
    sample: Sum
    sentences: Size
    seeds: Size
    shapes: dict[AttentionKind, tuple[Size, Size]]
    corpus: dict[str, tuple[float, float]]
    gold: str | None = None
    importance: tuple[float, float, float] | None = None


class Stored(NamedTuple):
    """Results read from a file, for the requested model and sample."""

    probe: Probe
    importance: Importance | None


def sample_hash(sample: Sample, seeds: tuple[int, ...]) -> str:
    """Hash everything about a sample that results depend on: ids, right alignments, and seeds of untrained models."""
    digest = hashlib.sha256(json.dumps([VERSION, seeds, sample.targets, sample.alignments]).encode())
    for source, gold in zip(sample.sources, sample.links, strict=True):
        digest.update(json.dumps([source.ids, source.words]).encode())
        for part in () if gold is None else (gold.sure, gold.possible, gold.sources, gold.targets):
            digest.update(repr(part.shape).encode() + np.packbits(part).tobytes())
    return digest.hexdigest()


def weights_hash(folder: Path) -> str:
    """Hash the weights in a model's folder."""
    return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()


def save(folder: Path, probe: Probe, importance: Importance | None, sample: str) -> Path:
    """Write the results beside the weights; `sample` is the hash of the sample."""
    arrays: Arrays = {}
    for kind, measured in probe.kinds.items():
        arrays[f"{kind}/relative"] = measured.relative.astype(np.float32)
        for name, item in measured.single.items():
            for part, values in vars(item).items():
                arrays[f"{kind}/scores/{name}/{part}"] = values.round(5).astype(np.float32)
        for name, whole in measured.corpus.items():
            for part in ("estimate", "over_uniform", "of_mean"):
                arrays[f"{kind}/corpus/{name}/{part}"] = _joined(getattr(whole, part))
            arrays[f"{kind}/corpus/{name}/untrained"] = np.stack([whole.untrained, whole.untrained_std])
    about = About(
        version=VERSION,
        weights=weights_hash(folder),
        sample=sample,
        sentences=probe.sentences,
        seeds=probe.seeds,
        gold="words" if probe.gold == "scenes" else probe.gold,
        shapes={kind: (item.n_layers, item.n_heads) for kind, item in probe.kinds.items()},
        corpus={
            name: (item.uniform, item.sentences)
            for name, item in (probe.kinds["cross"].corpus if "cross" in probe.kinds else {}).items()
        },
    )
    if importance is not None:
        ablation = importance.ablation
        about.importance = ablation.loss, ablation.accuracy, importance.sentences
        for kind in probe.kinds:
            arrays[f"{kind}/importance/loss"] = _joined(ablation.loss_interval[kind])
            arrays[f"{kind}/importance/accuracy"] = _joined(ablation.accuracy_interval[kind])
            if importance.by_mean is not None:
                arrays[f"{kind}/importance/by_mean"] = _joined(importance.by_mean[kind])
    file = io.BytesIO()
    np.savez_compressed(file, about=np.frombuffer(msgspec.json.encode(about), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
    path = folder / FILE
    path.write_bytes(file.getvalue())
    return path


def load(folder: Path, sample: str) -> Stored | None:
    """Read the results in a model's folder, if they are of these weights and this sample.

    A damaged file is logged and ignored, so that the heads are measured again.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
                return None
        with np.load(path, allow_pickle=False) as file:
            about = msgspec.json.decode(bytes(file["about"]), type=About)
            if (about.version, about.sample) != (VERSION, sample) or about.weights != weights_hash(folder):
                return None
            arrays = {name: file[name] for name in file.files if name != "about"}
            return _stored(about, arrays) if _fit(about, arrays) else None
    except Exception as fault:  # zipfile, numpy and msgspec raise a dozen types for truncated or damaged files
        logging.getLogger("headlight").warning("%s is not used: %s: %s", path, type(fault).__name__, fault)
        return None


def _fit(about: About, arrays: Arrays) -> bool:
    """Whether all arrays are floating-point and have the expected last axes."""
    for name, values in arrays.items():
        kind, *_, part = name.split("/")
        layers, heads = about.shapes[cast(AttentionKind, kind)]
        sizes = {"layer": layers, "head": heads, "each head": layers * heads, "bin": BINS}
        if values.dtype.kind != "f" or part not in LAST_AXES:
            return False
        ends = tuple(sizes[axis] for axis in LAST_AXES[part])
        if ends and values.shape[-len(ends) :] != ends:
            return False
    return True


def _stored(about: About, arrays: Arrays) -> Stored:
    kinds: dict[AttentionKind, KindScores] = {}
    for kind in about.shapes:
        single = {
            name: SentenceScores(**{part: values.astype(np.float64) for part, values in parts.items()})
            for name, parts in _grouped(arrays, f"{kind}/scores/").items()
        }
        corpus = {
            name: CorpusScores(
                estimate=_estimate(parts["estimate"]),
                over_uniform=_estimate(parts["over_uniform"]),
                of_mean=_estimate(parts["of_mean"]),
                uniform=about.corpus[name][0],
                untrained=parts["untrained"][0],
                untrained_std=parts["untrained"][1],
                sentences=int(about.corpus[name][1]),
            )
            for name, parts in _grouped(arrays, f"{kind}/corpus/").items()
        }
        relative = arrays[f"{kind}/relative"].astype(np.float64)
        kinds[kind] = KindScores(kind, *about.shapes[kind], summarised(single), single, relative, corpus)
    probe = Probe(kinds, about.sentences, about.seeds, cast(Gold, about.gold or ""))
    if about.importance is None:
        return Stored(probe, None)
    loss, accuracy, sentences = about.importance
    by_name = {
        name: {kind: _estimate(arrays[key]) for kind in about.shapes if (key := f"{kind}/importance/{name}") in arrays}
        for name in ("loss", "accuracy", "by_mean")
    }
    ablation = Ablation(loss, accuracy, by_name["loss"], by_name["accuracy"])
    return Stored(probe, Importance(ablation, int(sentences), by_name["by_mean"] or None))


def _grouped(arrays: Arrays, prefix: str) -> dict[str, Arrays]:
    """Group the arrays under a prefix by the next part of their names."""
    groups: dict[str, Arrays] = {}
    for name, values in arrays.items():
        if name.startswith(prefix):
            group, part = name.removeprefix(prefix).split("/")
            groups.setdefault(group, {})[part] = values
    return groups


def _joined(item: Estimate) -> NDArray[np.float64]:
    return np.stack([item.value, item.low, item.high])


def _estimate(values: NDArray[Any]) -> Estimate:
    value, low, high = values.astype(np.float64)
    return Estimate(value, low, high)
