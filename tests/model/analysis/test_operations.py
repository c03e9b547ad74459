"""A walk through the model: shapes, counts and wiring equal the modules'; so does the budget of its parts."""

import re
from itertools import product
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from model.analysis.operations import (
    record,
)
from model.analysis.size import PAPER, PAPER_VOCABULARY, budget
from model.architectures import make_transformer
from model.config import EOS, ModelConfig
from model.dry_run import points
from model.embeddings import count_parameters
from tests.tiny import DECODERS, T5, sources, targets, tiny_config, tiny_model

SOURCE, PATH = (5, 6, 7, 8), (9, 4, 8, EOS)


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_wiring_is_the_models(norm_first: bool) -> None:
    """Results recomputed from what an operation reads equal the recorded results."""
    model = tiny_model(norm_first=norm_first)
    found = record(model, SOURCE, PATH, 3)

    def inputs(name: str) -> list[torch.Tensor]:
        return [found[each].value for each in by_name[name].reads if each in found.operations]

    by_name = {point.name: point for point in points(model.config)}
    with torch.inference_mode():
        for name, operation in found.operations.items():
            if operation.short.startswith(("q_proj", "k_proj", "v_proj", "out_proj", "linear", "norm")):
                (given,), module = inputs(name), model.get_submodule(by_name[name].module)
                torch.testing.assert_close(module(given), operation.value, rtol=0, atol=1e-6)
        (last,) = inputs("logits")
        torch.testing.assert_close(model.output(last[:, -1]), found.logits[None], rtol=0, atol=1e-6)


def test_masked_cells_are_left_out_and_forbidden_tokens_have_no_chance() -> None:
    whole = record(tiny_model(), SOURCE, PATH, 3)
    assert whole["decoder.2.self_attn.scores"].shape == (1, 4, 3, 3)
    chances = whole["softmax"].value[0, -1]
    assert chances[:2].tolist() == [0.0, 0.0], "<pad> and <sos> are never predicted"
    torch.testing.assert_close(chances[2:], whole.logits[2:].softmax(-1), rtol=0, atol=1e-6)
    masked = whole["decoder.0.self_attn.masked"]  # its numbers leave closed cells out
    opened = whole["decoder.0.self_attn.scores"].value[0][:, torch.ones(3, 3).tril().bool()]
    assert masked.mean == pytest.approx(float(opened.mean()), abs=1e-6)
    assert masked.standard_deviation == pytest.approx(float(opened.std(unbiased=False)), abs=1e-6)


CHOICES = [
    {"share_embeddings": share, "positions": positions, "norm_first": pre, "layer_norm": norm}
    for share, positions, pre, norm in product(
        ("none", "target", "all"), ("sinusoidal", "learned"), (False, True), ("standard", "scalar")
    )
] + [
    *({"output_bias": True, "norm_embeddings": True, "share_embeddings": share} for share in ("none", "all")),
    T5,
    {"head_width": 6},
    {"feed_forward": "gated"},
    {"key_value_heads": 2},
    *DECODERS,
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_parameters_are_the_modules(choice: dict[str, Any]) -> None:
    config = tiny_config(**choice)
    model = make_transformer(config)
    parts = {part.name: part.parameters for part in budget(config, 5, 4)}
    assert sum(parts.values()) == count_parameters(model)
    for part, pattern in (
        ("decoder: projections of cross-attention", r"\.cross_attn\."),
        ("layer norms", "norm"),
        ("encoder: feed-forward", r"^encoder\..*\.feed_forward\."),
    ):
        assert parts[part] == sum(p.numel() for name, p in model.named_parameters() if re.search(pattern, name))


@pytest.mark.parametrize("choice", [*CHOICES[::5], *CHOICES[-3:]], ids=str)
def test_flops_are_those_that_a_run_makes(choice: dict[str, Any]) -> None:
    model = tiny_model(**choice)
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        model(sources(6), targets(5))
    assert sum(part.flops for part in budget(model.config, 6, 5)) == counter.get_total_flops()


@pytest.mark.parametrize(("name", "millions"), [("paper base", 63), ("paper big", 214)])
def test_the_papers_models(name: str, millions: int) -> None:
    sizes, _ = PAPER[name]
    config = ModelConfig(
        src_vocab_size=PAPER_VOCABULARY,
        tgt_vocab_size=PAPER_VOCABULARY,
        d_model=sizes["d_model"],
        d_ff=sizes["d_ff"],
        n_encoder_layers=sizes["layers"],
        n_decoder_layers=sizes["layers"],
        n_encoder_heads=sizes["heads"],
        n_decoder_heads=sizes["heads"],
        share_embeddings="all",
    )
    total = sum(part.parameters for part in budget(config, 10, 10))
    assert round(total / 1e6) == millions
    with torch.device("meta"):
        assert count_parameters(make_transformer(config)) == total
