"""The example for models from Hugging Face is run as printed, on tiny untrained models; nothing is downloaded."""

from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.decoding.attention_file import read_own
from explorer.screens.own.page import EXAMPLE
from tests.paths import ROOT

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "##s")


def test_page_and_documentation_print_the_same_lines() -> None:
    assert EXAMPLE in (ROOT / "docs" / "other-models.md").read_text(encoding="utf-8")
    assert len(EXAMPLE.splitlines()) == 3


def test_the_printed_lines_show_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transformers = pytest.importorskip("transformers", reason="it comes with tests/benchmarks/requirements.txt")
    monkeypatch.chdir(tmp_path)
    Path("vocab.txt").write_text("\n".join(WORDS))
    tokenizer = transformers.BertTokenizerFast("vocab.txt")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(WORDS), attn_implementation="eager", **sizes)
    model = transformers.BertModel(config).eval()
    exec(EXAMPLE, {"model": model, "tokenizer": tokenizer, "torch": torch, "np": np})
    own = read_own(Path("mine.npz").read_bytes(), "mine.npz")
    assert own.trace.src_tokens == ("[CLS]", "the", "cat", "sat", "[SEP]")
    expected = model(**tokenizer("The cat sat", return_tensors="pt"), output_attentions=True).attentions
    np.testing.assert_array_equal(own.trace.encoder, np.stack([layer[0].detach().numpy() for layer in expected]))
    assert own.trace.encoder.shape == (2, 4, 5, 5)
    assert own.notes == ()
