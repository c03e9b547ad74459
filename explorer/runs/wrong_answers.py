"""Find the wrong answers of a model to the validation sentences of its run."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.locale.messages import later, t
from explorer.locale.text import percent
from explorer.probing.reporting import Report
from explorer.probing.sample import task_of
from model.checkpoint import LoadedModel
from model.config import DecodeConfig
from model.data.batching import encode_pairs
from model.data.task import DataError, Task
from model.scoring import evenly_spaced, translate_pairs

MAX_SENTENCES = 2000  # that are translated
_BATCH = 64  # sentences between two progress reports


@dataclass(frozen=True)
class WrongAnswers:
    """The wrong answers: source, right answer and the model's, in the order of the validation sentences.

    Of `n_all` sentences, `n_chosen` were chosen, and `n_translated` of these are not too long for the model.
    """

    answers: list[tuple[str, str, str]]
    n_translated: int
    n_chosen: int
    n_all: int

    def columns(self) -> dict[str, list[str]]:
        """The answers by their heading."""
        names = (t("source"), t("right answer"), t("model's answer"))
        return {name: list(texts) for name, texts in zip(names, zip(*self.answers, strict=True), strict=True)}

    def caption(self) -> str:
        """State how many answers are wrong."""
        answers = t("{n} validation answer", "{n:,} validation answers", n=self.n_translated)
        if self.n_chosen < self.n_all:
            answers = t("{answers} of {all:,}, evenly chosen,", answers=answers, all=self.n_all)
        if self.n_translated:
            said = t(
                "{n} of {answers} is not exactly right ({share}): greedy search, with the weights in the folder.",
                "{n:,} of {answers} are not exactly right ({share}): greedy search, with the weights in the folder.",
                n=len(self.answers),
                answers=answers,
                share=percent(len(self.answers) / self.n_translated, 1),
            )
        else:
            said = t(
                "0 of {answers} are not exactly right: greedy search, with the weights in the folder.", answers=answers
            )
        if left_out := self.n_chosen - self.n_translated:
            unfit = t("Left out as empty or too long for the model: {left_out:,}.", left_out=left_out)
            return f"{said} {unfit}"
        return said


def validation_task(loaded: LoadedModel) -> Task:
    """The task of a model, which has validation sentences on this machine; nothing is downloaded.

    Raises:
        DataError: the task is unknown here, or its sentences are not on this machine.
    """
    task = task_of(loaded)
    if task is None:
        raise DataError("This model was not trained here, so there are no validation sentences.")
    if not task.split("valid"):
        raise DataError("The validation sentences of this model are not on this machine.")
    return task


def wrong_answers(loaded: LoadedModel, task: Task, report: Report) -> WrongAnswers:
    """Translate the validation sentences greedily, and collect the wrong answers."""
    all_examples = task.splits["valid"]
    examples = [all_examples[i] for i in evenly_spaced(len(all_examples), MAX_SENTENCES)]
    limit = loaded.model_config.max_positions - 1
    wrong: list[tuple[str, str, str]] = []
    n_translated = 0
    for at in range(0, len(examples), _BATCH):
        report(
            at / len(examples),
            later(
                "Translating: {done:,} of {n} validation sentence",
                "Translating: {done:,} of {n:,} validation sentences",
                done=at,
                n=len(examples),
            ),
        )
        part = examples[at : at + _BATCH]
        pairs = encode_pairs(part, loaded.source, loaded.target)
        fitting = [i for i, ids in enumerate(pairs.sources) if 0 < len(ids) <= limit]
        part = [part[i] for i in fitting]
        if not part:
            continue
        pairs = encode_pairs(part, loaded.source, loaded.target)
        n_translated += len(part)
        answers = translate_pairs(loaded.model, pairs, loaded.target, DecodeConfig())
        for example, answer in zip(part, answers, strict=True):
            if not task.equivalent(answer, example):
                wrong.append((example.source, example.target, answer))
    return WrongAnswers(wrong, n_translated, len(examples), len(all_examples))
