"""The formats of a model folder's JSON files, checked before anything else reads them.

:func:`decode` accepts JSON within the limits of every reader: UTF-8 without lone surrogates, integers of at most 64
bits, finite numbers, nesting that fits the stack. :func:`checked` compares the result with one of the classes below,
each of which documents one file; keys that a class does not name are ignored. A folder that fails either check is
listed with the sentence of its :class:`FormatError`; other folders are not affected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from model.user_error import UserError
from model.wording import t

Count = Annotated[int, Meta(ge=0, le=10**15)]
"""A number of steps, sentences or tokens."""

Seconds = Annotated[float, Meta(ge=0, le=1e11)]
"""A duration."""

Share = Annotated[float, Meta(ge=0, le=1)]
Loss = Annotated[float, Meta(ge=0, le=1e6)]
"""In nats per target token."""

Bleu = Annotated[float, Meta(ge=0, le=100.001)]

# Control characters, and marks that reorder the text around them (Unicode annex 9), would garble the page around them.
# `\Z`, since `$` would accept a final line break.
_LINE = r"\A[^\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]*\Z"
Line = Annotated[str, Meta(max_length=1000, pattern=_LINE)]
"""A short text for a heading or a list."""


MAX_SIDE = 5000
# Unlike lines, sentences may have line breaks and the marks of right-to-left writing (U+200E, U+200F).
SENTENCE = r"\A[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*\Z"
"""Text without control characters other than tab and line breaks, and without marks that reorder what follows."""

Side = Annotated[str, Meta(min_length=1, max_length=MAX_SIDE, pattern=SENTENCE)]
"""The source or the target of a pair, without spaces around it."""


class FormatError(UserError):
    """A JSON file that is damaged or does not fit its format; the message says how, without the file's name."""


class Scores(Struct):
    """The scores of one split, as `model.evaluate --json` prints them; each may be missing."""

    exact_match: Share | None = None
    token_accuracy: Share | None = None
    loss: Loss | None = None
    bleu: Bleu | None = None
    bleu_lc_tok: Bleu | None = None
    bleu_signature: Line | None = None
    sentences: Count | None = None
    step: Count | None = None


class Results(Struct):
    """Section `results` of config.json: the scores of the weights in the folder."""

    step: Count | None = None
    trained_steps: Count | None = None
    seconds: Seconds | None = None
    split: Line | None = None
    valid: Scores | None = None
    test: Scores | None = None
    exact_match: Share | None = None
    token_accuracy: Share | None = None
    loss: Loss | None = None
    bleu: Bleu | None = None
    sentences: Count | None = None


class Data(Struct):
    """The part of section `data` of config.json that lists of models read; model.config.DataConfig has the rest."""

    task: Line | None = None


class Config(Struct):
    """config.json without the settings, which model.config checks when the model is opened."""

    data: Data
    title: Line | None = None
    preset: Line | None = None
    init: Line | None = None
    results: Results | None = None


class Status(Struct):
    """The texts of status.json, in which the training process describes itself.

    Its numbers are read leniently (explorer/runs/status.py): a clock that was set back makes them odd, not the run.
    """

    state: Line | None = None
    error: str | None = None


class Sample(Struct):
    """One validation sentence with its translation at an evaluation."""

    source: str
    target: str | None = None
    prediction: str | None = None


class Evaluation(Struct):
    """The sample translations in a line of metrics.jsonl."""

    samples: list[Sample] | None = None


class Headings(Struct):
    """The headings of a table of sentence pairs, or the keys of a JSONL file."""

    headings: Annotated[list[Line], Meta(min_length=1, max_length=100)]


class Pair(Struct):
    """A row of a table of sentence pairs (TSV, CSV or JSONL), or a line of two parallel files."""

    source: Side
    target: Side


class StoredPair(Struct):
    """A line of data.jsonl: one of the user's own sentence pairs and its split."""

    split: Literal["train", "valid"]
    source: str
    target: str


NOTE_CHARACTERS = 2000


class Note(Struct):
    """note.json: a person's note on a run."""

    text: Annotated[str, Meta(max_length=NOTE_CHARACTERS, pattern=SENTENCE)]


def decode(content: bytes) -> Any:
    """The value of a JSON text.

    Raises:
        FormatError: it is not JSON, or exceeds a limit of :mod:`model.file_formats`.
    """
    try:
        value = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError:
        raise FormatError("is nested too deeply.") from None
    except msgspec.ValidationError:  # a subclass of DecodeError
        raise FormatError("holds a number that is too large.") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise FormatError("is not valid JSON; it is damaged or was cut off.") from None
    parts = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            parts += part.values()
        elif isinstance(part, list):
            parts += part
        elif isinstance(part, int) and not -(2**63) <= part < 2**63:
            raise FormatError("holds a number that is too large.")
    return value


Kind = TypeVar("Kind")


def checked(value: Any, kind: type[Kind], optional: Sequence[str] = ()) -> tuple[Kind, list[str]]:
    """Convert a decoded value to its class; `optional` parts that do not fit are dropped.

    Returns the value, and the reason for each dropped part as the end of a sentence.

    Raises:
        FormatError: another part has the wrong type or is out of range.
    """
    problems: list[str] = []
    while True:
        try:
            return msgspec.convert(value, kind), problems
        except msgspec.ValidationError as error:
            part = re.split(r"[.\[`]", str(error).partition(" - at `$.")[2])[0]
            if part not in optional:
                raise FormatError(_sentence(str(error))) from None
            problems.append(_sentence(str(error)))
            value = {key: item for key, item in value.items() if key != part}


def pair_problem(source: str, target: str) -> str:
    """Why two texts are not a :class:`Pair`, in a few words; empty if they are."""
    try:
        msgspec.convert({"source": source, "target": target}, Pair)
    except msgspec.ValidationError as error:
        reason = str(error)
        if "regex" in reason:
            return t("control characters, or marks that reorder text")
        return t("an empty side") if ">=" in reason else t("more than {n:,} characters", n=MAX_SIDE)
    return ""


def fits(value: Any, kind: Any) -> bool:
    """Whether a value fits a type and its limits."""
    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError):  # the latter for a lone surrogate
        return False
    return True


def _sentence(message: str) -> str:
    """A message of msgspec, such as "Expected `float` <= 1.0 - at `$.results.test.bleu`", as the end of a sentence."""
    what, _, where = message.partition(" - at `$")
    field = where.strip("`.") or "its content"
    if "matching regex" in what:
        return f"has control characters, or marks that reorder text, in '{field}'; remove them."
    what = re.sub(r"`(\w+) \| null`", r"`\1`", what)
    return f"is wrong at '{field}': {what[:1].lower()}{what[1:]}."
