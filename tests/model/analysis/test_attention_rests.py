"""Where attention rests: shares of planted weights, recomputed by hand, and the largest number of planted vectors."""

from __future__ import annotations

import pytest
import torch

from model.analysis.attention_rests import attention_rests
from model.config import EOS, SOS, DataConfig
from model.data.task import Example
from model.recording import PointRecorder
from model.text.tokenizer_kinds import build_tokenizers
from model.transformer import Transformer
from tests.tiny import tiny_model

SENTENCES = ("a b c d", "b d", "c", "d a b")
WORDS = build_tokenizers(DataConfig(tokenizer="whitespace"), SENTENCES, SENTENCES)[0]
EXAMPLES = [Example(text, " ".join(reversed(text.split()))) for text in SENTENCES]
STACKS = {"encoder": ("encoder", "self_attn"), "decoder": ("decoder", "self_attn"), "cross": ("decoder", "cross_attn")}


def by_hand(model: Transformer) -> dict[str, dict[str, list[float]]]:
    """The same with loops over heads and queries."""
    found: dict[str, dict[str, list[float]]] = {}
    for kind, (stack, block) in STACKS.items():
        n_layers = model.config.n_layers(kind)
        found[kind] = {name: [0.0] * n_layers for name in ("first", "last", "uniform", "largest")}
        for example in EXAMPLES:
            src, tgt = [*WORDS.encode(example.source).ids, EOS], [SOS, *WORDS.encode(example.target).ids]
            recorder = PointRecorder()
            model(torch.tensor([src]), torch.tensor([tgt]), tap=recorder)
            for layer in range(n_layers):
                weights = recorder.tensors[f"{stack}.{layer}.{block}.weights"][0]
                first, last, uniform = [], [], []
                for head in weights:
                    for i, row in enumerate(head):
                        seen = i + 1 if kind == "decoder" else len(row)
                        if seen > 1:
                            first.append(float(row[0]))
                            last.append(float(row[seen - 1]))
                            uniform.append(1 / seen)
                for name, values in (("first", first), ("last", last), ("uniform", uniform)):
                    found[kind][name][layer] += sum(values) / len(values) / len(SENTENCES)
                number = {"encoder": 2, "decoder": 3}.get(kind)
                if number:
                    norm_first = model.config.norm_first
                    point = f"{stack}.{layer}.{'residual' if norm_first else 'norm'}{number}"
                    hidden = recorder.tensors[point].abs()
                    found[kind]["largest"][layer] += float(hidden.max() / hidden.median()) / len(SENTENCES)
    found["cross"].pop("largest")
    return found


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_numbers_are_those_of_a_loop(norm_first: bool) -> None:
    model = tiny_model(norm_first=norm_first)
    found, expected = attention_rests(model, WORDS, WORDS, EXAMPLES), by_hand(model)
    assert found.keys() == expected.keys()
    for kind, numbers in expected.items():
        assert found[kind].keys() == numbers.keys()
        for name, layers in numbers.items():
            assert found[kind][name] == pytest.approx(layers, rel=1e-5), (kind, name)
    first = attention_rests(model, WORDS, WORDS, EXAMPLES * 10, most=1)  # not more than asked for
    assert first == attention_rests(model, WORDS, WORDS, EXAMPLES[:1])
