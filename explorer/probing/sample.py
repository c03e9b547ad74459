"""The sentences that the heads of a model are measured on, and the measurement itself, with progress reports."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.locale.text import plural
from explorer.probing import stored
from explorer.probing.aligned_sample import align
from explorer.probing.importance import Importance
from explorer.probing.measurement import Probe, Tally
from explorer.probing.reporting import Report, unheard
from explorer.probing.word_alignment import is_alignment, word_links
from model.analysis.recorded_batches import (
    Observed,
    Sample,
    gold_alignment,
    observe,
    translated_sample,
    untrained_like,
    written_sample,
)
from model.analysis.word_alignment import word_gold
from model.checkpoint import LoadedModel
from model.config import DataConfig
from model.data import TASKS, DataError, Example, Task, get_task
from model.data.multi30k import MULTI30K_TASKS
from model.data.scenes import examples as scene_examples
from model.data.task import IMPORTED, MissingCorpusError
from model.embeddings import count_parameters
from model.scoring import evenly_spaced
from model.user_error import UserError

SENTENCES, MAX_SENTENCES = 200, 1000  # by default, and at most
SEEDS = (1, 2, 3, 4, 5)  # of the untrained models that serve as a baseline
LARGE = 30_000_000  # parameters
MAX_CHARACTERS = 400_000  # of a user's own list

Origin = Literal["task", "own", "scenes"]


class SampleError(UserError):
    """There are no sentences to measure on; the message says why and what to do."""


@dataclass(frozen=True)
class SampleChoice:
    """The user's choice of sentences: the task's test set, a list of their own, or the scenes that ship with Headlight.

    `lines`: the user's own list, one sentence per line, with its translation after a tab where known, and after another
    tab the alignment of their words ("0-0 1-2"). `translated`:
    read each sentence with the model's own translation instead of the reference. `aligned`: where no right alignment is
    known, align the words statistically (see :mod:`explorer.probing.aligned_sample`).
    """

    origin: Origin = "task"
    lines: tuple[str, ...] = ()
    size: int = SENTENCES
    translated: bool = False
    aligned: bool = False

    @property
    def key(self) -> str:
        """A short hash, equal for equal choices."""
        parts = [self.origin, self.lines, self.size, self.translated, self.aligned, SEEDS]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Measured:
    """A model measured on a sample.

    `observed` are the sentences in the order of the sample, empty where stored results were taken (see
    :func:`observe_again`); `about` describes the sample in words; `importance` is known where it was stored, too.
    """

    model: str
    choice: SampleChoice
    sample: Sample
    observed: tuple[Observed, ...]
    probe: Probe
    about: str
    task: Task | None
    importance: Importance | None = None


def lines_of(text: str) -> tuple[str, ...]:
    """The sentences of a text, one per line; empty lines are left out.

    Raises:
        SampleError: there are none, or far too many.
    """
    if len(text) > MAX_CHARACTERS:
        raise SampleError(f"The list has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read.")
    lines = tuple(line.strip() for line in text.replace("\r\n", "\n").split("\n") if line.strip())
    if not lines:
        raise SampleError("The list is empty: enter one sentence per line.")
    return lines[:MAX_SENTENCES]


def lines_of_file(content: bytes) -> tuple[str, ...]:
    """The sentences of an uploaded text file.

    Raises:
        SampleError: it is not UTF-8 text, or it is empty.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SampleError("The file is not UTF-8 text; save it as UTF-8, one sentence per line.") from None
    if "\0" in text:
        raise SampleError("The file is not text; it needs one sentence per line.")
    return lines_of(text)


def task_of(loaded: LoadedModel) -> Task | None:
    """The task that a model was trained on; None where it is unknown."""
    name, data = loaded.data_config.task, loaded.data_config
    if name not in TASKS and name != "files":
        return None
    folder = loaded.folder if name == "files" else None
    return get_task(name, split_seed=data.split_seed, data_dir=folder)


def examples_for(choice: SampleChoice, loaded: LoadedModel) -> tuple[list[Example], str, Task | None]:
    """The sentence pairs of a choice (with an empty target where there is no reference), a description, and their task.

    Raises:
        SampleError: there are no sentences.
    """
    if choice.origin == "own":
        own = [_own_example(line) for line in choice.lines]
        return [own[i] for i in evenly_spaced(len(own), min(choice.size, MAX_SENTENCES))], "your own sentences", None
    if choice.origin == "scenes":
        return _scenes(choice, loaded)
    try:
        task = task_of(loaded)
        splits = task.splits if task is not None else {}
    except MissingCorpusError as missing:
        raise SampleError(f"{missing} Or enter sentences of your own.") from missing
    except DataError as missing:
        raise SampleError(f"The sentences that this model was tested on cannot be read: {missing}") from missing
    split = next((name for name in ("test", "valid") if splits.get(name)), None)
    if task is None or split is None:
        raise SampleError("The data that this model was trained on are not known here; enter sentences of your own.")
    examples = splits[split]
    chosen = [examples[i] for i in evenly_spaced(len(examples), min(choice.size, MAX_SENTENCES))]
    noun = "test sentence" if split == "test" else "validation sentence"
    return chosen, f"{len(chosen)} of {plural(len(examples), noun)} of {task.name}, evenly spread", task


def default_choice(config: DataConfig) -> SampleChoice:
    """What a model is measured on unless somebody chooses: the scenes where it translates between their languages."""
    return SampleChoice("scenes" if reads_scenes(config) else "task")


def reads_scenes(config: DataConfig) -> bool:
    """Whether the scenes are in the languages of a model, and descriptions are what it translates."""
    translates_them = config.task in MULTI30K_TASKS or config.task == IMPORTED
    return translates_them and {config.src_lang, config.tgt_lang} == {"en", "de"}


def _scenes(choice: SampleChoice, loaded: LoadedModel) -> tuple[list[Example], str, Task | None]:
    """Pairs of our own with their links, in the model's direction."""
    if not reads_scenes(loaded.data_config):
        raise SampleError("The scenes are English and German descriptions, which this model does not translate.")
    everything = scene_examples(loaded.data_config.src_lang)
    chosen = [everything[i] for i in evenly_spaced(len(everything), min(choice.size, MAX_SENTENCES))]
    about = f"{len(chosen)} of {plural(len(everything), 'aligned scene')} of Headlight's own, evenly spread"
    return chosen, about, None


def _own_example(line: str) -> Example:
    """A line of a user's own list: a sentence, its translation, and the alignment of their words, after tabs."""
    source, *rest = (part.strip() for part in line.split("\t", 1))
    target, _, pairs = rest[0].rpartition("\t") if rest else ("", "", "")
    if not target.strip() or not is_alignment(pairs):
        return Example(source, rest[0] if rest else "")
    target = target.strip()
    return Example(source, target, links=word_links(pairs, source, target))


def gather(choice: SampleChoice, loaded: LoadedModel, report: Report) -> tuple[Sample, str, Task | None]:
    """The sample of a choice: with reference translations if all are known and wanted, otherwise with the model's own.

    Raises:
        SampleError: there is no sentence that the model can read.
    """
    examples, about, task = examples_for(choice, loaded)
    written = not choice.translated and all(example.target for example in examples)
    if written:
        sample = written_sample(examples, loaded.source, loaded.target, loaded.model_config.max_positions)
    else:
        calls = 0

        def check() -> None:
            nonlocal calls
            calls += 1
            report(1 - 0.9**calls, f"Translating {plural(len(examples), 'sentence')}")

        sample = translated_sample(
            loaded.transformer,
            [example.source for example in examples],
            loaded.source,
            references=[example.target or None for example in examples],
            check=check,
        )
        sample = _with_alignments(sample, examples, loaded)
    if not len(sample):
        raise SampleError(
            f"The model can read none of the {plural(len(examples), 'sentence')}: each is empty or too long for it."
            if len(examples) > 1
            else "The model cannot read this sentence: it is empty or too long for it."
        )
    method = "read with their reference translations" if written else "read with the model's own translations"
    left_out = f"; {sample.left_out} empty or too long left out" if sample.left_out else ""
    said = ""
    if choice.aligned:
        sample, said = align(sample, loaded, task or _known_task(loaded), report)
    return sample, f"{about}, {method}{left_out}{said and f'. {said[:-1]}'}", task


def _known_task(loaded: LoadedModel) -> Task | None:
    """The task of a model, or None where it cannot be read."""
    try:
        return task_of(loaded)
    except DataError:
        return None


def _with_alignments(sample: Sample, examples: Sequence[Example], loaded: LoadedModel) -> Sample:
    """The sample with known alignments: those of the references apply where the model's translation is identical."""
    known = {}
    for example in examples:
        source, target = loaded.source.encode(example.source), loaded.target.encode(example.target)
        links = None if example.links is None else word_gold(example.links, source, target)
        known[source.ids, target.ids] = gold_alignment(example, source, target), links
    pairs = zip((source.ids for source in sample.sources), sample.targets, strict=True)
    gold = [known.get(pair, (None, None)) for pair in pairs]
    return dataclasses.replace(
        sample,
        alignments=tuple(alignment for alignment, _ in gold),
        links=tuple(links for _, links in gold),
    )


def seeds_for(loaded: LoadedModel) -> tuple[int, ...]:
    """The seeds of the untrained models beside a model; each takes the model's memory again."""
    return SEEDS if count_parameters(loaded.transformer) <= LARGE else SEEDS[:2]


def measure(choice: SampleChoice, loaded: LoadedModel, report: Report) -> Measured:
    """The heads of a model on a sample: results stored beside the model if they are of this sample, else measured.

    Raises:
        SampleError: there is nothing to measure on. Exceptions from `report` propagate.
    """
    report(0.0, "Gathering sentences")
    gathered = gather(choice, loaded, report)
    return _from_file(choice, loaded, *gathered) or _measured(choice, loaded, report, *gathered)


def measured_before(choice: SampleChoice, loaded: LoadedModel) -> Measured | None:
    """The results stored beside a model, if there are any and they are of this sample.

    Raises:
        SampleError: there is nothing to measure on.
    """
    if not (loaded.folder / stored.FILE).is_file():
        return None
    return _from_file(choice, loaded, *gather(choice, loaded, unheard))


def _from_file(
    choice: SampleChoice, loaded: LoadedModel, sample: Sample, about: str, task: Task | None
) -> Measured | None:
    known = stored.load(loaded.folder, stored.sample_hash(sample, seeds_for(loaded)))
    if known is None:
        return None
    return Measured(loaded.name, choice, sample, (), known.probe, about, task, known.importance)


def measure_again(choice: SampleChoice, loaded: LoadedModel, report: Report) -> Measured:
    """Measure every head of a model, in one pass over the sample, whatever is stored.

    Raises: as :func:`measure`.
    """
    return _measured(choice, loaded, report, *gather(choice, loaded, report))


def observe_again(
    measured: Measured, loaded: LoadedModel, report: Report, indices: Sequence[int] | None = None
) -> dict[int, Observed]:
    """The sentences at some indices of a sample, or all, as the model reads them: for results that were stored."""
    wanted = range(len(measured.sample)) if indices is None else indices
    known = {i: measured.observed[i] for i in wanted} if measured.observed else {}
    if known:
        return known
    part = measured.sample.part(list(wanted))
    found: dict[int, Observed] = {}
    for index, observed, _ in observe([loaded.transformer], part, loaded.source, loaded.target):
        found[wanted[index]] = observed
        report(len(found) / len(part), f"Reading: {len(found)} of {plural(len(part), 'sentence')}")
    return {i: found[i] for i in wanted}


def _measured(
    choice: SampleChoice, loaded: LoadedModel, report: Report, sample: Sample, about: str, task: Task | None
) -> Measured:
    seeds = seeds_for(loaded)
    models = [loaded.transformer, *(untrained_like(loaded.transformer, seed) for seed in seeds)]
    tally, by_index = Tally(), {}
    for index, observed, weights in observe(models, sample, loaded.source, loaded.target):
        tally.add(index, observed, weights)
        by_index[index] = observed
        done = len(by_index)
        report(done / len(sample), f"Measuring: {done} of {plural(len(sample), 'sentence')}")
    in_order = tuple(by_index[i] for i in range(len(sample)))
    probe = tally.result()
    if sample.statistical:
        probe = dataclasses.replace(probe, gold="statistical")
    return Measured(loaded.name, choice, sample, in_order, probe, about, task)
