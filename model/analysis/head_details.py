"""One head in full: the vectors behind its weights, and its output into the residual stream."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import ATTENTION_KINDS, AttentionKind
from model.edits import HeadEdits, edit_tap
from model.points import SCOPES, Head
from model.recording import AttentionRecorder
from model.tap import compose
from model.transformer import Transformer

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RowDetails:
    """The vectors and scores of one query of one head.

    Shapes:
        query, output: [d_head]; keys, values: [key, d_head]; scores, masked, weights, bias: [key]; float32. `masked`
        are the scores, with the lowest finite number in masked cells; `output` is before the output projection. `bias`
        was added to the scores by ALiBi, and `gate` [d_head] multiplies the output; both are None if there is none.
    A decoder row has one key for each token read when it was computed.
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
    def gated_values(self) -> Floats:
        """The values as they reach the output projection, multiplied by the gate if there is one: [key, d_head]."""
        return self.values if self.gate is None else self.values * self.gate


@dataclass(frozen=True, eq=False)
class HeadDetails:
    """One head over all queries of a sentence; layer and head count from 0.

    Shapes:
        projection: [d_head, d_model], the head's slice of W_O; the head adds output (× gate) @ projection to the
            stream; the bias of W_O belongs to no head.
    """

    kind: AttentionKind
    layer: int
    head: int
    rows: tuple[RowDetails, ...]
    projection: Floats
    scaled: bool


@torch.inference_mode()
def head_details(
    model: Transformer,
    src: Sequence[int],
    read: Sequence[int],
    heads: Collection[Head],
    *,
    edit: HeadEdits | None = None,
) -> dict[Head, HeadDetails]:
    """Read the ids of encoder and decoder, and record all vectors and scores of the given heads.

    One pass suffices for a causal decoder: its rows equal those of the decoding up to the order of float32 sums. A
    decoder that is not causal computed each row from the tokens read by then, so each row needs its own pass.

    Raises:
        ValueError: `read` is empty. EditError: an edit names a layer or head that this model does not have.
    """
    if not read:
        raise ValueError("there is nothing to read: give the ids that the decoder read.")
    one_pass = model.config.causal or all(kind == "encoder" for kind, _, _ in heads)
    recorder = AttentionRecorder(details=heads)
    tap = compose(edit_tap(edit, model.config), recorder)
    for end in (len(read),) if one_pass else range(1, len(read) + 1):
        model(torch.tensor([list(src)], dtype=torch.long), torch.tensor([list(read[:end])]), tap=tap)
    return details_of(model, recorder)


def details_of(model: Transformer, recorder: AttentionRecorder) -> dict[Head, HeadDetails]:
    """The heads whose details a recorder has kept; of several calls, the newest query of each."""
    return {
        (kind, layer, head): HeadDetails(
            kind=kind,
            layer=layer,
            head=head,
            rows=_rows(recorder.details[kind, layer, head], kind),
            projection=output_projection(model, kind, layer, head),
            scaled=model.config.scale_scores,
        )
        for kind, layer, head in recorder.details
    }


def _rows(calls: Sequence[dict[str, Tensor]], kind: AttentionKind) -> tuple[RowDetails, ...]:
    """All queries of a single pass, or the newest query of each of several passes; the source is the same in all."""
    arrays = [{name: tensor[0].float().cpu().numpy() for name, tensor in call.items()} for call in calls]
    if len(calls) > 1 and kind != "encoder":
        return tuple(_row(call, -1, len(call["key"])) for call in arrays)
    call = arrays[0]
    return tuple(_row(call, i, i + 1 if kind == "decoder" else len(call["key"])) for i in range(len(call["query"])))


def _row(call: dict[str, Floats], i: int, n_keys: int) -> RowDetails:
    """One query, with the first `n_keys` keys."""
    return RowDetails(
        query=call["query"][i],
        keys=call["key"][:n_keys],
        values=call["value"][:n_keys],
        scores=call["scores"][i, :n_keys],
        masked=call["masked"][i, :n_keys],
        weights=call["weights"][i, :n_keys],
        output=call["output"][i],
        bias=call["bias"][i, :n_keys] if "bias" in call else None,
        gate=call["gate"][i] if "gate" in call else None,
    )


@torch.no_grad()
def output_projection(model: Transformer, kind: AttentionKind, layer: int, head: int) -> Floats:
    """The slice of W_O that belongs to one head, [d_head, d_model]; layer and head count from 0.

    Raises:
        ValueError: the model has no such kind, layer or head.
    """
    if kind not in ATTENTION_KINDS:
        raise ValueError(f"kind is one of {', '.join(ATTENTION_KINDS)}, not {kind!r}.")
    n_heads = model.config.n_heads(kind)
    if not (0 <= layer < model.config.n_layers(kind) and 0 <= head < n_heads):
        raise ValueError(f"this model has no layer {layer + 1}, head {head + 1} of {kind} attention.")
    stack, block = SCOPES[kind]
    # A linear layer stores its weight as [out, in]; each head owns an equal part of the inputs.
    weight = model.get_parameter(f"{stack}.layers.{layer}.{block}.out_proj.weight").chunk(n_heads, dim=1)[head]
    array: Floats = weight.T.float().cpu().numpy().copy()
    return array
