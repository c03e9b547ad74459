"""The encoder and the decoder: layers on top of each other, handing recorder and edits down to each."""

from __future__ import annotations

from torch import Tensor, nn

from model.config import ModelConfig
from model.edits import HeadEdits
from model.layers import DecoderLayer, EncoderLayer, make_norm
from model.recorder import AttentionRecorder

KeyValue = tuple[Tensor, Tensor]


class Encoder(nn.Module):
    """A stack of encoder layers, with a final norm for pre-norm only (Vaswani et al. 2017, §3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_encoder_layers))
        self.norm = make_norm(config) if config.norm_first else nn.Identity()

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None,
        fused: bool = False,
        record: AttentionRecorder | None = None,
        edit: HeadEdits | None = None,
    ) -> Tensor:
        """Shapes: x [batch, src, d_model]; mask broadcastable to [batch, head, src, src]; returns x's shape."""
        for i, layer in enumerate(self.layers):
            x = layer(
                x,
                mask=mask,
                fused=fused,
                record=record.at("encoder", i) if record is not None else None,
                edit=edit.at("encoder", i) if edit is not None else None,
                note=record.noting(f"encoder.layers.{i}.") if record is not None else None,
            )
        return _final_norm(self.norm, "encoder.norm", x, record)


class Decoder(nn.Module):
    """A stack of decoder layers, with a final norm for pre-norm only (Vaswani et al. 2017, §3.1)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder_layers))
        self.norm = make_norm(config) if config.norm_first else nn.Identity()

    def project_memory(self, memory: Tensor, *, record: AttentionRecorder | None = None) -> tuple[KeyValue, ...]:
        """Keys and values of the source for every layer, from memory [batch, src, d_model]."""
        found = []
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, DecoderLayer)
            note = record.noting(f"decoder.layers.{i}.cross_attn.") if record is not None else None
            found.append(layer.cross_attn.keys_values(memory, note=note))
        return tuple(found)

    def forward(
        self,
        x: Tensor,
        cross_kv: tuple[KeyValue, ...],
        past_kv: tuple[KeyValue, ...] = (),
        *,
        self_mask: Tensor | None,
        cross_mask: Tensor | None,
        fused: bool = False,
        record: AttentionRecorder | None = None,
        edit: HeadEdits | None = None,
        offset: int = 0,
    ) -> tuple[Tensor, tuple[KeyValue, ...]]:
        """Run all layers on new positions `offset`…; shapes per layer as in :class:`DecoderLayer`."""
        grown: list[KeyValue] = []
        for i, layer in enumerate(self.layers):
            x, key_value = layer(
                x,
                cross_kv[i],
                past_kv[i] if past_kv else None,
                self_mask=self_mask,
                cross_mask=cross_mask,
                fused=fused,
                record=(record.at("decoder", i), record.at("cross", i)) if record is not None else (None, None),
                edit=(edit.at("decoder", i, offset), edit.at("cross", i, offset)) if edit is not None else (None, None),
                note=record.noting(f"decoder.layers.{i}.") if record is not None else None,
            )
            grown.append(key_value)
        return _final_norm(self.norm, "decoder.norm", x, record), tuple(grown)


def _final_norm(norm: nn.Module, name: str, x: Tensor, record: AttentionRecorder | None) -> Tensor:
    out: Tensor = norm(x)
    if record is not None and out is not x:  # post-norm has none
        record.note(name, out)
    return out
