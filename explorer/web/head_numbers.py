"""Numbers that panels compute from a translation beyond its trace, once for all sessions that show the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from explorer.attention.aggregates import Floats, decoder_rollout, encoder_rollout
from explorer.translation.translator import Translation
from explorer.web import runtime
from model.config import AttentionKind
from model.folder import CheckpointError

if TYPE_CHECKING:
    from model.analysis.head_details import HeadDetails


class NotTheModels(ValueError):
    """These numbers need the model that made the translation, unedited; the message says why they are missing."""


def details(shown: Translation, kind: AttentionKind, layer: int, head: int) -> HeadDetails:
    """The vectors behind one head; layer and head are counted from 0.

    Raises:
        NotTheModels: the model is gone or has been retrained, or the translation was edited.
    """
    return _details(shown.seq, _version(shown), kind, layer, head, shown)


def norms(shown: Translation, kind: AttentionKind) -> tuple[Floats, Floats]:
    """Norm-weighted attention: for each head [layer, head, query, key], and for all heads of a layer together.

    Raises:
        NotTheModels: as for :func:`details`.
    """
    return _norms(shown.seq, _version(shown), kind, shown)


def rollout(shown: Translation, kind: AttentionKind) -> Floats:
    """Rollout after each layer of the stack, [layer, query, key]; for a decoder, from target or source tokens.

    Raises:
        NotTheModels: the model is gone, so it is unknown whether it has residual connections.
    """
    return _rollout(shown.seq, _version(shown), kind, shown)


def _version(shown: Translation) -> str:
    if shown.trace.edits:
        raise NotTheModels("These numbers exist only for the model as trained; here, heads are edited.")
    try:
        if not runtime.describe(shown.model).is_transformer:
            raise NotTheModels("These numbers exist only for a Transformer; this model is an LSTM.")
        return runtime.fingerprint(shown.model)
    except CheckpointError as gone:
        raise NotTheModels(f"These numbers need the model itself: {gone}") from None


@st.cache_resource(max_entries=32, show_spinner=False)
def _details(seq: str, version: str, kind: AttentionKind, layer: int, head: int, _shown: Translation) -> HeadDetails:
    del seq, version  # parts of the key only
    with runtime.model(_shown.model) as translator:
        return translator.details(_shown, [(kind, layer, head)])[kind, layer, head]


@st.cache_resource(max_entries=16, show_spinner=False)
def _norms(seq: str, version: str, kind: AttentionKind, _shown: Translation) -> tuple[Floats, Floats]:
    del seq, version
    with runtime.model(_shown.model) as translator:
        return translator.norms(_shown, kind)


@st.cache_resource(max_entries=16, show_spinner=False)
def _rollout(seq: str, version: str, kind: AttentionKind, _shown: Translation) -> Floats:
    del seq, version
    trace = _shown.trace
    residual = runtime.describe(_shown.model).model_config.residual
    if kind == "encoder":
        return encoder_rollout(trace.encoder, residual=residual)
    from_target, from_source = decoder_rollout(trace.decoder, trace.cross, trace.encoder, residual=residual)
    return from_target if kind == "decoder" else from_source
