import pytest
import torch
from torch import nn
from torch.nn import functional as F

from model.layers import DecoderLayer, EncoderLayer, FeedForward
from model.masks import causal_mask, padding_mask
from model.variants import EncoderLayerWithoutResidual, ScalarLayerNorm
from tests.model.peers import peer_layer
from tests.tiny import sources, targets, tiny_config

PARITY = {"rtol": 1.3e-6, "atol": 4e-5}


def away_from_zero(layer: nn.Module) -> nn.Module:
    """Give biases and norms distinct values, so that omitting one would show."""
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return layer.eval()


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_layers_are_torchs(norm_first: bool, activation: str) -> None:
    """At real positions; without dropout, training computes the same."""
    config = tiny_config(norm_first=norm_first, activation=activation)
    src, tgt = sources(7, 2, 5), targets(5, 5, 3)
    x, memory = torch.randn(3, 5, 16), torch.randn(3, 7, 16)
    encoder, decoder = away_from_zero(EncoderLayer(config)), away_from_zero(DecoderLayer(config))
    expected = peer_layer(encoder, config)(memory, src_key_padding_mask=src == 0)
    for training in (False, True):
        output = encoder.train(training)(memory, mask=padding_mask(src))
        torch.testing.assert_close(output[src != 0], expected[src != 0], **PARITY)
    expected = peer_layer(decoder, config)(
        x, memory, tgt_mask=~causal_mask(5)[0, 0], tgt_key_padding_mask=tgt == 0, memory_key_padding_mask=src == 0
    )
    output, (key, value) = decoder(
        x,
        decoder.cross_attn.keys_values(memory),
        self_mask=causal_mask(5) & padding_mask(tgt),
        cross_mask=padding_mask(src),
    )
    torch.testing.assert_close(output[tgt != 0], expected[tgt != 0], **PARITY)
    assert key.shape == value.shape == (3, 4, 5, 4)


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
def test_a_layer_without_residuals_is_its_sublayers_and_norms(norm_first: bool) -> None:
    layer = away_from_zero(EncoderLayerWithoutResidual(tiny_config(norm_first=norm_first)))
    x = expected = torch.randn(2, 5, 16)
    for norm, sublayer in ((layer.norm1, lambda y: layer.self_attn(y, y)), (layer.norm2, layer.feed_forward)):
        expected = sublayer(norm(expected)) if norm_first else norm(sublayer(expected))
    torch.testing.assert_close(layer(x), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("name", "function"), [("relu", F.relu), ("gelu", F.gelu), ("silu", F.silu)])
def test_feed_forward_is_the_formula_at_each_position_alone(name: str, function: nn.Module) -> None:
    block = away_from_zero(FeedForward(tiny_config(activation=name)))
    x = torch.randn(2, 5, 16)
    hidden = function(x @ block.linear1.weight.T + block.linear1.bias)
    assert hidden.shape == (2, 5, 24)
    expected = hidden @ block.linear2.weight.T + block.linear2.bias
    torch.testing.assert_close(block(x), expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(block(x)[:, 3], block(x[:, 3]), rtol=0, atol=1e-6)


def test_a_scalar_norm_starts_as_torchs_and_has_two_numbers() -> None:
    standard, scalar = nn.LayerNorm(16), ScalarLayerNorm()
    x = 3 + 2 * torch.randn(4, 16)
    assert sum(parameter.numel() for parameter in scalar.parameters()) == 2
    torch.testing.assert_close(scalar(x), standard(x))
    with torch.no_grad():
        scalar.weight.fill_(2.0)
        scalar.bias.fill_(-1.0)
    torch.testing.assert_close(scalar(x).mean(-1), torch.full((4,), -1.0), rtol=0, atol=1e-5)
    torch.testing.assert_close(scalar(x).std(-1, correction=0), torch.full((4,), 2.0), rtol=0, atol=1e-3)


@pytest.mark.parametrize("kind", ["dropout", "attention_dropout", "activation_dropout"])
@pytest.mark.parametrize("decodes", [False, True])
def test_each_dropout_acts_in_training_and_only_there(kind: str, decodes: bool) -> None:
    layer = (DecoderLayer if decodes else EncoderLayer)(tiny_config(**{kind: 0.5}))
    x = torch.randn(2, 5, 16)
    more = (layer.cross_attn.keys_values(x),) if decodes else ()
    for training in (True, False):
        layer.train(training)
        first, second = (layer(x, *more)[0] for _ in range(2))
        assert torch.equal(first, second) != training
        for attention in (layer.self_attn, *([layer.cross_attn] if decodes else [])):
            alike = torch.equal(attention(x, x), attention(x, x))
            assert alike != (training and kind == "attention_dropout")
