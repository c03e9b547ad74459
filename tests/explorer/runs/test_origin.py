"""What is needed to train a model again, from its folder, whatever stands there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.runs.origin import computed_sentence, repeatable
from explorer.runs.status import RunStatus
from model.folder import CONFIG, STATUS, read_config, read_json, write_json
from tests.explorer.toy_runs import save_run
from tests.paths import ROOT


def test_a_bundled_model_can_be_trained_again_but_not_longer() -> None:
    run = repeatable(ROOT / "checkpoints" / "reverse", None)
    assert run is not None
    assert (run.steps, run.can_go_on) == (1500, False)
    assert run.computed == "Computed on the CPU in fp32 with 1 thread, PyTorch 2.13.0+cpu."


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


def test_what_it_was_trained_from_and_is_not_here(tmp_path: Path) -> None:
    folder = save_run(tmp_path / "mine")
    pairs = tmp_path / "more.jsonl"
    pairs.write_text("{}", encoding="utf-8")
    origin = {"preset": "tiny", "set": {}, "init": "teacher", "added_data": [{"file": pairs.name, "pairs": 3}]}
    write_json(folder / CONFIG, read_config(folder) | origin)
    write_json(folder / STATUS, read_json(folder / STATUS) | {"added_data": [str(pairs)]})

    def missing() -> str:
        run = repeatable(folder, None)
        assert run is not None
        return run.missing

    assert missing().startswith("It was trained from the weights of 'teacher', which are not here.")
    save_run(tmp_path / "teacher")
    assert missing() == ""
    pairs.unlink()
    assert missing().startswith("It was trained from the pairs in more.jsonl, which are not here.")
    (folder / STATUS).unlink()
    assert "more.jsonl" in missing()
    write_json(folder / CONFIG, read_config(folder) | {"first": {"seed": "2"}, "init": "gone", "added_data": []})
    assert missing() == "", "a first part is trained by the same command"


def test_on_what_a_run_was_computed() -> None:
    runtime = {"device": "cuda:1", "precision": "bf16", "threads": 1, "processes": 2, "compile": True, "settled": True}
    assert computed_sentence(runtime | {"torch_version": "2.13"}) == (
        "Computed on a GPU in bf16 with 1 thread, 2 processes, compiled, PyTorch 2.13."
    )
    assert computed_sentence(runtime | {"settled": False}) == ""
