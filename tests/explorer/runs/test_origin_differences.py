"""In what the settings of runs differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.runs.origin import differences, settings_of
from model.data.files import DATA_FILE
from model.folder import CONFIG, read_config, write_json
from tests.explorer.toy_runs import save_run
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


def test_what_a_run_learned_from_and_began_with_is_a_difference(tmp_path: Path) -> None:
    """Two files of one name with other pairs, two sets of further pairs, other weights, and a run trained longer."""

    def run(name: str, pairs: str, **changes: object) -> Path:
        folder = save_run(tmp_path / name)
        own = ["--data", "own.tsv", "--source-lang", "en", "--target-lang", "de"]
        write_json(folder / CONFIG, read_config(folder) | {"own_data": own, **changes})
        (folder / DATA_FILE).write_text(pairs, encoding="utf-8")
        return folder

    plain = run("plain", '["a", "b"]\n')
    assert differences({"plain": settings_of(plain), "same": settings_of(run("same", '["a", "b"]\n'))}) == []
    other = run("other", '["a", "c"]\n["d", "e"]\n')
    [row] = differences({"plain": settings_of(plain), "other": settings_of(other)})
    assert row["setting"] == "Own pairs"
    assert row["plain"].startswith("own.tsv (1 pair, checksum ")
    assert row["other"].startswith("own.tsv (2 pairs, checksum ")
    added = [{"file": "more.jsonl", "pairs": 2, "sha256": "0123456789abcdef"}]
    warm = run("warm", '["a", "b"]\n', init="plain", extended=[40], added_data=added, first={"max_steps": "5"})
    assert differences({"plain": settings_of(plain), "warm": settings_of(warm)}) == [
        {"setting": "Starts from", "plain": "–", "warm": "plain"},
        {"setting": "First part", "plain": "–", "warm": "max_steps=5"},
        {"setting": "Further pairs", "plain": "–", "warm": "more.jsonl (2 pairs, checksum 01234567)"},
        {"setting": "Trained longer", "plain": "–", "warm": "to 40 updates"},
    ]


def test_the_size_of_a_subword_vocabulary_says_nothing_of_other_tokens(tmp_path: Path) -> None:
    for name, tokenizer in (("letters", "characters"), ("pieces", "subwords")):
        config = read_config(save_run(tmp_path / name))
        data = config["data"] | {"tokenizer": tokenizer, "vocab_size": 400}
        write_json(tmp_path / name / CONFIG, config | {"data": data})
    assert "vocab_size" not in settings_of(tmp_path / "letters")
    assert settings_of(tmp_path / "pieces")["vocab_size"] == 400


@pytest.mark.parametrize("odd", [7, "x", {"a": 1}, [1, {"pairs": "x"}], True, None])
@pytest.mark.parametrize("name", ["first", "own_data", "added_data", "extended"])
def test_a_folder_that_says_something_odd_is_compared_all_the_same(tmp_path: Path, name: str, odd: object) -> None:
    folder = save_run(tmp_path / "odd")
    plain = settings_of(folder)
    write_json(folder / CONFIG, read_config(folder) | {name: odd})
    assert plain.items() <= settings_of(folder).items()
