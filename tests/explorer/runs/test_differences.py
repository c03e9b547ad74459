"""In what the settings of runs differ."""

from __future__ import annotations

from pathlib import Path

from explorer.runs.differences import differences, settings_of
from tests.paths import ROOT


def test_only_what_differs_is_listed_with_its_value_in_each_run() -> None:
    one = {"dropout": 0.1, "causal": True, "seed": 1, "learning_rate": 0.001}
    other = {"dropout": 0.3, "causal": False, "seed": 1}
    assert differences({"a": one, "b": other}) == [
        {"setting": "Dropout", "a": "0.1", "b": "0.3"},
        {"setting": "Mask the future", "a": "yes", "b": "no"},
        {"setting": "Highest learning rate", "a": "0.001", "b": "–"},
    ]
    assert differences({"a": one, "b": dict(one)}) == []


def test_bundled_models_and_a_folder_without_settings(tmp_path: Path) -> None:
    found = {name: settings_of(ROOT / "checkpoints" / name) for name in ("adjective-swap", "adjective-swap-unmasked")}
    assert "Mask the future" in [row["setting"] for row in differences(found)]
    assert settings_of(tmp_path / "nothing") == {}
