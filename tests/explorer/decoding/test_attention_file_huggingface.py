"""The example for models from Hugging Face is run as printed, on tiny untrained models; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.decoding.attention_file import read_own
from explorer.decoding.decoding import Decoding
from explorer.screens.attention.own_file import EXAMPLE
from tests.paths import ROOT

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "##s")


def test_page_and_documentation_print_the_same_lines() -> None:
    assert EXAMPLE in (ROOT / "docs" / "other-models.md").read_text(encoding="utf-8")
    assert len(EXAMPLE.splitlines()) == 3


@pytest.fixture
def transformers() -> Any:
    return pytest.importorskip("transformers", reason="transformers comes with tests/benchmarks/requirements.txt")


@pytest.fixture
def tokenizer(transformers: Any, tmp_path: Path) -> Any:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    return transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"))


def run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **names: Any) -> Decoding:
    """Run the lines as a user would, and read the file that they write."""
    import torch

    monkeypatch.chdir(folder)
    exec(code, names | {"torch": torch, "np": np})
    return read_own((folder / "mine.npz").read_bytes(), "mine.npz")


def test_the_printed_lines_show_an_encoder(
    transformers: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(WORDS), attn_implementation="eager", **sizes)
    model = transformers.BertModel(config).eval()
    own = run(EXAMPLE, tmp_path, monkeypatch, model=model, tokenizer=tokenizer)
    assert own.trace.src_tokens == ("[CLS]", "the", "cat", "sat", "[SEP]")
    expected = model(**tokenizer("The cat sat", return_tensors="pt"), output_attentions=True).attentions
    np.testing.assert_array_equal(own.trace.encoder, np.stack([layer[0].detach().numpy() for layer in expected]))
    assert own.trace.encoder.shape == (2, 4, 5, 5)
    assert own.notes == ()


def test_a_translation_model_brings_all_three_kinds(
    transformers: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = transformers.MarianConfig(
        vocab_size=len(WORDS),
        d_model=16,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=4,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        pad_token_id=0,
        decoder_start_token_id=0,
        eos_token_id=3,
        forced_eos_token_id=3,
        attn_implementation="eager",
    )
    code = """
inputs = tokenizer("The cats sat", return_tensors="pt", return_token_type_ids=False)
out = model(**inputs, decoder_input_ids=torch.tensor([[0, 5, 6]]), output_attentions=True)
kinds = {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions, "cross": out.cross_attentions}
np.savez("mine.npz", src_tokens=inputs.tokens(), read_tokens=["<pad>", "the", "cat"],
         **{kind: torch.cat(layers).detach().float() for kind, layers in kinds.items()})
"""
    own = run(code, tmp_path, monkeypatch, model=transformers.MarianMTModel(config).eval(), tokenizer=tokenizer)
    shapes = (own.trace.encoder.shape, own.trace.decoder.shape, own.trace.cross.shape)
    assert shapes == ((2, 4, 6, 6), (3, 2, 3, 3), (3, 2, 3, 6))
    assert own.trace.src_tokens == ("[CLS]", "the", "cat", "s", "sat", "[SEP]")
    assert (own.trace.decoder_mask == np.triu(np.ones((3, 3)), 1)).all(), "a causal decoder is recognised as one"
