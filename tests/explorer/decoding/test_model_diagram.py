"""The diagram of a model follows its configuration."""

from __future__ import annotations

from explorer.decoding.model_diagram import diagram_of
from model.config import ATTENTION_KINDS, ModelConfig


def test_a_transformer_of_unequal_depths() -> None:
    config = ModelConfig(n_encoder_layers=3, n_decoder_layers=1, n_encoder_heads=4, n_decoder_heads=2, norm_first=True)
    diagram = diagram_of(config)
    assert diagram.encoder == (("encoder", "feed_forward"),) * 3
    assert diagram.decoder == (("decoder", "cross", "feed_forward"),)
    assert (diagram.heads, diagram.norm) == ({"encoder": 4, "decoder": 2, "cross": 2}, "pre")


def test_an_lstm_attends_once_after_its_last_layer() -> None:
    config = ModelConfig(architecture="lstm", n_encoder_layers=2, n_decoder_layers=3)
    diagram = diagram_of(config)
    assert diagram.encoder == (("lstm",), ("lstm",))
    assert diagram.decoder == (("lstm",), ("lstm",), ("lstm", "cross"))
    places = [part for layer in (*diagram.encoder, *diagram.decoder) for part in layer]
    for kind in ATTENTION_KINDS:
        assert places.count(kind) == config.n_layers(kind)
