"""The words and lines about a model and its parts, and the diagram that follows its configuration."""

from typing import Any

import pytest

from explorer.browser.machine_words import formula_of, parts_of, words_of
from explorer.decoding.model_diagram import blocks_of
from explorer.decoding.model_summary import facts, title
from explorer.decoding.operation_names import title_of
from model.config import ModelConfig, to_dict
from model.dry_run import points
from tests.tiny import T5, tiny_config


def summary(**changes: Any) -> dict[str, Any]:
    return {
        "name": "m",
        "task": "reverse",
        "trained": True,
        "parameters": 171_000,
        "model": to_dict(ModelConfig(n_encoder_layers=3, n_decoder_layers=1, n_encoder_heads=2, n_decoder_heads=4)),
        "results": {"step": 9, "test": {"exact_match": 0.0731, "sentences": 1505, "bleu": 41.02}},
    } | changes


LSTM = to_dict(ModelConfig(n_encoder_layers=1, n_decoder_layers=2)) | {"architecture": "lstm"}
ALONE = to_dict(ModelConfig(architecture="decoder"))


@pytest.mark.parametrize(
    ("changes", "said", "unsaid"),
    [
        ({}, ["Reverse", "171 k", "3 encoder layers × 2 heads", "1 decoder layer × 4 heads"], "Not trained"),
        ({}, ["BLEU 41.0; 7.3 % of 1505", "held-out"], "by heart"),
        ({"model": ALONE}, ["no encoder, 2 decoder layers × 4 heads, d_model 128; post-norm"], "encoder layer"),
        ({"model": LSTM}, ["LSTM, 1 encoder layer and 2 decoder layers, one head of attention"], "×"),
        ({"task": "phrases-en-de"}, ["by heart"], "held-out"),
        ({"trained": False, "task": "files", "results": {}}, ["Not trained", "somebody's own pairs"], "held-out"),
        ({"task": "files", "own_file": "numbers.tsv"}, ["the pairs in numbers.tsv"], "somebody"),
    ],
)
def test_facts_name_sizes_and_scores(changes: dict[str, Any], said: list[str], unsaid: str) -> None:
    text = " ".join(facts(summary(**changes)))
    assert all(part in text for part in said)
    assert unsaid not in text
    assert title(summary(**changes)) == ("m" if changes.get("trained", True) else "m (untrained)")


@pytest.mark.parametrize("changes", [{}, T5], ids=["paper", "t5"])
def test_words_and_formulas_say_what_this_model_computes(changes: dict[str, Any]) -> None:
    config, other = tiny_config(**changes), bool(changes)
    titles = {point.name: title_of(point.name) for point in points(config) if point.reads}
    assert ("encoder.0.feed_forward.gate_proj" in titles) is other
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
