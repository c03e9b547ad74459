"""PyTorch's own Transformer modules with our weights: an independent computation of the same numbers."""

from __future__ import annotations

import torch
from torch import nn

from model.attention import MultiHeadAttention
from model.config import ModelConfig
from model.layers import DecoderLayer, EncoderLayer, FeedForward


@torch.no_grad()
def peer_attention(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    d_model = ours.q_proj.in_features
    peer = nn.MultiheadAttention(d_model, ours.n_heads, batch_first=True)
    _fill_attention(peer, ours)
    return peer.eval()


@torch.no_grad()
def peer_encoder_layer(ours: EncoderLayer, config: ModelConfig) -> nn.TransformerEncoderLayer:
    peer = nn.TransformerEncoderLayer(
        config.d_model,
        config.n_encoder_heads,
        config.d_ff,
        activation=config.activation,
        batch_first=True,
        norm_first=config.norm_first,
    )
    _fill_attention(peer.self_attn, ours.self_attn)
    _fill_feed_forward(peer, ours.feed_forward)
    for number in (1, 2):
        _copy(getattr(peer, f"norm{number}"), getattr(ours, f"norm{number}"))
    return peer.eval()


@torch.no_grad()
def peer_decoder_layer(ours: DecoderLayer, config: ModelConfig) -> nn.TransformerDecoderLayer:
    peer = nn.TransformerDecoderLayer(
        config.d_model,
        config.n_decoder_heads,
        config.d_ff,
        activation=config.activation,
        batch_first=True,
        norm_first=config.norm_first,
    )
    _fill_attention(peer.self_attn, ours.self_attn)
    _fill_attention(peer.multihead_attn, ours.cross_attn)
    _fill_feed_forward(peer, ours.feed_forward)
    for number in (1, 2, 3):
        _copy(getattr(peer, f"norm{number}"), getattr(ours, f"norm{number}"))
    return peer.eval()


def _fill_attention(peer: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    projections = (ours.q_proj, ours.k_proj, ours.v_proj)
    peer.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    peer.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    _copy(peer.out_proj, ours.out_proj)


def _fill_feed_forward(peer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer, ours: FeedForward) -> None:
    _copy(peer.linear1, ours.linear1)
    _copy(peer.linear2, ours.linear2)


def _copy(peer: nn.Module, ours: nn.Module) -> None:
    peer.load_state_dict(ours.state_dict())
