"""The list of wrong validation answers: which are in it, and what is said of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from explorer.runs import wrong_answers as module
from explorer.runs.wrong_answers import validation_task, wrong_answers
from model.checkpoint import load_model
from model.data import DataError, Example
from tests.paths import ROOT

PHRASES = ROOT / "checkpoints" / "phrases-en-de"


def test_only_what_is_not_right_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH", 2)
    loaded = load_model(PHRASES)
    task = validation_task(loaded)
    pairs = (*task.splits["valid"][:3], Example("I am a student", "Ich bin Lehrer"), Example("x " * 400, "zu lang"))
    task = replace(task, build=lambda: {"valid": pairs})
    reports: list[float] = []
    found = wrong_answers(loaded, task, lambda done, words: reports.append(done))
    assert list(found.columns()) == ["source", "right answer", "model's answer"]
    assert found.answers == [("I am a student", "Ich bin Lehrer", "Ich bin Student")]
    assert found.caption().startswith("1 of 4 validation answers is not exactly right (25.0 %): greedy search")
    assert found.caption().endswith("Left out as empty or too long for the model: 1.")
    assert reports == [0.0, 0.4, 0.8]


def test_a_model_whose_sentences_are_not_here_gets_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    loaded = load_model(PHRASES)
    for name in ("imported", "multi30k-en-de", "files"):
        with pytest.raises(DataError):
            validation_task(replace(loaded, data_config=replace(loaded.data_config, task=name)))
