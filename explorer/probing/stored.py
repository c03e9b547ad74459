"""Measured heads as a file beside the weights: the shipped models come with their results.

A file belongs to one model and one sample. It says which by hashes of the weights and of the sentences as the model
reads them; where either has changed since, the file is stale and never shown.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from explorer.decoding.array_file import UNREADABLE
from explorer.probing.corpus_scores import CorpusScores
from explorer.probing.head_scores import SentenceScores, summarised
from explorer.probing.importance import Importance
from explorer.probing.measurement import KindScores, Probe
from explorer.probing.relative_maps import BINS
from model.analysis.bootstrap import Estimate
from model.analysis.importance import Ablation
from model.analysis.recorded_batches import Sample
from model.config import ATTENTION_KINDS, AttentionKind
from model.folder import WEIGHTS

FILE = "heads.npz"
VERSION = 1  # of the measurement: raise it when a formula changes, so that stored results are measured again
LARGEST = 64_000_000  # bytes, unpacked
# The last axes of each array, by the last part of its name: all that is read from the file is checked against them.
LAST_AXES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("own", "estimate", "over_uniform", "loss", "accuracy", "gradient", "by_layer"),
        ("layer", "head"),
    ),
    "similarity": ("each head", "each head"),
    "relative": ("layer", "head", "bin", "bin"),
    **dict.fromkeys(("uniform", "untrained", "untrained_heads", "of_mean"), ()),  # of the sentences, or of the layers
}

Arrays = dict[str, NDArray[Any]]


Size = Annotated[int, Meta(ge=0, le=10**6)]
Sum = Annotated[str, Meta(min_length=64, max_length=64)]


class About(Struct):
    """The entry `about` of heads.npz: what was measured. The other entries are arrays with a place for each head."""

    version: Size
    weights: Sum
    sample: Sum
    sentences: Size
    seeds: Size
    shapes: dict[AttentionKind, tuple[Size, Size]]
    corpus: dict[str, tuple[float, float]]
    gold: str | None = None
    importance: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class Stored:
    """Results from a file, for the model and the sample that were asked for."""

    probe: Probe
    importance: Importance | None


def sample_hash(sample: Sample, seeds: tuple[int, ...]) -> str:
    """A hash of everything about a sample that results depend on: ids, right alignments, and untrained models."""
    digest = hashlib.sha256(json.dumps([VERSION, seeds, sample.targets, sample.alignments]).encode())
    for source, gold in zip(sample.sources, sample.links, strict=True):
        digest.update(json.dumps([source.ids, source.words]).encode())
        for part in () if gold is None else (gold.sure, gold.possible, gold.sources, gold.targets):
            digest.update(repr(part.shape).encode() + np.packbits(part).tobytes())
    return digest.hexdigest()


def weights_hash(folder: Path) -> str:
    """A hash of the weights in a model's folder."""
    return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()


def save(folder: Path, probe: Probe, importance: Importance | None, sample: str) -> Path:
    """Write the results beside the weights; `sample` is the hash of the sample."""
    arrays: Arrays = {}
    for kind, measured in probe.kinds.items():
        arrays[f"{kind}/similarity"] = measured.similarity.astype(np.float32)
        arrays[f"{kind}/relative"] = measured.relative.astype(np.float32)
        for name, item in measured.single.items():
            for part in ("own", "uniform", "untrained", "untrained_heads"):
                arrays[f"{kind}/scores/{name}/{part}"] = getattr(item, part).round(5).astype(np.float32)
        for name, whole in measured.corpus.items():
            for part in ("estimate", "over_uniform", "of_mean"):
                arrays[f"{kind}/corpus/{name}/{part}"] = _joined(getattr(whole, part))
            arrays[f"{kind}/corpus/{name}/untrained"] = np.stack([whole.untrained, whole.untrained_std])
    about: dict[str, Any] = {
        "version": VERSION,
        "weights": weights_hash(folder),
        "sample": sample,
        "sentences": probe.sentences,
        "seeds": probe.seeds,
        "gold": probe.gold,
        "shapes": {kind: [item.n_layers, item.n_heads] for kind, item in probe.kinds.items()},
        "corpus": {name: [item.uniform, item.sentences] for name, item in probe.kinds["cross"].corpus.items()},
    }
    if importance is not None:
        about["importance"] = [importance.ablation.loss, importance.ablation.accuracy, importance.sentences]
        for kind in ATTENTION_KINDS:
            arrays[f"{kind}/importance/loss"] = _joined(importance.ablation.loss_interval[kind])
            arrays[f"{kind}/importance/accuracy"] = _joined(importance.ablation.accuracy_interval[kind])
            arrays[f"{kind}/importance/gradient"] = importance.gradient[kind]
            arrays[f"{kind}/importance/by_layer"] = importance.by_layer[kind]
    file = io.BytesIO()
    np.savez_compressed(file, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
    path = folder / FILE
    path.write_bytes(file.getvalue())
    return path


def load(folder: Path, sample: str) -> Stored | None:
    """The results in a model's folder, if there are any and they are of these weights and this sample.

    A file that is damaged or of another version counts as none: the heads are measured again.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
                return None
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(bytes(file["about"]).decode())
            msgspec.convert(about, About)
            if (about["version"], about["sample"]) != (VERSION, sample) or about["weights"] != weights_hash(folder):
                return None
            arrays = {name: file[name] for name in file.files if name != "about"}
            return _stored(about, arrays) if _fit(about, arrays) else None
    except UNREADABLE:
        return None
    except msgspec.ValidationError:
        return None


def _fit(about: Mapping[str, Any], arrays: Arrays) -> bool:
    """Whether all arrays hold real numbers, with a place for each head where they speak of heads."""
    for name, values in arrays.items():
        kind, *_, part = name.split("/")
        layers, heads = about["shapes"][kind]
        sizes = {"layer": layers, "head": heads, "each head": layers * heads, "bin": BINS}
        if values.dtype.kind != "f" or part not in LAST_AXES:
            return False
        ends = tuple(sizes[axis] for axis in LAST_AXES[part])
        if ends and values.shape[-len(ends) :] != ends:
            return False
    return True


def _stored(about: Mapping[str, Any], arrays: Arrays) -> Stored:
    kinds: dict[AttentionKind, KindScores] = {}
    for kind in ATTENTION_KINDS:
        n_layers, n_heads = about["shapes"][kind]
        single = {
            name: SentenceScores(**{part: values.astype(np.float64) for part, values in parts.items()})
            for name, parts in _grouped(arrays, f"{kind}/scores/")
        }
        corpus = {
            name: CorpusScores(
                estimate=_estimate(parts["estimate"]),
                over_uniform=_estimate(parts["over_uniform"]),
                of_mean=_estimate(parts["of_mean"]),
                uniform=float(about["corpus"][name][0]),
                untrained=parts["untrained"][0],
                untrained_std=parts["untrained"][1],
                sentences=int(about["corpus"][name][1]),
            )
            for name, parts in _grouped(arrays, f"{kind}/corpus/")
        }
        kinds[kind] = KindScores(
            kind,
            int(n_layers),
            int(n_heads),
            summarised(single),
            arrays[f"{kind}/similarity"].astype(np.float64),
            single,
            arrays[f"{kind}/relative"].astype(np.float64),
            corpus,
        )
    probe = Probe(kinds, int(about["sentences"]), int(about["seeds"]), about["gold"])
    return Stored(probe, _importance(about["importance"], arrays) if "importance" in about else None)


def _importance(about: list[float], arrays: Arrays) -> Importance:
    loss, accuracy, sentences = about
    intervals = (
        {kind: _estimate(arrays[f"{kind}/importance/{name}"]) for kind in ATTENTION_KINDS}
        for name in ("loss", "accuracy")
    )
    gradient, by_layer = (
        {kind: arrays[f"{kind}/importance/{name}"] for kind in ATTENTION_KINDS} for name in ("gradient", "by_layer")
    )
    return Importance(Ablation(loss, accuracy, *intervals), gradient, by_layer, int(sentences))


def _grouped(arrays: Arrays, prefix: str) -> Iterator[tuple[str, Arrays]]:
    """The arrays under a prefix by the next part of their names."""
    groups: dict[str, Arrays] = {}
    for name, values in arrays.items():
        if name.startswith(prefix):
            group, part = name.removeprefix(prefix).split("/")
            groups.setdefault(group, {})[part] = values
    yield from groups.items()


def _joined(item: Estimate) -> NDArray[np.float64]:
    return np.stack([item.value, item.low, item.high])


def _estimate(values: NDArray[Any]) -> Estimate:
    value, low, high = values.astype(np.float64)
    return Estimate(value, low, high)
