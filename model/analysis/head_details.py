"""One head in full: the vectors behind its weights, and what it writes into the residual stream."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.attention import MultiHeadAttention
from model.config import ATTENTION_KINDS, AttentionKind, DecodeConfig
from model.decoding.decode import decode_recorded
from model.edits import HeadEdits
from model.layers import DecoderLayer, EncoderLayer
from model.points import Head
from model.text.tokenizer import Encoding, Tokenizer
from model.transformer import Transformer

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RowDetails:
    """The vectors and scores of one query of one head.

    Shapes:
        query, output: [d_head]; keys, values: [key, d_head]; scores, masked, weights, bias: [key]; float32. `masked`
        holds the scores, with the lowest finite number in masked cells; `output` is taken before the output projection;
        `bias` is what ALiBi has added to the scores, `gate` [d_head] what multiplies the output before the projection;
        None where there is none.
    A decoder row has one key for each token read by the time it was computed.
    """

    query: Floats
    keys: Floats
    values: Floats
    scores: Floats
    masked: Floats
    weights: Floats
    output: Floats
    bias: Floats | None = None
    gate: Floats | None = None

    @property
    def passed_on(self) -> Floats:
        """The values as they reach the output projection, through the gate where there is one: [key, d_head]."""
        return self.values if self.gate is None else self.values * self.gate


@dataclass(frozen=True, eq=False)
class HeadDetails:
    """One head over all queries of a sentence; layer and head count from 0.

    Shapes:
        projection: [d_head, d_model], the head's slice of W_O; output (× gate) @ projection is what the head adds,
            without the bias.
    """

    kind: AttentionKind
    layer: int
    head: int
    rows: tuple[RowDetails, ...]
    projection: Floats
    scaled: bool


def head_details(
    model: Transformer,
    source: Encoding,
    target: Tokenizer,
    path: Sequence[int],
    heads: Collection[Head],
    *,
    edit: HeadEdits | None = None,
) -> dict[Head, HeadDetails]:
    """Decode along the target ids in `path` again and record all vectors and scores of the given heads.

    The computation is the same as in the recorded decoding, so the weights are identical bit for bit.

    Raises:
        ValueError: `path` is empty. EditError: an edit names a layer or head that this model does not have.
    """
    if not path:
        raise ValueError("there is no path to follow: give the target ids of the decoding.")
    # Decoding stops at the end of the path, whether or not the path ends with <eos>.
    config = DecodeConfig(max_length=len(path))
    done = decode_recorded(model, source, target, config, prefix=path, n_alternatives=1, edit=edit, details=heads)
    return {
        (kind, layer, head): HeadDetails(
            kind=kind,
            layer=layer,
            head=head,
            rows=_rows(done.recorder.details[kind, layer, head]),
            projection=output_projection(model, kind, layer, head),
            scaled=model.config.scale_scores,
        )
        for kind, layer, head in heads
    }


def _rows(calls: Sequence[dict[str, Tensor]]) -> tuple[RowDetails, ...]:
    """All queries of the first call, then the newest query of each later one (see AttentionRecorder.weights)."""
    first = [_row(calls[0], i) for i in range(calls[0]["query"].size(1))]
    return tuple(first + [_row(call, -1) for call in calls[1:]])


def _row(call: dict[str, Tensor], i: int) -> RowDetails:
    def numbers(name: str) -> Floats:
        array: Floats = call[name][0].float().cpu().numpy()
        return array

    return RowDetails(
        query=numbers("query")[i],
        keys=numbers("key"),
        values=numbers("value"),
        scores=numbers("scores")[i],
        masked=numbers("masked")[i],
        weights=numbers("weights")[i],
        output=numbers("output")[i],
        bias=numbers("bias")[i] if "bias" in call else None,
        gate=numbers("gate")[i] if "gate" in call else None,
    )


@torch.no_grad()
def output_projection(model: Transformer, kind: AttentionKind, layer: int, head: int) -> Floats:
    """The slice of W_O that belongs to one head, [d_head, d_model]; layer and head count from 0.

    Raises:
        ValueError: the model has no such kind, layer or head.
    """
    if kind not in ATTENTION_KINDS:
        raise ValueError(f"kind is one of {', '.join(ATTENTION_KINDS)}, not {kind!r}.")
    if not (0 <= layer < model.config.n_layers(kind) and 0 <= head < model.config.n_heads(kind)):
        raise ValueError(f"this model has no layer {layer + 1}, head {head + 1} of {kind} attention.")
    attention = _attention(model, kind, layer)
    start = head * attention.d_head
    # A linear layer stores its weight as [out, in]; the head owns d_head of the inputs.
    weight = attention.out_proj.weight[:, start : start + attention.d_head]
    array: Floats = weight.T.float().cpu().numpy().copy()
    return array


def _attention(model: Transformer, kind: AttentionKind, layer: int) -> MultiHeadAttention:
    block = (model.encoder if kind == "encoder" else model.decoder).layers[layer]
    if isinstance(block, DecoderLayer):
        return block.cross_attn if kind == "cross" else block.self_attn
    assert isinstance(block, EncoderLayer)
    return block.self_attn
