"""Changes to heads that a user asks for, as values and as text in a link.

A change counts layers, heads and rows from 1, as on screen. Its text in the address looks like `cross.2.1.zero`;
several are joined by `~`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from explorer.decoding.model_diagram import ADDED
from explorer.decoding.names import short_kind, short_name
from explorer.locale.messages import message, t, translated
from explorer.locale.text import shortened
from model.config import ATTENTION_KINDS, AttentionKind, ModelConfig
from model.user_error import UserError

if TYPE_CHECKING:
    from model.points import Head

Kind = Literal["zero", "uniform", "mean", "row", "pattern", "output", "position"]
OPS: tuple[Kind, ...] = get_args(Kind)
WHOLE: tuple[Kind, ...] = ("zero", "uniform", "mean")  # these apply to any sentence
WORDS: dict[Kind, str] = {
    "zero": message("switched off"),
    "uniform": message("made uniform"),
    "mean": message("replaced by its mean"),
    "row": message("edited by hand"),
    "pattern": message("given the pattern of another sentence"),
    "output": message("given the output of another sentence"),
    "position": message("moved"),
}
OPERATIONS = (message("zero"), message("uniform"), message("mean"), message("pattern"), message("output"))
"""The names of changes in the edits of a trace."""
_HEAD = re.compile(r"(\w+) layer (\d+) head (\d+): (\w+)(?: row (\d+))?")
_TOKEN = re.compile(r"(source|target) token (\d+) at position (\d+)")
MOST_CHANGES, MOST_ROW, MOST_OTHER = 256, 512, 500
PARTS = 1000  # a weight in a link is a whole number of thousandths

_NUMBER = re.compile(r"[1-9]\d{0,3}")
_WEIGHTS = re.compile(r"\d{1,4}(-\d{1,4})*")


@dataclass(frozen=True)
class Change:
    """One change to one head: `row` and `weights` (thousandths) of an edited row, `other`: the sentence copied from.

    "position" puts token `row` of the source (kind "encoder") or target ("decoder") at position `to`: no head's.
    """

    kind: AttentionKind
    layer: int
    head: int
    op: Kind
    row: int = 0
    weights: tuple[int, ...] = ()
    other: str = ""
    to: int = 0

    @property
    def place(self) -> Head:
        """The head, counted from 0."""
        return (self.kind, self.layer - 1, self.head - 1)

    def __str__(self) -> str:
        if self.op == "position":
            if self.kind == "encoder":
                return t("source token {token} at position {position}", token=self.row, position=self.to)
            return t("target token {token} at position {position}", token=self.row, position=self.to)
        head, change = short_name(self.layer, self.head), translated(WORDS[self.op])
        if self.op == "row":
            return t(
                "{kind} {head}, row {row} {change}", kind=short_kind(self.kind), head=head, row=self.row, change=change
            )
        text = t("{kind} {heads} {change}", kind=short_kind(self.kind), heads=head, change=change)
        return f"{text} ({self.other})" if self.other else text


Changes = tuple[Change, ...]


class _Unfit(UserError):
    """A change that cannot be applied; the message says why."""


def describe(changes: Changes) -> str:
    """Describe all changes in one line; heads of one kind with the same change are named together."""
    groups: dict[tuple[AttentionKind, Kind], list[Change]] = {}
    single = []
    for change in changes:
        if change.op in WHOLE:
            groups.setdefault((change.kind, change.op), []).append(change)
        else:
            single.append(str(change))
    lines = [
        t(
            "{kind} {heads} {change}",
            kind=short_kind(kind),
            heads=", ".join(short_name(c.layer, c.head) for c in members),
            change=translated(WORDS[op]),
        )
        for (kind, op), members in groups.items()
    ]
    return "; ".join([*lines, *single]) or t("no change")


def edits_in_words(edits: Sequence[str]) -> str:
    """The edits of a trace, which are English in files, in the language chosen."""
    return "; ".join(map(_in_words, edits))


def _in_words(edit: str) -> str:
    if found := _HEAD.fullmatch(edit):
        kind, layer, head, op, row = found.groups()
        if row:
            return t(
                "{kind} layer {layer} head {head}: row {row}", kind=translated(kind), layer=layer, head=head, row=row
            )
        change = translated(op)
        return t("{kind} layer {layer} head {head}: {op}", kind=translated(kind), layer=layer, head=head, op=change)
    if found := _TOKEN.fullmatch(edit):
        side, token, place = found.groups()
        return t("{side} token {token} at position {place}", side=translated(side), token=token, place=place)
    return edit  # of an older program


def added(changes: Changes, new: Sequence[Change]) -> Changes:
    """Add new changes, replacing earlier ones of the same head (or of the same row of it)."""
    places = {(change.place, change.row) for change in new}
    whole = {change.place for change in new if not change.row}
    remaining = [change for change in changes if change.place not in whole and (change.place, change.row) not in places]
    # Changing a row by hand replaces any change to the whole head.
    replaced = {change.place for change in new if change.row}
    remaining = [change for change in remaining if change.row or change.place not in replaced]
    return (*remaining, *new)


def for_any_sentence(changes: Changes) -> Changes:
    """The changes that apply to any sentence; rows edited by hand and patches belong to one sentence."""
    return tuple(change for change in changes if change.op in WHOLE)


def to_link(changes: Changes) -> str:
    """Write changes as the value of the link parameter `edit`."""
    return "~".join(_one_to_link(change) for change in changes)


def _one_to_link(change: Change) -> str:
    parts = [change.kind, str(change.layer), str(change.head), change.op]
    if change.op == "row":
        parts += [str(change.row), "-".join(map(str, change.weights))]
    if change.op == "position":
        parts += [str(change.row), str(change.to)]
    if change.op in ("pattern", "output"):
        parts.append(base64.urlsafe_b64encode(change.other.encode()).decode().rstrip("="))
    return ".".join(parts)


def from_link(text: str) -> tuple[Changes, list[str]]:
    """Read an untrusted link parameter; returns the changes, and a sentence for each part that is not valid."""
    changes: list[Change] = []
    problems = []
    parts = [part for part in text.split("~") if part]
    for part in parts[:MOST_CHANGES]:
        try:
            changes = list(added(tuple(changes), [_read(part)]))
        except _Unfit as unfit:
            problems.append(t("The link's edit “{edit}” is left out: {unfit}", edit=shortened(part, 60), unfit=unfit))
    if len(parts) > MOST_CHANGES:
        problems.append(t("The link has {n} edits; the first {most} are used.", n=len(parts), most=MOST_CHANGES))
    return tuple(changes), problems


def fitting(changes: Changes, config: ModelConfig) -> tuple[Changes, list[str]]:
    """Split changes into those to heads that the model has, and a sentence for each of the others."""
    possible, problems = [], []
    for change in changes:
        layers, heads = config.n_layers(change.kind), config.n_heads(change.kind)
        if change.op == "position" and not (config.positions in ADDED and layers):
            problems.append(t("The link's moved token is left out: this model adds no positions there."))
        elif change.layer <= layers and change.head <= heads:
            possible.append(change)
        else:
            problems.append(
                t(
                    "The link's edit “{edit}” is left out: this model has {layers} of {heads}.",
                    edit=shortened(_one_to_link(change), 60),
                    layers=t("{n} layer", "{n:,} layers", n=layers),
                    heads=_heads(change.kind, heads),
                )
            )
    return tuple(possible), problems


def _heads(kind: AttentionKind, n: int) -> str:
    if kind == "encoder":
        return t("{n} encoder head", "{n:,} encoder heads", n=n)
    if kind == "decoder":
        return t("{n} decoder head", "{n:,} decoder heads", n=n)
    return t("{n} cross head", "{n:,} cross heads", n=n)


def _read(part: str) -> Change:
    kind, layer, head, op, *rest = [*part.split("."), "", "", "", ""][: max(4, part.count(".") + 1)]
    if kind not in ATTENTION_KINDS or op not in OPS:
        raise _Unfit("it is not of the form cross.2.1.zero.")
    if op == "position":
        if kind == "cross" or len(rest) != 2 or not all(_NUMBER.fullmatch(number) for number in rest):
            raise _Unfit("a moved token needs its number and its position, such as encoder.0.0.position.3.5.")
        return Change(kind, 0, 0, op, row=int(rest[0]), to=int(rest[1]))
    if not (_NUMBER.fullmatch(layer) and _NUMBER.fullmatch(head)):
        raise _Unfit("layer and head are whole numbers from 1.")
    change = Change(kind, int(layer), int(head), op)
    if op == "row":
        if len(rest) != 2 or not _NUMBER.fullmatch(rest[0]) or not _WEIGHTS.fullmatch(rest[1]):
            raise _Unfit("a row needs its number and its weights in thousandths, such as row.3.0-500-500.")
        weights = tuple(int(weight) for weight in rest[1].split("-"))
        if len(weights) > MOST_ROW or not any(weights):
            raise _Unfit("a row needs at least one weight above 0.")
        return Change(change.kind, change.layer, change.head, op, row=int(rest[0]), weights=weights)
    if op in ("pattern", "output"):
        if len(rest) != 1 or len(rest[0]) > 4 * MOST_OTHER:
            raise _Unfit("it does not name the sentence that it is taken from.")
        return Change(change.kind, change.layer, change.head, op, other=_decoded(rest[0]))
    if rest:
        raise _Unfit("“{op}” takes no values.", op=op)
    return change


def _decoded(text: str) -> str:
    try:
        sentence = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        raise _Unfit("the sentence that it is taken from cannot be read.") from None
    if not sentence.strip() or len(sentence) > MOST_OTHER:
        raise _Unfit("the sentence that it is taken from is empty or too long.")
    return sentence
