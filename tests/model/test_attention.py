from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from model.attention import MultiHeadAttention, scaled_dot_product_attention
from model.attention_variants import AttentionVariant
from model.masks import causal_mask, padding_mask
from model.recording import PointRecorder
from model.tap import tapped
from tests.model.peers import peer_attention
from tests.tiny import tiny_config

PARITY = {"rtol": 1.3e-6, "atol": 4e-5}  # float32 against another order of summation


def random_qkv(batch: int = 2, heads: int = 3, queries: int = 5, keys: int = 7, d_head: int = 4) -> tuple[Tensor, ...]:
    return (
        torch.randn(batch, heads, queries, d_head),
        torch.randn(batch, heads, keys, d_head),
        torch.randn(batch, heads, keys, d_head),
    )


def some_mask(batch: int = 2, queries: int = 5, keys: int = 7) -> Tensor:
    """A mask with every kind of row: everything visible, some, one key only (and never none)."""
    mask = torch.rand(batch, 1, queries, keys) > 0.5
    mask[..., 0] = True
    mask[:, :, 0] = True
    mask[:, :, 1, 1:] = False
    return mask


def test_the_formula_with_plain_loops() -> None:
    query, key, value = random_qkv(batch=1, heads=1, queries=2, keys=3, d_head=2)
    context, weights = scaled_dot_product_attention(query, key, value)
    for i in range(2):
        scores = [sum(query[0, 0, i, d].item() * key[0, 0, j, d].item() for d in range(2)) for j in range(3)]
        exponentials = [math.exp(score / math.sqrt(2)) for score in scores]
        row = [e / sum(exponentials) for e in exponentials]
        assert weights[0, 0, i].tolist() == pytest.approx(row, abs=1e-6)
        for d in range(2):
            expected = sum(row[j] * value[0, 0, j, d].item() for j in range(3))
            assert context[0, 0, i, d].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("masked", [False, True])
def test_explicit_equals_fused(masked: bool) -> None:
    query, key, value = random_qkv()
    mask = some_mask() if masked else None
    context, _ = scaled_dot_product_attention(query, key, value, mask=mask)
    fused = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(context, fused, rtol=0, atol=1e-6)


def test_explicit_and_fused_have_the_same_gradients() -> None:
    mask = some_mask()
    gradients = []
    for fused in (False, True):
        torch.manual_seed(3)
        qkv = [tensor.requires_grad_() for tensor in random_qkv()]
        explicit = scaled_dot_product_attention(*qkv, mask=mask)[0]
        context = F.scaled_dot_product_attention(*qkv, attn_mask=mask) if fused else explicit
        context.square().sum().backward()
        gradients.append([tensor.grad for tensor in qkv])
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)


@given(
    queries=st.integers(1, 6),
    keys=st.integers(1, 6),
    spread=st.sampled_from([1e-3, 1.0, 30.0, 1000.0]),
    seed=st.integers(0, 2**31),
)
def test_rows_are_distributions_over_the_visible_keys(queries: int, keys: int, spread: float, seed: int) -> None:
    torch.manual_seed(seed)
    query, key, value = random_qkv(queries=queries, keys=keys)
    mask = torch.rand(2, 1, queries, keys) > 0.4
    context, weights = scaled_dot_product_attention(query * spread, key * spread, value, mask=mask)
    visible = mask.expand(2, 3, queries, keys)
    assert weights.shape == visible.shape
    assert weights.dtype == torch.float32
    assert (weights >= 0).all()
    assert (weights[~visible] == 0).all(), "a masked weight must be exactly 0"
    sees_something = visible.any(-1)
    torch.testing.assert_close(weights.sum(-1), sees_something.float(), rtol=0, atol=1e-5)
    assert (weights.sum(-1)[~sees_something] == 0).all()
    assert (context[~sees_something] == 0).all()


def test_a_row_that_sees_nothing_is_zero_with_finite_gradients() -> None:
    query, key, value = (tensor.requires_grad_() for tensor in random_qkv())
    mask = some_mask()
    mask[0, :, 2] = False
    context, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    assert (weights[0, :, 2] == 0).all()
    assert (context[0, :, 2] == 0).all()
    context.square().sum().backward()
    for tensor in (query, key, value):
        assert torch.isfinite(tensor.grad).all()
    assert (query.grad[0, :, 2] == 0).all()
    torch.testing.assert_close(query.grad[0, :, 1], torch.zeros(3, 4), rtol=0, atol=1e-6)  # one key: its weight is 1
    assert query.grad[1, :, 0].abs().sum() > 0


def test_weights_are_those_before_dropout_and_dropout_still_happens() -> None:
    query, key, value = random_qkv()
    clean, weights = scaled_dot_product_attention(query, key, value)
    recorder = PointRecorder()
    dropped, seen = scaled_dot_product_attention(query, key, value, dropout_p=0.5, point=recorder)
    assert torch.equal(weights, seen)
    assert torch.equal(weights, recorder.tensors["weights"])
    assert not torch.allclose(clean, dropped)


def test_half_precision_inputs_still_give_float32_weights() -> None:
    query, key, value = (tensor.bfloat16() for tensor in random_qkv())
    context, weights = scaled_dot_product_attention(query, key, value, mask=some_mask())
    assert weights.dtype == torch.float32
    assert context.dtype == torch.bfloat16
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5), rtol=0, atol=1e-6)


@pytest.mark.parametrize("heads", [1, 2])
def test_the_scale_keeps_the_softmax_soft(heads: int) -> None:
    config = tiny_config(d_model=64, scale_scores=False)
    scaled, unscaled = MultiHeadAttention(64, heads).eval(), AttentionVariant(config, heads, same_sequence=True).eval()
    unscaled.load_state_dict(scaled.state_dict())
    x, recorders = 3 * torch.randn(2, 6, 64), (PointRecorder(), PointRecorder())
    for attention, recorder in zip((scaled, unscaled), recorders, strict=True):
        with tapped(recorder):
            attention(x, x)
    soft, hard = (recorder.tensors for recorder in recorders)
    assert torch.equal(soft["query"], hard["query"])
    torch.testing.assert_close(hard["scores"], hard["query"] @ hard["key"].mT, rtol=0, atol=1e-4)
    assert hard["weights"].max(-1).values.mean() > soft["weights"].max(-1).values.mean() + 0.2


@given(seed=st.integers(0, 2**31))
def test_the_order_of_the_keys_does_not_matter(seed: int) -> None:
    torch.manual_seed(seed)
    query, key, value = random_qkv()
    mask = some_mask()
    order = torch.randperm(7)
    context, weights = scaled_dot_product_attention(query, key, value, mask=mask)
    shuffled, shuffled_weights = scaled_dot_product_attention(
        query, key[:, :, order], value[:, :, order], mask=mask[..., order]
    )
    torch.testing.assert_close(shuffled, context, rtol=0, atol=1e-6)
    torch.testing.assert_close(shuffled_weights, weights[..., order], rtol=0, atol=1e-6)


def test_the_tap_sees_the_tensors_of_the_computation() -> None:
    seen: dict[str, Tensor] = {}
    query, key, value = random_qkv()
    mask = some_mask()
    context, weights = scaled_dot_product_attention(
        query, key, value, mask=mask, point=lambda name, tensor: seen.setdefault(name, tensor)
    )
    assert seen["mask"] is mask
    assert seen["weights"] is weights
    assert seen["output"] is context
    torch.testing.assert_close(seen["scores"], query @ key.mT / math.sqrt(4), rtol=0, atol=1e-6)
    visible = mask.expand_as(weights)
    assert torch.equal(seen["masked"][visible], seen["scores"][visible])
    assert (seen["masked"][~visible] == torch.finfo(torch.float32).min).all()
    torch.testing.assert_close(seen["masked"].softmax(-1), weights, rtol=0, atol=1e-7)
    assert torch.equal(weights @ value, context)


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


@pytest.mark.parametrize("mask", [None, causal_mask(6)], ids=["open", "causal"])
def test_recorded_weights_times_values_times_w_o_is_the_output(mask: Tensor | None) -> None:
    ours = MultiHeadAttention(16, 4).eval()
    x = torch.randn(2, 6, 16)
    recorder = PointRecorder()
    with tapped(recorder):
        output = ours(x, x, mask=mask)
    seen = recorder.tensors
    assert torch.equal(output, ours(x, x, mask=mask))
    w_o = ours.out_proj.weight.view(16, 4, 4)  # [d_model, head, d_head]
    rebuilt = torch.einsum("bhqk,bhkd,mhd->bqm", seen["weights"], seen["value"], w_o) + ours.out_proj.bias
    torch.testing.assert_close(rebuilt, output, rtol=0, atol=1e-6)


def test_keys_and_values_projected_beforehand_give_the_same() -> None:
    ours = MultiHeadAttention(16, 4).eval()
    x, memory = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    key, value = ours.keys_values(memory)
    assert key.shape == value.shape == (2, 4, 5, 4)
    assert torch.equal(ours.read(x, (key, value)), ours(x, memory))


def test_attention_dropout_is_for_training_only() -> None:
    ours = MultiHeadAttention(16, 4, dropout_p=0.5)
    x = torch.randn(2, 6, 16)
    ours.eval()
    assert torch.equal(ours(x, x), ours(x, x))
    torch.testing.assert_close(ours(x, x), peer_attention(ours)(x, x, x)[0], **PARITY)
    ours.train()
    assert not torch.equal(ours(x, x), ours(x, x))
