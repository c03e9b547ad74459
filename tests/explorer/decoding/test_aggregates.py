"""Aggregates of attention, each against an independent computation."""

import numpy as np
import torch

from explorer.decoding.aggregates import (
    head_norms,
    layer_norms,
)
from model.analysis.head_details import head_details
from model.config import EOS, SOS
from model.text.tokenizer import CharacterTokenizer, Encoding
from model.transformer import Transformer
from tests.tiny import VOCAB, tiny_model

TARGET = CharacterTokenizer([chr(97 + i) for i in range(VOCAB - 4)], [1] * (VOCAB - 4))
PATH = (5, 9, 4, 11, 2)
SOURCE_IDS = (6, 4, 12, 7)
SOURCE = (*SOURCE_IDS, EOS)


def encoding() -> Encoding:
    n = len(SOURCE_IDS)
    return Encoding(SOURCE_IDS, tuple("abcd"), tuple((i, i + 1) for i in range(n)), tuple(range(n)), "abcd")


def sublayer_inputs(model: Transformer) -> dict[str, tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]]:
    """Queries, memory and mask of the first layers' attentions, from the model's parts rather than the recorder."""
    src, tgt = torch.tensor([[*SOURCE_IDS, 2]]), torch.tensor([[SOS, *PATH[:-1]]])
    memory = model.encode(src)
    x, y = model.embed(src, side="src"), model.embed(tgt, side="tgt")
    encoder, decoder = model.encoder.layers[0], model.decoder.layers[0]
    first = model.config.norm_first
    x1, y1 = (encoder.norm1(x), decoder.norm1(y)) if first else (x, y)
    causal = torch.ones(len(PATH), len(PATH), dtype=torch.bool).tril()
    after = y + decoder.self_attn(y1, y1, mask=causal)
    after = after if first else decoder.norm1(after)
    return {
        "encoder": (x1, x1, None),
        "decoder": (y1, y1, causal),
        "cross": (decoder.norm2(after) if first else after, memory, None),
    }


def test_norms_are_kobayashis_from_the_matrices_themselves() -> None:
    """‖α (x W_V + b_V) W_O‖ with x and the matrices taken from the model, α from the recorder."""
    model = tiny_model()
    details = head_details(model, SOURCE, (SOS, *PATH[:-1]), [("encoder", 0, h) for h in range(2)])
    with torch.inference_mode():
        x = sublayer_inputs(model)["encoder"][1][0].numpy().astype(np.float64)
    attention = model.encoder.layers[0].self_attn
    value, bias = attention.v_proj.weight.detach().numpy().T, attention.v_proj.bias.detach().numpy()
    output = attention.out_proj.weight.detach().numpy().T
    together = np.zeros((5, 5, 16))
    for head in range(2):
        own = slice(8 * head, 8 * head + 8)
        f = (x @ value[:, own] + bias[own]) @ output[own]  # [key, d_model]
        alpha = np.stack([row.weights for row in details["encoder", 0, head].rows])
        vectors = alpha[:, :, None] * f[None]
        together += vectors
        np.testing.assert_allclose(
            head_norms(details["encoder", 0, head], 5), np.linalg.norm(vectors, axis=-1), atol=1e-5
        )
    np.testing.assert_allclose(layer_norms(list(details.values()), 5), np.linalg.norm(together, axis=-1), atol=1e-5)
