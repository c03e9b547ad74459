"""Example sentences for a model (those of its task, or its validation samples) and their reference translations."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.cache import cached
from explorer.decoding.decoding import step_worth_seeing
from explorer.locale.messages import message, t, translated
from explorer.locale.text import listed, quoted
from model.data import TASKS, get_task
from model.data.files import DATA_FILE, same_source
from model.data.scenes import scenes
from model.data.task import IMPORTED, DataError, Example, Prompt
from model.file_formats import Evaluation, FormatError, checked, decode
from model.folder import CONFIG, METRICS, modified, read_json

if TYPE_CHECKING:
    from explorer.decoding.translator import Translation
    from model.trace import AttentionTrace

N_SCENES = 4
MOST_ANSWERS = 3  # of one source that are named
LAST_BYTES = 1 << 20  # of the metrics file, searched for the last samples; no line is longer
__all__ = ["Prompt", "borne_out", "examples_of", "hint_for", "offer_of", "opening_step", "word_for"]

CLEAR = 0.5  # mean weight on the cells of a pattern from which a head counts as having it


def examples_of(summary: dict[str, Any]) -> tuple[Prompt, ...]:
    """Example sentences for a model, best first; none if nothing is known about its data."""
    task = str(summary.get("task"))
    if task in TASKS:
        prompts: tuple[Prompt, ...] = tuple(get_task(task).examples)
        if prompts:
            return prompts
    if task == IMPORTED:
        return _scenes(summary["data"].get("src_lang"))
    return tuple(
        Prompt(source, message("From this model's validation data.")) for source in _samples(Path(summary["folder"]))
    )


def sentences_of(summary: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Sentences that a model may read: its examples, and those of its task that come with Headlight."""
    examples = [each.source for each in examples_of(summary)]
    if (name := str(summary.get("task"))) not in TASKS:
        return examples, []
    task = get_task(name)
    return examples, [pair.source for split in task.own_splits for pair in task.split(split) or ()]


def _scenes(lang: object) -> tuple[Prompt, ...]:
    """A few scenes as examples for an imported translator, if it reads English or German."""
    if lang not in ("en", "de"):
        return ()
    all_scenes = scenes()
    chosen = all_scenes[:: len(all_scenes) // N_SCENES][:N_SCENES]
    return tuple(Prompt(scene.english if lang == "en" else scene.german, "") for scene in chosen)


def hint_for(text: str, prompts: tuple[Prompt, ...], translation: Translation) -> str:
    """The hint of the example `text`, as a sentence, if this translation bears it out; otherwise ""."""
    prompt = _prompt_of(text, prompts)
    if prompt is None or not prompt.note or not borne_out(prompt, translation):
        return ""
    note = translated(prompt.note)
    return t("What to look for: {note}", note=note if note[-1] in ".?!" else f"{note}.")


def offer_of(text: str, prompts: tuple[Prompt, ...], translation: Translation) -> tuple[int, int, str] | None:
    """The word that the hint of the example `text` invites to choose: step (from 1), token id and token.

    None if that hint is not shown, or names no such word.
    """
    prompt = _prompt_of(text, prompts)
    if prompt is None or not prompt.instead or not hint_for(text, prompts, translation):
        return None
    found = _on_offer(prompt, translation)
    return None if found is None else (*found, prompt.instead)


def _prompt_of(text: str, prompts: tuple[Prompt, ...]) -> Prompt | None:
    return next((prompt for prompt in prompts if prompt.source == text), None)


def _on_offer(prompt: Prompt, translation: Translation) -> tuple[int, int] | None:
    """The step (from 1) that predicts the prompt's `word`, and the id of its token `instead` among the likeliest."""
    trace, first = translation.trace, translation.n_prompt
    if prompt.word not in trace.predicted_tokens[first:]:
        return None
    row = trace.predicted_tokens.index(prompt.word, first)
    tokens = trace.top_tokens[row]
    return (row + 1, int(trace.top_ids[row][tokens.index(prompt.instead)])) if prompt.instead in tokens else None


def borne_out(prompt: Prompt, translation: Translation) -> bool:
    """Whether a translation has the words and the attention that the hint of an example assumes."""
    trace = translation.trace
    return (
        all(f" {words} " in f" {_bare(translation.text)} " for words in map(_bare, prompt.says))
        and all(_looks(trace, written, source) for written, source in prompt.looks)
        and (not prompt.pattern or _has_pattern(trace, prompt.pattern))
        and (not prompt.instead or _on_offer(prompt, translation) is not None)
    )


def _bare(text: str) -> str:
    """A text without its final full stop, which phrases have and hints do not."""
    return text.rstrip(".")


def _looks(trace: AttentionTrace, written: str, source: str) -> bool:
    """Whether the row that predicts `written` has `source` as its heaviest key, in the mean over the last layer."""
    if not trace.cross.size or written not in trace.predicted_tokens:
        return False
    row = trace.predicted_tokens.index(written)
    return trace.src_tokens[int(np.argmax(trace.cross[-1].mean(axis=0)[row]))] == source


def _has_pattern(trace: AttentionTrace, pattern: str) -> bool:
    """Whether a head of cross-attention puts at least half of its weight on a pattern."""
    return bool(trace.cross.size) and float(np.nanmax(attention_maps(trace, "cross").shares[pattern])) >= CLEAR


def word_for(text: str, prompts: tuple[Prompt, ...]) -> str:
    """The predicted token at whose step `text` should open if it is one of the examples, else an empty string."""
    prompt = _prompt_of(text, prompts)
    return "" if prompt is None else prompt.word


def opening_step(summary: dict[str, Any], translation: Translation) -> int:
    """The step, from 1, at which a page opens a translation: the example's own, or the closest race between words."""
    return step_worth_seeing(
        translation.trace, word_for(translation.source.text, examples_of(summary)), translation.n_prompt
    )


def _samples(folder: Path) -> list[str]:
    """Source sentences of the last evaluation in the metrics of the run."""
    path = folder / METRICS
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LAST_BYTES))
            lines = file.read(LAST_BYTES).splitlines()
    except OSError:  # no metrics, or the run was deleted meanwhile
        return []
    for line in reversed(lines):
        try:
            evaluation, _ = checked(decode(line), Evaluation)
        except FormatError:
            continue  # the last line of a file that is being written, or was truncated, may be incomplete
        if evaluation.samples:
            return [sample.source for sample in evaluation.samples]
    return []


FILES = "files"  # the task of uploaded data, which are stored in the folder of the run


def references(summary: Mapping[str, Any]) -> dict[str, str]:
    """Each source of a model's task with its target; empty without the data on this machine. Nothing is downloaded."""
    splits = _splits(summary).values()
    return {example.source: example.target for examples in splits for example in examples}


def place_in_data(summary: Mapping[str, Any], text: str) -> str:
    """Whether a model was trained on a source, in a sentence with the right answer; empty if that is not known."""
    splits = _splits(summary)
    for split in sorted(splits, key=lambda name: name != "train"):
        pairs = [example for example in splits[split] if same_source(example.source) == same_source(text)]
        if not pairs:
            continue
        right = listed([quoted(answer) for answer in dict.fromkeys(pair.target for pair in pairs)][:MOST_ANSWERS], "or")
        if split == "train" and text.split() not in [pair.source.split() for pair in pairs]:
            return t("It was trained on this source in other capitals, with the answer {answer}.", answer=right)
        if split == "train":
            return t("It was trained on this source, with the answer {answer}.", answer=right)
        return t("This source was held out of its training; the right answer is {answer}.", answer=right)
    known = "train" in splits and not read_json(Path(summary["folder"]) / CONFIG).get("added_data")
    return t("This source is new: none of its pairs has it.") if known else ""


def length_of(text: str, *, letters: bool) -> int:
    """The length of a source in letters, or in words as they are written."""
    return len(text.strip() if letters else text.split())


def lengths_in_training(summary: Mapping[str, Any], *, letters: bool) -> tuple[int, int] | None:
    """The shortest and the longest source among somebody's own training pairs.

    None for other tasks, and if the model has also learned from pairs that are not in its folder.
    """
    folder = Path(summary["folder"])
    if summary.get("task") != FILES or summary.get("init") or read_json(folder / CONFIG).get("added_data"):
        return None
    return _lengths(str(folder), modified(folder / DATA_FILE), letters)


@cached
def _lengths(folder: str, changed: float, letters: bool) -> tuple[int, int] | None:
    del changed  # part of the key only
    pairs = _splits({"task": FILES, "folder": folder}).get("train", ())
    lengths = [length_of(pair.source, letters=letters) for pair in pairs]
    return (min(lengths), max(lengths)) if lengths else None


def _splits(summary: Mapping[str, Any]) -> dict[str, tuple[Example, ...]]:
    """The pairs of a model's task by split, those without a corpus first."""
    task, splits = str(summary.get("task")), dict[str, tuple[Example, ...]]()
    if task not in TASKS and task != FILES:
        return splits
    with suppress(DataError):  # the corpus is not on this machine: only the splits that come with Headlight
        seed = (summary.get("data") or {}).get("split_seed", 0)
        of = get_task(task, split_seed=seed, data_dir=Path(summary["folder"]) if task == FILES else None)
        for split in of.own_splits:
            splits[split] = of.split(split) or ()
        splits |= of.splits
    return splits


def reference(text: str, targets: Mapping[str, str]) -> str:
    """The reference translation of a source, ignoring case; "" if there is none."""
    text = text.strip()
    if text in targets:
        return targets[text]
    return next((target for source, target in targets.items() if source.casefold() == text.casefold()), "")
