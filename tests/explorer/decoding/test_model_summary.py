"""The lines that describe a model."""

from __future__ import annotations

from typing import Any

from explorer.decoding.model_summary import facts, title
from model.config import ModelConfig, to_dict


def summary(**changes: Any) -> dict[str, Any]:
    return {
        "name": "m",
        "task": "reverse",
        "trained": True,
        "parameters": 171_000,
        "model": to_dict(ModelConfig(n_encoder_layers=3, n_decoder_layers=1, n_encoder_heads=2, n_decoder_heads=4)),
        "results": {"step": 9, "test": {"exact_match": 0.0731, "sentences": 1505, "bleu": 41.02}},
    } | changes


def test_facts_name_sizes_and_scores() -> None:
    text = " ".join(facts(summary()))
    for part in (
        "Reverse",
        "171 k",
        "3 encoder layers × 2 heads",
        "1 decoder layer × 4 heads",
        "BLEU 41.0; 7.3 % of 1505",
    ):
        assert part in text
    assert "held-out" in text


def test_an_lstm_has_one_head_of_attention() -> None:
    lstm = to_dict(ModelConfig(n_encoder_layers=1, n_decoder_layers=2)) | {"architecture": "lstm"}
    assert "LSTM, 1 encoder layer and 2 decoder layers, one head of attention" in facts(summary(model=lstm))[1]


def test_memorised_sentences_are_not_called_held_out() -> None:
    text = " ".join(facts(summary(task="phrases-en-de")))
    assert "by heart" in text
    assert "held-out" not in text


def test_an_untrained_model_and_own_data() -> None:
    text = " ".join(facts(summary(trained=False, task="files", results={})))
    assert "Not trained" in text
    assert "own data" in text


def test_the_title_warns_of_an_untrained_model() -> None:
    assert title(summary()) == "m"
    assert title(summary(trained=False)) == "m (untrained)"
