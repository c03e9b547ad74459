"""PyTorch's own Transformer modules with our weights: an independent computation of the same numbers."""

import torch
from torch import nn

from model.attention import MultiHeadAttention
from model.config import ModelConfig
from model.layers import DecoderLayer, EncoderLayer


@torch.no_grad()
def peer_attention(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    peer = nn.MultiheadAttention(ours.q_proj.in_features, ours.n_heads, batch_first=True)
    _fill_attention(peer, ours)
    return peer.eval()


@torch.no_grad()
def peer_layer(
    ours: EncoderLayer | DecoderLayer, config: ModelConfig
) -> nn.TransformerEncoderLayer | nn.TransformerDecoderLayer:
    decodes = isinstance(ours, DecoderLayer)
    peer = (nn.TransformerDecoderLayer if decodes else nn.TransformerEncoderLayer)(
        config.d_model,
        config.n_decoder_heads if decodes else config.n_encoder_heads,
        config.d_ff,
        activation=config.activation,
        batch_first=True,
        norm_first=config.norm_first,
    )
    _fill_attention(peer.self_attn, ours.self_attn)
    if decodes:
        _fill_attention(peer.multihead_attn, ours.cross_attn)
    for name in ("norm1", "norm2", *(["norm3"] if decodes else [])):
        getattr(peer, name).load_state_dict(getattr(ours, name).state_dict())
    for name in ("linear1", "linear2"):
        getattr(peer, name).load_state_dict(getattr(ours.feed_forward, name).state_dict())
    return peer.eval()


def _fill_attention(peer: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    projections = (ours.q_proj, ours.k_proj, ours.v_proj)
    peer.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    peer.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    peer.out_proj.load_state_dict(ours.out_proj.state_dict())
