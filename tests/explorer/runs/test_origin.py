"""What is needed to train a model again, from its folder, whatever stands there, and in what runs differ."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from explorer.locale import language
from explorer.runs.origin import (
    comparable,
    differences,
    losses_are_alike,
    repeatable,
    settings_of,
)
from explorer.runs.settings import as_text, described, increment, problem, setting, value_of, written
from explorer.runs.status import RunStatus
from model.config import TrainConfig
from model.data.files import DATA_FILE
from model.folder import CONFIG, STATUS, TOKENIZER, read_config, read_json, write_json
from model.presets import PRESETS
from model.training.schedule import learning_rate
from tests.explorer.toy_runs import save_run
from tests.paths import ROOT


@pytest.mark.parametrize("broken", [{"set": None}, {"preset": 3}, {"training": []}])
def test_a_folder_that_does_not_say_how_it_was_trained(tmp_path: Path, broken: dict[str, Any]) -> None:
    folder = save_run(tmp_path / "mine")
    config = read_config(folder) | {"preset": "tiny", "set": {}}
    write_json(folder / CONFIG, config | {"results": {}, "runtime": ["?"]})
    run = repeatable(folder, RunStatus("mine", "finished"))
    assert run is not None
    assert (run.steps, run.computed) == (0, "")
    write_json(folder / CONFIG, config | broken)
    assert repeatable(folder, None) is None
    assert repeatable(tmp_path / "nothing", None) is None


def test_a_longer_run_says_what_its_learning_rate_does_next(tmp_path: Path) -> None:
    """A run that ended early is often trained to less than was planned: its rate falls at once."""
    folder = save_run(tmp_path / "mine")
    planned = TrainConfig(schedule="cosine", max_steps=750, warmup_steps=100)
    write_json(folder / CONFIG, read_config(folder) | {"preset": "tiny", "set": {}, "training": asdict(planned)})
    run = repeatable(folder, RunStatus("mine", "finished", step=300, max_steps=750))
    assert run is not None
    now = learning_rate(planned, 300)
    for total, word in (
        (600, "faster than planned"),
        (750, "weights will be the same"),
        (751, "slowly"),
        (900, "rise"),
    ):
        sentence, then = run.longer_sentence(total), learning_rate(replace(planned, max_steps=total), 301)
        assert word in sentence
        assert ("rises" in sentence) == (then > now)
        assert ("faster" in sentence) == (then < learning_rate(planned, 301))
    whole = repeatable(folder, RunStatus("mine", "finished", step=750, max_steps=750))
    assert whole is not None
    assert "rises" in whole.longer_sentence(900)
    assert "rises" not in replace(whole, schedule="constant").longer_sentence(1500)


def test_what_it_was_trained_from_and_is_not_here(tmp_path: Path) -> None:
    folder = save_run(tmp_path / "mine")
    pairs = tmp_path / "more.jsonl"
    pairs.write_text("{}", encoding="utf-8")
    origin = {"preset": "tiny", "set": {}, "init": "teacher", "added_data": [{"file": pairs.name, "pairs": 3}]}
    write_json(folder / CONFIG, read_config(folder) | origin)
    write_json(folder / STATUS, read_json(folder / STATUS) | {"added_data": [str(pairs)]})

    def missing() -> str:
        return repeatable(folder, None).missing

    assert missing().startswith("It was trained from the weights of “teacher”, which are not here.")
    save_run(tmp_path / "teacher")
    assert missing() == ""
    pairs.unlink()
    assert missing().startswith("It was trained from the pairs in more.jsonl, which are not here.")
    (folder / STATUS).unlink()
    assert "more.jsonl" in missing()
    write_json(folder / CONFIG, read_config(folder) | {"first": {"seed": "2"}, "init": "gone", "added_data": []})
    assert missing() == "", "a first part is trained by the same command"


def test_only_what_differs_is_listed_with_its_value_in_each_run(tmp_path: Path) -> None:
    one = {"dropout": 0.1, "causal": True, "seed": 1, "learning_rate": 0.001}
    other = {"dropout": 0.3, "causal": False, "seed": 1}
    assert [tuple(row.values()) for row in differences({"a": one, "b": other})] == [
        ("Dropout", "0.1", "0.3"),
        ("Mask the future", "yes", "no"),
        ("Highest learning rate", "0.001", "–"),
    ]
    names = differences({"a": {"positions": "rope", "select_by": "bleu"}, "b": {"positions": "none"}})
    assert [tuple(row.values()) for row in names] == [("Positions", "RoPE", "none"), ("Best weights by", "BLEU", "–")]
    assert differences({"a": one, "b": dict(one)}) == []
    found = {name: settings_of(ROOT / "checkpoints" / name) for name in ("adjective-swap", "adjective-swap-unmasked")}
    assert [tuple(row.values()) for row in differences(found)] == [
        ("Mask the future", "yes", "no"),
        ("Best weights by", "exact match", "loss"),
    ]
    older = {name: settings_of(ROOT / "checkpoints" / name) for name in ("reverse", "reverse-decoder")}
    settings = [row["setting"] for row in differences(older)]
    assert "Decoder layers" in settings
    assert not {"Feed forward", "Banned tokens"} & set(settings), "which the older file lacks, and has as defaults"
    assert settings_of(tmp_path / "nothing") == {}
    alike = [losses_are_alike(ROOT / "checkpoints" / name) for name in ("reverse", "reverse-decoder", "multi30k-en-de")]
    assert alike == [True, True, False], "the last has dropout and label smoothing"
    assert not losses_are_alike(tmp_path / "nothing")


def test_settings_are_named_and_written_in_the_language_chosen() -> None:
    one = {"tokenizer": "words", "positions": "sinusoidal", "dropout": 0.3, "stop_when_right": 3, "patience": 5}
    other = {"tokenizer": "characters", "positions": "rope", "dropout": 0.1, "stop_when_right": 0, "patience": 0}
    one |= {"own_pairs": "p.tsv", "select_by": "exact_match", "clip_norm": 1}
    other |= {"own_pairs": "", "select_by": "bleu", "clip_norm": 0}
    rows = {row["setting"]: (row["a"], row["b"]) for row in differences({"a": one, "b": other})}
    assert rows["Stop after perfect evaluations"] == ("3", "never")
    assert rows["Patience"] == ("5", "never")
    assert rows["Gradient norm limit"] == ("1", "0"), "which is off, but no evaluation is waited for"
    assert described("positions", "rope") == "Positions RoPE"
    with language.written_in("de"):
        german = {row["Einstellung"]: (row["a"], row["b"]) for row in differences({"a": one, "b": other})}
        assert described("dropout", "0.3") == "Dropout 0,3"
        fixed = [written(name, "none") for name in ("positions", "share_embeddings")]
    assert german["Tokenizer"] == ("Wörter", "Zeichen")
    assert german["Positionen"] == ("sinusförmig", "RoPE")
    assert german["Dropout"] == ("0,3", "0,1")
    assert german["Beste Gewichte nach"] == ("exakte Übereinstimmung", "BLEU")
    assert german["Eigene Paare"][0] == "p.tsv"
    assert fixed == ["keine"] * 2


def test_whole_answers_are_compared_whatever_their_tokens(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_run(tmp_path / name)
    (tmp_path / "b" / TOKENIZER).write_text("{}", encoding="utf-8")
    folders = {name: tmp_path / name for name in ("a", "b")}
    assert comparable(folders, by_token=True) == [["a"], ["b"]]
    assert comparable(folders, by_token=False) == [["a", "b"]]


def test_data_are_named_as_on_the_page_and_updates_as_they_were_made(tmp_path: Path) -> None:
    def run(name: str, task: str, made: int) -> dict[str, Any]:
        config = read_config(save_run(tmp_path / name))
        config["data"]["task"], config["training"]["max_steps"] = task, 120
        write_json(tmp_path / name / CONFIG, config | {"results": {"trained_steps": made}})
        return settings_of(tmp_path / name)

    early, whole = run("early", "files", 96), run("whole", "dates", 120)
    rows = {row["setting"]: (row["a"], row["b"]) for row in differences({"a": early, "b": whole})}
    assert rows == {"Task": ("Your own pairs", "Dates to ISO 8601"), "Updates (steps)": ("96 of at most 120", "120")}


def test_what_a_run_learned_from_and_began_with_is_a_difference(tmp_path: Path) -> None:
    """Two files of one name with other pairs, two sets of further pairs, other weights, and a run trained longer."""

    def run(name: str, pairs: str, **changes: object) -> dict[str, Any]:
        folder = save_run(tmp_path / name)
        own = ["--data", "own.tsv", "--source-lang", "en", "--target-lang", "de"]
        write_json(folder / CONFIG, read_config(folder) | {"own_data": own, **changes})
        (folder / DATA_FILE).write_text(pairs, encoding="utf-8")
        return settings_of(folder)

    plain = run("plain", '["a", "b"]\n')
    assert differences({"plain": plain, "same": run("same", '["a", "b"]\n')}) == []
    [row] = differences({"plain": plain, "other": run("other", '["a", "c"]\n["d", "e"]\n')})
    shown = [text.partition(", checksum ")[0] for text in row.values()]
    assert shown == ["Own pairs", "own.tsv (1 pair", "own.tsv (2 pairs"]
    added = [{"file": "more.jsonl", "pairs": 2, "sha256": "0123456789abcdef"}]
    warm = run("warm", '["a", "b"]\n', init="plain", extended=[40], added_data=added, first={"max_steps": "5"})
    assert [tuple(row.values()) for row in differences({"plain": plain, "warm": warm})] == [
        ("Starts from", "–", "plain"),
        ("First part", "–", "max_steps=5"),
        ("Further pairs", "–", "more.jsonl (2 pairs, checksum 01234567)"),
        ("Trained longer", "–", "to 40 updates"),
    ]


@pytest.mark.parametrize("name", ["first", "own_data", "added_data", "extended"])
def test_a_folder_that_says_something_odd_is_compared_all_the_same(tmp_path: Path, name: str) -> None:
    folder = save_run(tmp_path / "odd")
    plain, config = settings_of(folder), read_config(folder)
    for odd in (7, "x", {"a": 1}, [1, {"pairs": "x"}], True, None):
        write_json(folder / CONFIG, config | {name: odd})
        assert plain.items() <= settings_of(folder).items(), odd


@pytest.mark.parametrize("value", [True, False, 7, 0.1, 1e-9, "cosine"])
def test_text_is_read_back(value: object) -> None:
    assert value_of(type(value), as_text(value)) == value


def test_a_changed_setting_takes_the_place_of_the_preset_and_one_that_does_not_fit_gets_a_message() -> None:
    preset = PRESETS["tiny"]
    assert setting(preset, (), "max_steps") == preset.training["max_steps"]
    assert setting(preset, (("max_steps", "12"),), "max_steps") == 12
    assert problem(preset, ()) == ""
    assert "does not divide into" in problem(preset, (("d_model", "65"),))


def test_the_size_of_a_subword_vocabulary_says_nothing_of_other_tokens(tmp_path: Path) -> None:
    for name, tokenizer in (("letters", "characters"), ("pieces", "subwords")):
        config = read_config(save_run(tmp_path / name))
        data = config["data"] | {"tokenizer": tokenizer, "vocab_size": 400}
        write_json(tmp_path / name / CONFIG, config | {"data": data})
    assert "vocab_size" not in settings_of(tmp_path / "letters")
    assert settings_of(tmp_path / "pieces")["vocab_size"] == 400


@pytest.mark.parametrize(("value", "step"), [(4, 1), (512, 10), (3000, 100), (0.0, 0.05), (0.1, 0.05), (4e-3, 0.002)])
def test_one_press_moves_a_number_in_proportion(value: float, step: float) -> None:
    assert increment(value) == pytest.approx(step)
