"""The head changes in force in one session, with undo and the values of the edits.

The changes themselves are part of the session's selection, and therefore of the address.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.decoding.head_change import Change, Changes, added, edits_in_words, fitting
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import runtime, session
from model.config import DecodeConfig, ModelConfig
from model.user_error import UserError

if TYPE_CHECKING:
    from explorer.decoding.head_edits import Means
    from explorer.decoding.translator import Translation
    from model.edits import HeadEdits
    from model.points import Head

_UNDO, _OF, _MEANS = (f"_surgery_{name}" for name in ("undo", "of", "means"))


class NoMeans(UserError):
    """A head is to be replaced by its mean, but this session has not computed the mean yet."""


def adopt(model: str, config: ModelConfig) -> bool:
    """Determine which changes are in force on this model; changes to heads that it does not have are dropped.

    Returns whether the link that was just followed contained changes.
    """
    state, asked = st.session_state, session.edit_asked()
    if asked or state.get(_OF) not in (None, model):
        state[_UNDO] = []
    state[_OF] = model
    drop_unfit(config)
    return asked


def drop_unfit(config: ModelConfig) -> None:
    """Drop the changes to heads that a model does not have; the session's problems say why."""
    possible, problems = fitting(changes(), config)
    if problems:
        session.add_problems(problems)
        session.move(edit=possible)


def changes() -> Changes:
    """The changes in force."""
    return session.selection().edit


def put(new: Sequence[Change]) -> None:
    """Add changes to those in force."""
    _set(added(changes(), new))


def clear() -> None:
    """Remove all changes."""
    _set(())


def _set(new: Changes) -> None:
    if new != changes():
        st.session_state.setdefault(_UNDO, []).append(changes())
        session.move(edit=new)


def can_undo() -> bool:
    """Whether there is anything to undo."""
    return bool(st.session_state.get(_UNDO))


def undo() -> None:
    """Restore the changes that were in force before the last one."""
    if can_undo():
        session.move(edit=st.session_state[_UNDO].pop())


def edits_of(model: str, text: str, changes: Changes, means: Means | None = None) -> HeadEdits | None:
    """The edits that the model receives for these changes in this sentence; None if there are no changes.

    `means` computes the mean outputs of heads; without it, the means that this session computed earlier are used.

    Raises:
        InputError, EditError: a change does not fit this sentence; the message says why. NoMeans: a mean is missing.
        CheckpointError: the model cannot be opened.
    """
    if not changes:
        return None
    from explorer.decoding.head_edits import edits_for, moved_by
    from explorer.probing.edit_effect import from_another

    def other(change: Change) -> NDArray[np.float32]:
        if change.op == "position":
            return runtime.with_model(model, lambda loaded: moved_by(loaded, change))
        donor, recipient = (runtime.translate(model, sentence, DecodeConfig()) for sentence in (change.other, text))
        with runtime.model(model) as translator:
            return from_another(translator, donor, recipient, change)

    key = model, runtime.fingerprint(model)

    def remembered(heads: Sequence[Head]) -> dict[Head, NDArray[np.float32]]:
        earlier: dict[Head, NDArray[np.float32]] = st.session_state.get(_MEANS, {}).get(key, {})
        if missing := [head for head in heads if head not in earlier]:
            raise NoMeans(
                t(
                    "The mean of {n} edited head is taken over the sample of the Probe page: open Surgery there "
                    "first. The model is shown unedited until then.",
                    "The mean of {n:,} edited heads is taken over the sample of the Probe page: open Surgery there "
                    "first. The model is shown unedited until then.",
                    n=len(missing),
                )
            )
        return earlier

    def computed(heads: Sequence[Head]) -> dict[Head, NDArray[np.float32]]:
        assert means is not None
        outputs = means(heads)
        st.session_state.setdefault(_MEANS, {})[key] = outputs
        return outputs

    return edits_for(changes, runtime.describe(model).model_config, computed if means else remembered, other)


def draw_edited(translation: Translation) -> None:
    """Label a translation made by the edited model, and offer to remove the edit; draw nothing for an unedited one."""
    if not translation.trace.edits:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(
            plain(t("edited: {edits}", edits=edits_in_words(translation.trace.edits))),
            color="orange",
            icon=":material/content_cut:",
        )
        st.button(
            t("Remove the edit"), key="remove_edit", on_click=clear, help=t("Back to the model as it was trained.")
        )
