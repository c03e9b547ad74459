"""Choose the sentences on which the heads of a model are measured, write the choice as a link, and tokenize the pairs.

As a URL parameter, `sample=task.50` is fifty sentences of the task's test set and `sample=scenes.50` fifty of the
scenes; `.translated` reads them with the model's own translations. `sample=own.200.…` contains a user's own list,
compressed.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from explorer.decoding.examples import FILES
from explorer.locale.messages import Later, later
from explorer.probing.reporting import Report, report_sentences
from model.analysis.recorded_batches import Sample, gold_alignment, translated_sample, written_sample
from model.analysis.word_alignment import word_gold
from model.checkpoint import LoadedModel
from model.config import EOS, SOS, DataConfig
from model.data import TASKS, DataError, Example, Task, get_task
from model.data.multi30k import MULTI30K_TASKS
from model.data.scenes import examples as scene_examples
from model.data.task import IMPORTED, MissingCorpusError, WordLinks
from model.scoring import evenly_spaced
from model.text.tokenizer import Encoding, Tokenizer
from model.user_error import UserError

SENTENCES, MAX_SENTENCES = 200, 1000  # by default, and at most
SEEDS = (1, 2, 3, 4, 5)  # of the untrained baseline models
MAX_CHARACTERS = 400_000  # of a user's own list
MAX_LINK = 4000  # characters; servers and browsers truncate longer addresses

Origin = Literal["task", "own", "scenes"]

_TOO_LONG = "-"  # in place of a list that does not fit into a link
_LINK = re.compile(r"(task|own|scenes)\.([1-9]\d{0,3})(\.translated)?(?:\.aligned)?(?:\.([A-Za-z0-9_-]+))?")
_PAIR = re.compile(r"(\d{1,4})([-?])(\d{1,4})")
_PAIRS = re.compile(r"\d{1,4}[-?]\d{1,4}(\s+\d{1,4}[-?]\d{1,4})*")


class SampleError(UserError):
    """There are no sentences to measure on; the message says why and what to do."""


@dataclass(frozen=True)
class SampleChoice:
    """The user's choice of sentences: the task's test set, a list of their own, or the scenes that ship with Headlight.

    `lines`: the user's own list, one sentence per line, with its translation after a tab where known, and after another
    tab the alignment of their words ("0-0 1-2"). `translated`: read each sentence with the model's own translation
    instead of the reference.
    """

    origin: Origin = "task"
    lines: tuple[str, ...] = ()
    size: int = SENTENCES
    translated: bool = False

    @property
    def key(self) -> str:
        """A short hash, equal for equal choices."""
        parts = [self.origin, self.lines, self.size, self.translated, SEEDS]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def default_choice(config: DataConfig) -> SampleChoice:
    """The default sample of a model: the scenes if it translates between English and German, otherwise its test set."""
    return SampleChoice("scenes" if reads_scenes(config) else "task")


def reads_scenes(config: DataConfig) -> bool:
    """Whether a model translates descriptions between English and German, the languages of the scenes."""
    translates_them = config.task in MULTI30K_TASKS or config.task == IMPORTED
    return translates_them and {config.src_lang, config.tgt_lang} == {"en", "de"}


def to_link(choice: SampleChoice, default: SampleChoice | None = None) -> str:
    """Write a choice as the value of the URL parameter; empty for the default."""
    if choice == (default or SampleChoice()):
        return ""
    text = f"{choice.origin}.{choice.size}{'.translated' if choice.translated else ''}"
    if choice.origin != "own":
        return text
    packed = base64.urlsafe_b64encode(zlib.compress("\n".join(choice.lines).encode(), 9)).decode().rstrip("=")
    return f"{text}.{packed if len(packed) <= MAX_LINK else _TOO_LONG}"


def from_link(text: str) -> SampleChoice:
    """Parse the URL parameter, which is untrusted.

    Raises:
        SampleError: the parameter cannot be read; the message says what is measured instead.
    """
    match = _LINK.fullmatch(text)
    if match is None or int(match[2]) > MAX_SENTENCES or (match[1] == "own") != bool(match[4]):
        raise SampleError("The link's sample cannot be read; the task's test set is measured instead.")
    if match[4] == _TOO_LONG:
        raise SampleError(
            "The list of sentences behind this link was too long for a link. The task's test set is measured "
            "instead: enter the list again under “Choose sentences”."
        )
    lines = lines_of(_unpacked(match[4])) if match[4] else ()
    return SampleChoice(cast(Origin, match[1]), lines, int(match[2]), bool(match[3]))


def _unpacked(packed: str) -> str:
    """Decompress a list, up to the size limit of a list, however small the link is."""
    try:
        content = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        return zlib.decompressobj().decompress(content, 4 * MAX_CHARACTERS).decode()
    except (binascii.Error, zlib.error, ValueError):
        raise SampleError("The link's sentences cannot be read; the task's test set is measured instead.") from None


def lines_of(text: str) -> tuple[str, ...]:
    """Split a text into sentences, one per line; empty lines are left out.

    Raises:
        SampleError: there are none, or the text is too long.
    """
    if len(text) > MAX_CHARACTERS:
        raise SampleError(
            "The list has {length:,} characters; at most {max_characters:,} are read.",
            length=len(text),
            max_characters=MAX_CHARACTERS,
        )
    lines = tuple(line.strip() for line in text.replace("\r\n", "\n").split("\n") if line.strip())
    if not lines:
        raise SampleError("The list is empty: enter one sentence per line.")
    return lines[:MAX_SENTENCES]


def task_of(loaded: LoadedModel) -> Task | None:
    """The task that a model was trained on; None if it is unknown."""
    name, data = loaded.data_config.task, loaded.data_config
    if name not in TASKS and name != FILES:
        return None
    return get_task(name, split_seed=data.split_seed, data_dir=loaded.folder if name == FILES else None)


def examples_for(choice: SampleChoice, loaded: LoadedModel) -> tuple[list[Example], Later, Task | None]:
    """Collect the sentence pairs of a choice (target empty without a reference), their description, and their task.

    Raises:
        SampleError: there are no sentences.
    """
    if choice.origin == "own":
        own = _spread([_own_example(line) for line in choice.lines], choice)
        return own, later("your own sentences"), None
    if choice.origin == "scenes":
        if not reads_scenes(loaded.data_config):
            raise SampleError("The scenes are English and German descriptions, which this model does not translate.")
        all_scenes = scene_examples(loaded.data_config.src_lang)
        chosen = _spread(all_scenes, choice)
        about = later(
            "{chosen} of {n} aligned scene of Headlight's own (sentences and alignments written with a language "
            "model), evenly spread",
            "{chosen} of {n:,} aligned scenes of Headlight's own (sentences and alignments written with a language "
            "model), evenly spread",
            chosen=len(chosen),
            n=len(all_scenes),
        )
        return chosen, about, None
    try:
        task = task_of(loaded)
        splits = task.splits if task is not None else {}
    except MissingCorpusError as missing:
        raise SampleError("{missing} Or enter sentences of your own.", missing=missing) from missing
    except DataError as missing:
        raise SampleError(
            "The sentences that this model was tested on cannot be read: {missing}", missing=missing
        ) from missing
    split = next((name for name in ("test", "valid") if splits.get(name)), None)
    if task is None or split is None:
        raise SampleError("The data that this model was trained on are not known here; enter sentences of your own.")
    chosen = _spread(splits[split], choice)
    return chosen, _of_split(split, len(chosen), len(splits[split]), task.name), task


def _of_split(split: str, chosen: int, n: int, task: str) -> Later:
    if split == "test":
        return later(
            "{chosen} of {n} test sentence of {task}, evenly spread",
            "{chosen} of {n:,} test sentences of {task}, evenly spread",
            chosen=chosen,
            n=n,
            task=task,
        )
    return later(
        "{chosen} of {n} validation sentence of {task}, evenly spread",
        "{chosen} of {n:,} validation sentences of {task}, evenly spread",
        chosen=chosen,
        n=n,
        task=task,
    )


def _spread(examples: Sequence[Example], choice: SampleChoice) -> list[Example]:
    """Take as many examples as the choice asks for, evenly spread."""
    return [examples[i] for i in evenly_spaced(len(examples), min(choice.size, MAX_SENTENCES))]


def _own_example(line: str) -> Example:
    """Parse a line of a user's own list: sentence, translation and word alignment, separated by tabs."""
    source, *rest = (part.strip() for part in line.split("\t", 1))
    target, _, pairs = rest[0].rpartition("\t") if rest else ("", "", "")
    if not target.strip() or not is_alignment(pairs):
        return Example(source, rest[0] if rest else "")
    target = target.strip()
    return Example(source, target, links=word_links(pairs, source, target))


def is_alignment(text: str) -> bool:
    """Whether a text consists of pairs "source word-target word", as aligners write them; "1?2" is a possible link."""
    return bool(_PAIRS.fullmatch(text.strip()))


def word_links(pairs: str, source: str, target: str) -> WordLinks:
    """Parse the links of a sentence pair; words (between spaces) count from 0, links out of range are left out."""
    spans = [tuple(match.span() for match in re.finditer(r"\S+", text)) for text in (source, target)]
    links = [((int(i), int(j)), sign) for i, sign, j in _PAIR.findall(pairs)]
    possible = frozenset(link for link, _ in links if link[0] < len(spans[0]) and link[1] < len(spans[1]))
    sure = frozenset(link for link, sign in links if sign == "-")
    return WordLinks(spans[0], spans[1], possible & sure, possible)


def gather(choice: SampleChoice, loaded: LoadedModel, report: Report) -> tuple[Sample, Later, Task | None]:
    """Build the sample of a choice, with reference translations if all are known and wanted, else with the model's own.

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
            report(1 - 0.9**calls, later("Translating {n} sentence", "Translating {n:,} sentences", n=len(examples)))

        sample = translated_sample(
            loaded.transformer,
            [example.source for example in examples],
            loaded.source,
            references=[example.target or None for example in examples],
            check=check,
        )
        sample = _with_alignments(sample, examples, loaded)
    if not len(sample):
        if len(examples) > 1:
            raise SampleError(
                "The model can read none of the {sentences:,} sentences: each is empty or too long for it.",
                sentences=len(examples),
            )
        raise SampleError("The model cannot read this sentence: it is empty or too long for it.")
    if written:
        text = later("{sample}, read with their reference translations", sample=about)
    elif loaded.model_config.has_encoder:
        text = later("{sample}, read with the model's own translations", sample=about)
    else:
        text = later("{sample}, read with the model's own continuations", sample=about)
    if sample.left_out:
        text = later("{sample}; {n} empty or too long left out", sample=text, n=sample.left_out)
    return sample, text, task


def _with_alignments(sample: Sample, examples: Sequence[Example], loaded: LoadedModel) -> Sample:
    """Add the references' alignments to the sentences whose translation by the model equals the reference."""
    references = {}
    for example in examples:
        source, target = loaded.source.encode(example.source), loaded.target.encode(example.target)
        links = None if example.links is None else word_gold(example.links, source, target)
        references[source.ids, target.ids] = gold_alignment(example, source, target), links
    pairs = zip((source.ids for source in sample.sources), sample.targets, strict=True)
    gold = [references.get(pair, (None, None)) for pair in pairs]
    return dataclasses.replace(
        sample,
        alignments=tuple(alignment for alignment, _ in gold),
        links=tuple(links for _, links in gold),
    )


def targets_of(sample: Sample, target: Tokenizer) -> list[Encoding]:
    """Encode the targets again from their text; a target whose text gives other tokens becomes empty."""
    encodings = []
    for ids in sample.targets:
        encoding = target.encode(target.decode(ids))
        encodings.append(encoding if encoding.ids == tuple(ids) else Encoding((), (), (), (), ""))
    return encodings


def subsample(sample: Sample, most: int) -> Sample:
    """Take at most `most` sentences, evenly spaced."""
    return sample.part(evenly_spaced(len(sample), most))


def read_pairs(sample: Sample, report: Report, doing: Later) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield what encoder and decoder read for each sentence: source ids with <eos>, target ids after <sos>."""
    for nth, (source, target) in enumerate(zip(sample.sources, sample.targets, strict=True)):
        report_sentences(report, doing, nth, len(sample))
        yield (*source.ids, EOS), (SOS, *target)
