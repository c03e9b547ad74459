"""The LSTM through the same commands as the Transformer: train, translate with its attention, evaluate."""

from __future__ import annotations

from pathlib import Path

import pytest

from model import evaluate, train, translate
from model.checkpoint import load_model
from model.embeddings import count_parameters
from model.folder import CheckpointError
from model.lstm import LSTM
from model.trace import AttentionTrace

pytestmark = pytest.mark.slow  # real runs

SMALL = ["d_model=16", "max_steps=6", "eval_every=3", "save_every=3", "eval_sentences=4", "snapshots=2", "dropout=0.1"]


def test_train_translate_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--checkpoints", str(tmp_path)]
    asked = ["--task", "reverse", "--preset", "lstm-tiny", "--name", "mine", "--device", "cpu", "--set", *SMALL]
    assert train.main([*asked, *where]) == 0
    loaded = load_model(tmp_path / "mine")
    assert isinstance(loaded.model, LSTM)
    assert "LSTM encoder-decoder with attention, d_model 16" in loaded.card
    assert f"{count_parameters(loaded.model):,} parameters" in loaded.card
    with pytest.raises(CheckpointError, match="mine is an LSTM"):
        _ = loaded.transformer
    capsys.readouterr()

    trace_file = tmp_path / "trace.npz"
    assert translate.main(["--model", "mine", *where, "--trace", str(trace_file), "abc"]) == 0
    trace = AttentionTrace.load_npz(trace_file)
    assert trace.cross.shape[:2] == (1, 1)
    assert trace.cross.shape[3] == 4  # a b c <eos>
    assert trace.cross.sum(-1) == pytest.approx(1.0)
    assert trace.encoder.size == trace.decoder.size == 0
    assert translate.main(["--model", "mine", *where, "--beam", "3", "abc"]) == 0
    assert evaluate.main(["--model", "mine", *where, "--split", "valid", "--json"]) == 0
