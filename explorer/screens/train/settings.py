"""Fields for every size and setting of a run, filled with a preset's values; changed ones become `--set`.

For the user's own pairs, the kind of tokens is chosen here as well, with samples cut into them.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from explorer.locale.messages import message, t, translated
from explorer.locale.text import plain, shortened
from explorer.runs import settings
from explorer.runs.settings import Changes, as_text, increment, label_of
from explorer.screens.train.data import Data
from explorer.web import runtime
from explorer.web.runs import field_key
from model.config import UNTRAINED_TOKENIZERS
from model.data.proposal import Proposal, TokenKind, unspellable_sentence
from model.presets import Preset
from model.text.tokenizer import Encoding

_COLUMNS = 4
# Kinds of tokens, which `translated` writes.
TOKEN_KINDS = (message("words"), message("characters"), message("subwords"), message("whitespace"))
_INIT = "train_init"
MOST_SHOWN = 56  # characters of a side of a pair as tokens, which fit a line
FAILS = 0.02  # share of unspellable answers above which a warning is shown


def size_fields(preset: Preset, scope: str) -> Changes:
    """Draw the fields for sizes, dropout and positions of the model; return what differs from the preset.

    `scope` keeps the fields of different tasks apart.
    """
    return _fields(settings.read_by(preset, settings.MODEL), preset.model, scope)


def part_fields(preset: Preset, scope: str) -> Changes:
    """Draw the fields for the parts of the model; return what differs from the preset."""
    groups = (
        (message("Against memorising, and the longest sentence"), settings.REGULARISATION),
        (message("Construction"), settings.ARCHITECTURE),
        (message("Parts of the paper's model that can be removed, to see what they are for:"), settings.ABLATIONS),
    )
    read = [(heading, names) for heading, all in groups if (names := settings.read_by(preset, all))]
    return _groups(read, preset.model, scope)


def updates_field(preset: Preset, task: str) -> int:
    """Draw the field for the number of updates and return it; one that was typed is kept for another preset."""
    key, usual = field_key(task, "max_steps"), settings.setting(preset, (), "max_steps")
    now, before = st.session_state.get(key), st.session_state.get(f"_{key}")
    # Set at every run: an interrupted run creates fields that the browser never sees.
    st.session_state[key] = usual if now in (None, before) else now
    st.session_state[f"_{key}"] = usual
    label, help = label_of("max_steps"), f"{settings.help_of('max_steps')} (max\\_steps)"
    steps = st.number_input(label, step=increment(int(usual)), key=key, help=help, persist_state="session")
    return int(usual if steps is None else steps)


def time_changes(preset: Preset, steps: int) -> Changes:
    """What differs from the preset in a run of so many `steps`, evaluated as often in proportion."""
    usual = {name: settings.setting(preset, (), name) for name in ("max_steps", "eval_every")}
    timed = {"max_steps": steps, "eval_every": settings.evaluation_every(preset, steps)}
    return tuple((name, as_text(value)) for name, value in timed.items() if value != usual[name])


def main_fields(preset: Preset, scope: str, steps: int) -> Changes:
    """Draw the fields of the training loop that matter most, of a run of so many `steps`; return all that differs."""
    start = {**preset.training, "eval_every": settings.evaluation_every(preset, steps)}
    return tuple({**dict(time_changes(preset, steps)), **dict(_fields(settings.MAIN, start, scope))}.items())


def training_fields(preset: Preset, scope: str) -> Changes:
    """Draw the other fields of the training loop; return what differs from the preset."""
    return _groups(settings.TRAINING, preset.training, scope)


def further_fields(preset: Preset, data: Data, scope: str, init: str) -> Changes:
    """Draw the rarely changed settings, those of the tokenizer only if it is built anew; return what differs."""
    changes: Changes = ()
    if init:
        tokenizer = runtime.summary(init)["data"].get("tokenizer")
        inherited = t(
            "Sizes and tokenizers are those of “{init}”. Words that it does not know remain unknown.", init=init
        )
        st.caption(plain(inherited))
    else:
        names = [name for name in settings.TOKENS if name not in dict(data.tokens)]
        changes = _fields(names, dataclasses.asdict(data.data), data.task)
        tokenizer = dict(data.tokens + changes).get("tokenizer", data.data.tokenizer)
    changes += _fields(settings.CONSISTENCY, preset.training, scope)
    names = [*settings.FURTHER, *(settings.SUBWORDS_ONLY if tokenizer == "subwords" else ())]
    return changes + _fields(names, preset.training, scope)


def _groups(groups: Sequence[tuple[str, Sequence[str]]], start: Mapping[str, Any], scope: str) -> Changes:
    changes: Changes = ()
    for heading, names in groups:
        st.caption(translated(heading))
        changes += _fields(names, start, scope)
    return changes


def _fields(names: Sequence[str], start: Mapping[str, Any], scope: str) -> Changes:
    changes = []
    for at in range(0, len(names), _COLUMNS):
        for column, name in zip(st.columns(min(_COLUMNS, len(names))), names[at : at + _COLUMNS], strict=False):
            before = start.get(name, settings.DEFAULTS[name])
            with column:
                key = field_key(scope, name)
                now = _field(name, before, f"{key}_{before}" if name == "eval_every" else key)  # it follows max_steps
            if now != before:
                changes.append((name, as_text(now)))
    return tuple(changes)


def _field(name: str, before: Any, key: str) -> Any:
    kind, label = settings.KINDS[name], label_of(name)
    help_text = f"{settings.help_of(name)} ({name})".replace("_", "\\_").replace(
        "*", "\\*"
    )  # Streamlit reads it as Markdown
    # The start value is passed at every run: an interrupted run creates fields that the browser never sees.
    shared: dict[str, Any] = {"key": key, "persist_state": "session", "help": help_text}
    if typing.get_origin(kind) is typing.Literal:
        options = [option for option in typing.get_args(kind) if option not in UNTRAINED_TOKENIZERS]
        return st.selectbox(label, options, index=options.index(before), **shared)
    if kind is bool:
        return st.toggle(label, value=before, **shared)
    number: Callable[..., Any] = st.number_input
    # Without bounds: the browser marks a number outside them red, but Start would use the value before it.
    start = kind(before)
    return kind(
        number(label, value=start, step=increment(start), **({} if kind is int else {"format": "%g"}), **shared)
    )


def choose_computation() -> dict[str, Any]:
    """Draw the choice of initial weights, device and precision; the keys are names of `TrainingOrder`."""
    columns = st.columns(3, vertical_alignment="bottom")
    names = ["", *runtime.models()]
    if st.session_state.get(_INIT) not in names:
        st.session_state.pop(_INIT, None)  # the model was deleted meanwhile
    init = columns[0].selectbox(
        t("Start from"),
        names,
        format_func=lambda name: name or t("nothing"),
        key=_INIT,
        persist_state="session",
        help=t(
            "nothing: the weights are initialised at random. A model: training continues from its weights.",
        ),
    )
    device = columns[1].selectbox(
        t("Device"),
        ("auto", "cpu", "cuda", "mps"),
        key="train_device",
        persist_state="session",
        help=t("auto uses an NVIDIA GPU (cuda) if there is one, else Apple's GPU (mps), else the CPU."),
    )
    precision = columns[2].selectbox(
        t("Precision"),
        ("auto", "fp32", "bf16"),
        key="train_precision",
        persist_state="session",
        help=t(
            "fp32 computes with 32 bits per number; bf16 multiplies with 16 where that does no harm. auto depends only "
            "on the machine and the sizes, so that the same command gives the same weights."
        ),
    )
    return {
        "init": init or "",
        "device": device or "auto",
        "precision": precision or "auto",
    }


def choose_kind(proposal: Proposal, task: str) -> TokenKind | None:
    """Draw the choice of the kind of tokens, with its effect on these data and a few pairs cut so."""
    proposed, key = proposal.data.tokenizer, field_key(task, "tokenizer")
    names = [each.kind for each in proposal.kinds]
    chosen = st.session_state.get(key)
    # Set at every run: an interrupted run creates fields that the browser never sees.
    st.session_state[key] = chosen if chosen in names else proposed
    chosen = st.segmented_control(
        t("Tokens"),
        names,
        format_func=translated,
        required=True,
        key=key,
        help=t("What the model reads and writes one at a time. Each head attends from token to token."),
    )
    kind = proposal.of(chosen or proposed)
    if kind is not None:
        effect, fails = unspellable_sentence(kind), kind.unspellable > FAILS
        if kind.kind == proposed and not fails:
            known = not kind.unspellable and not kind.unread  # which the reason says
            effect = t("Proposed. {reason} {effect}", reason=proposal.reason, effect="" if known else effect).strip()
        (st.warning if fails else st.caption)(plain(effect))
        cut = [f"{_cut(source)} → {_cut(target)}" for source, target in kind.samples]
        st.caption(
            "  \n".join(map(plain, cut)),
            help=t(
                "Held-out pairs as tokens, with · between them, ␣ for a space, and ⟨…⟩ around a token that training "
                "does not have."
            ),
        )
    return kind


def _cut(text: Encoding) -> str:
    parts = zip(text.tokens, text.unknown, strict=True)
    return shortened("·".join(f"⟨{token}⟩" if unknown else token for token, unknown in parts), MOST_SHOWN)
