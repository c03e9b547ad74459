"""One sentence recorded: its translation, what else the model nearly wrote, and the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.decoding.choices import step_worth_seeing
from explorer.decoding.coordinates import Place
from explorer.decoding.model_diagram import diagram_of
from explorer.decoding.translator import Translation, Translator
from explorer.files.stepping import Told, translation_page
from explorer.locale.text import percent, quoted
from model.config import DecodeConfig

LEAST = 0.02  # the probability of a token that is worth following


@dataclass(frozen=True, eq=False)
class Example:
    """A page of the folder: the name of its file, what it shows, and its content."""

    file: str
    source: str
    text: str
    n_forks: int
    page: bytes


def recorded(
    translator: Translator,
    sentence: str,
    number: int,
    *,
    word: str = "",
    forks: int = 3,
    trained: bool = True,
    index: str = "",
) -> Example:
    """The page of one sentence, with the `forks` likeliest other continuations.

    It opens at the step that predicts `word`, or at the closest race between two words. `number` is part of the name,
    and `index` the address of a page that leads to this one.

    Raises:
        InputError: the sentence is empty.
    """
    own = translator.translate(sentence, DecodeConfig())
    others = [_continued(translator, own, row, rank) for row, rank in runners_up(own, forks)]
    step = step_worth_seeing(own.trace, word)
    page = translation_page(
        [Told(own, "the model's own choice", step), *others],
        shown=own,
        place=Place("cross", own.trace.cross.shape[0], 0, row=step, step=step),
        trained=trained,
        diagram=diagram_of(translator.loaded.model_config),
        facts=own.notes,
        index=index,
    )
    name = f"{translator.name}-{number}.html"
    return Example(name, own.source.text, own.text, len(others), page)


def runners_up(own: Translation, most: int) -> list[tuple[int, int]]:
    """The likeliest tokens that the model did not choose, as (row, rank) from 0; at most `most`, in order of rows."""
    trace, found = own.trace, []
    for row, token in enumerate(own.path):
        for rank, other in enumerate(trace.top_ids[row]):
            if int(other) != token and float(trace.top_probabilities[row, rank]) >= LEAST:
                found.append((float(trace.top_probabilities[row, rank]), row, rank))
    best = sorted(found, key=lambda one: (-one[0], one[1]))[:most]
    return sorted((row, rank) for _, row, rank in best)


def _continued(translator: Translator, own: Translation, row: int, rank: int) -> Told:
    """The decoding that takes this token instead, and goes on by itself."""
    trace = own.trace
    token = int(trace.top_ids[row, rank])
    other = translator.translate(own.source.text, DecodeConfig(), prefix=(*own.path[:row], token))
    detail = (
        f"step {row + 1}: {quoted(trace.top_tokens[row][rank])} "
        f"({percent(float(trace.top_probabilities[row, rank]), 1)}) instead of {quoted(trace.predicted_tokens[row])}"
    )
    return Told(other, detail, row + 1)
