"""One batch through a model of `transformers` and through the same model imported: every number that is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from model.checkpoint import LoadedModel
from model.config import PAD
from model.recording import AttentionRecorder


def assert_same_computation(
    ours: LoadedModel,
    theirs: Any,
    their_ids: tuple[Tensor, Tensor],
    our_ids: tuple[Tensor, Tensor],
    in_their_order: Callable[[Tensor], Tensor],
) -> None:
    """Logits and all three attentions of a padded batch are equal within 1e-5.

    `their_ids` and `our_ids` are the same source and target; `in_their_order` sorts our logits as theirs.
    """
    our_src, our_tgt = our_ids
    expected = theirs(
        input_ids=their_ids[0],
        attention_mask=(our_src != PAD).long(),
        decoder_input_ids=their_ids[1],
        decoder_attention_mask=(our_tgt != PAD).long(),
        output_attentions=True,
    )
    recorder = AttentionRecorder()
    logits = in_their_order(ours.transformer(our_src, our_tgt, tap=recorder))
    real = our_tgt != PAD
    assert expected.logits.abs().max() > 2, "a test at tiny scale would be blind"
    torch.testing.assert_close(logits[real], expected.logits[real], rtol=0, atol=1e-5)
    kinds = {
        "encoder": expected.encoder_attentions,
        "decoder": expected.decoder_attentions,
        "cross": expected.cross_attentions,
    }
    for kind, layers in kinds.items():
        rows = our_src != PAD if kind == "encoder" else real
        for layer, weights in enumerate(layers):
            found = recorder.calls[kind, layer][0]
            assert found.shape == weights.shape
            for b in range(len(rows)):
                n = int(rows[b].sum())
                torch.testing.assert_close(found[b, :, :n], weights[b, :, :n], rtol=0, atol=1e-5)
