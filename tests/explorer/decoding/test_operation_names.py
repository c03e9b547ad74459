"""The words about operations fit the model: T5's norms, biases and gates are not described as the paper's."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.browser.machine_words import formula_of, parts_of, words_of
from explorer.decoding.model_diagram import blocks_of
from explorer.decoding.operation_names import meaning_of, title_of
from model.dry_run import points
from tests.tiny import T5, tiny_config


@pytest.mark.parametrize("changes", [{}, T5], ids=["paper", "t5"])
def test_words_and_formulas_say_what_this_model_computes(changes: dict[str, Any]) -> None:
    config, other = tiny_config(**changes), bool(changes)
    meanings = {
        point.name: f"{title_of(point.name)}: {meaning_of(point.name, config)}"
        for point in points(config)
        if not point.name.endswith(("tokens", "mask"))
    }
    assert ("mean 0" in meanings["encoder.0.norm1"]) is not other
    assert ("root mean square" in meanings["encoder.0.norm1"]) is other
    assert ("Nothing is added" in meanings["src.positions"]) is other
    assert ("encoder.0.feed_forward.gate_proj" in meanings) is other
    assert ("encoder.0.self_attn.bias" in meanings) is other
    blocks = {block.name: block for block in blocks_of(config)}
    norm = next(block for block in blocks.values() if block.kind == "norm" and block.layer)
    assert ("mean 0" in words_of(norm, config)) is not other
    assert ("RMSNorm" in str(formula_of(norm, config))) is other
    network = next(block for block in blocks.values() if block.kind == "feed_forward")
    assert ("⊙" in str(formula_of(network, config))) is other
    assert ("'+'" in str(formula_of(network, config))) is not other, "T5 has no biases"
    for block in blocks.values():
        if block.attention:
            has_bias = other and block.attention != "cross"
            assert ("learned number for the distance" in parts_of(block, config)["scores"].words) is has_bias
