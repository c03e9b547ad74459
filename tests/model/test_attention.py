import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from model.attention import MultiHeadAttention, scaled_dot_product_attention
from model.config import EOS, PAD, SOS, UNK
from model.masks import causal_mask, padding_mask, target_mask
from model.recording import PointRecorder
from model.tap import tapped
from tests.model.peers import peer_attention

PARITY = {"rtol": 1.3e-6, "atol": 4e-5}  # float32 against another order of summation


def random_qkv(batch: int = 2, heads: int = 3, queries: int = 5, keys: int = 7, d_head: int = 4) -> tuple[Tensor, ...]:
    return tuple(torch.randn(batch, heads, length, d_head) for length in (queries, keys, keys))


def some_mask(batch: int = 2, queries: int = 5, keys: int = 7) -> Tensor:
    """A mask with every kind of row: everything visible, some, one key only (and never none)."""
    mask = torch.rand(batch, 1, queries, keys) > 0.5
    mask[..., 0] = True
    mask[:, :, 0] = True
    mask[:, :, 1, 1:] = False
    return mask


@pytest.mark.parametrize("masked", [False, True])
def test_explicit_equals_fused_with_all_gradients(masked: bool) -> None:
    mask = some_mask() if masked else None
    query, key, value = qkv = [tensor.requires_grad_() for tensor in random_qkv()]
    contexts = (
        scaled_dot_product_attention(query, key, value, mask=mask)[0],
        F.scaled_dot_product_attention(query, key, value, attn_mask=mask),
    )
    gradients = (torch.autograd.grad(context.square().sum(), qkv) for context in contexts)
    for ours, theirs in (contexts, *zip(*gradients, strict=True)):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)


@given(
    queries=st.integers(1, 6),
    keys=st.integers(1, 6),
    spread=st.sampled_from([1e-3, 1.0, 30.0, 1000.0]),
    kind=st.sampled_from([torch.float32, torch.float64, torch.bfloat16]),
    seed=st.integers(0, 2**31),
)
def test_rows_are_distributions_over_the_visible_keys(
    queries: int, keys: int, spread: float, kind: torch.dtype, seed: int
) -> None:
    """In float32 or wider; a row that sees no key is all zeros, with finite gradients."""
    torch.manual_seed(seed)
    qkv = [tensor.to(kind) for tensor in random_qkv(queries=queries, keys=keys)]
    query, key, value = (
        tensor.mul(scale).requires_grad_() for tensor, scale in zip(qkv, (spread, spread, 1), strict=True)
    )
    mask = torch.rand(2, 1, queries, keys) > 0.4
    context, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    visible = mask.expand(2, 3, queries, keys)
    sees_something = visible.any(-1)
    assert (weights.dtype, context.dtype) == (torch.float64 if kind == torch.float64 else torch.float32, kind)
    assert weights.shape == visible.shape
    assert (weights >= 0).all()
    assert (weights[~visible] == 0).all(), "a masked weight must be exactly 0"
    torch.testing.assert_close(weights.sum(-1), sees_something.to(weights.dtype), rtol=0, atol=1e-5)
    assert (context[~sees_something] == 0).all()
    gradients = torch.autograd.grad(context.float().square().sum(), (query, key, value))
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][visible.sum(-1) == 0] == 0).all()
    if kind == torch.float64:
        assert (gradients[0][visible.sum(-1) == 1].abs() < 1e-9).all(), "of one key, the weight is 1 for any query"
    order = torch.randperm(keys)
    again, moved = scaled_dot_product_attention(query, key[:, :, order], value[:, :, order], mask=mask[..., order])
    close = {"rtol": 0, "atol": 0.1 if kind == torch.bfloat16 else 1e-5}
    torch.testing.assert_close(again, context, **close)
    torch.testing.assert_close(moved, weights[..., order], **close)


@pytest.mark.parametrize("dropout_p", [0.0, 0.3])
def test_the_tap_sees_the_tensors_of_the_computation(dropout_p: float) -> None:
    """The weights are those before dropout."""
    seen: dict[str, Tensor] = {}
    query, key, value = random_qkv()
    mask = some_mask()
    torch.manual_seed(5)
    context, weights = scaled_dot_product_attention(
        query, key, value, mask=mask, dropout_p=dropout_p, point=lambda name, tensor: seen.setdefault(name, tensor)
    )
    assert (seen["mask"] is mask, seen["weights"] is weights, seen["output"] is context) == (True, True, True)
    torch.testing.assert_close(seen["scores"], query @ key.mT / math.sqrt(4), rtol=0, atol=1e-6)
    visible = mask.expand_as(weights)
    assert torch.equal(seen["masked"][visible], seen["scores"][visible])
    assert (seen["masked"][~visible] == torch.finfo(torch.float32).min).all()
    torch.testing.assert_close(seen["masked"].softmax(-1), weights, rtol=0, atol=1e-7)
    torch.manual_seed(5)
    assert torch.equal(F.dropout(weights, dropout_p) @ value, context)


@pytest.mark.parametrize("case", ["self", "causal", "padding", "cross"])
@pytest.mark.parametrize("heads", [1, 4])
def test_multi_head_attention_is_torchs(case: str, heads: int) -> None:
    ours = MultiHeadAttention(16, heads).eval()
    peer = peer_attention(ours)
    x = torch.randn(3, 6, 16)
    memory = torch.randn(3, 9, 16) if case == "cross" else x
    tokens = torch.ones(3, memory.size(1), dtype=torch.long)
    tokens[1, -2:] = 0
    mask: Tensor | None = None
    attn_mask: Tensor | None = None
    key_padding_mask: Tensor | None = None
    if case == "causal":
        mask = causal_mask(6)
        attn_mask = ~mask[0, 0]  # torch's convention is the opposite: True = closed
    elif case in ("padding", "cross"):
        mask = padding_mask(tokens)
        key_padding_mask = tokens == 0
    recorder = PointRecorder(["weights"])
    with tapped(recorder):
        output = ours(x, memory, mask=mask)
    expected, expected_weights = peer(
        x, memory, memory, attn_mask=attn_mask, key_padding_mask=key_padding_mask, average_attn_weights=False
    )
    torch.testing.assert_close(output, expected, **PARITY)
    torch.testing.assert_close(recorder.tensors["weights"], expected_weights, **PARITY)


@pytest.mark.parametrize("dropout", [{}, {"dropout_p": 0.5}])
def test_attention_dropout_is_for_training_only_and_not_there_unasked(dropout: dict[str, float]) -> None:
    ours, x = MultiHeadAttention(16, 4, **dropout).eval(), torch.randn(2, 6, 16)
    expected = ours(x, x)
    torch.testing.assert_close(expected, peer_attention(ours)(x, x, x)[0], **PARITY)
    ours.train()
    assert torch.equal(ours(x, x), expected) == (not dropout)


def test_padding_mask_closes_padding_keys_and_nothing_else() -> None:
    mask = padding_mask(torch.tensor([[SOS, UNK, EOS], [7, PAD, PAD]]))
    assert (mask.dtype, mask.shape) == (torch.bool, (2, 1, 1, 3))
    assert mask[:, 0, 0].tolist() == [[True, True, True], [True, False, False]]


def test_target_mask_is_padding_and_future() -> None:
    for length in (1, 2, 7, 40):
        mask = causal_mask(length)
        assert (mask.dtype, mask.shape) == (torch.bool, (1, 1, length, length))
        assert mask[0, 0].tolist() == [[key <= query for key in range(length)] for query in range(length)]
    tokens = torch.tensor([[SOS, 6, PAD], [SOS, 6, 7]])
    assert target_mask(tokens)[:, 0].tolist() == [
        [[True, False, False], [True, True, False], [True, True, False]],
        [[True, False, False], [True, True, False], [True, True, True]],
    ]
    assert torch.equal(target_mask(tokens, causal=False), padding_mask(tokens))
