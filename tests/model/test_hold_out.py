"""Scenes held out are those that stand apart, whole, and what is written trains and scores like the corpus."""

import random
from pathlib import Path

import pytest

from model import hold_out
from model.data import get_task
from tests.model.commands import failure

AT_HOME = [f"{who} {does} {where}" for who in ("man", "girl", "dog") for does in ("sits", "runs") for where in "abcdef"]


def _sentences() -> tuple[list[str], set[int]]:
    """A thousand sentences of words that all go together, and eighty of a scene with words of its own."""
    rng = random.Random(0)
    bowling = {i: f"bowler {rng.choice(['rolls', 'throws'])} pin {rng.choice(['alley', 'lane'])}" for i in range(80)}
    places = rng.sample(range(1080), 80)
    lines = [rng.choice(AT_HOME) for _ in range(1080)]
    for place, line in zip(places, bowling.values(), strict=True):
        lines[place] = line
    return lines, set(places)


def test_the_scene_that_stands_apart_is_held_out_whole_and_the_rest_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hold_out, "COMMON", 0.5)
    lines, apart = _sentences()
    for stem in ("train", "val", "test_2016_flickr"):
        text = "".join(f"{line}\n" for line in (lines if stem == "train" else lines[:3]))
        (tmp_path / f"{stem}.en").write_text(text)
        (tmp_path / f"{stem}.de").write_text(text.upper())
    options = ["--task", "multi30k-en-de", "--data-dir", str(tmp_path), "--out", str(tmp_path / "new")]
    assert hold_out.main([*options, "--sentences", "90"]) == 0
    held = (tmp_path / "new" / "unlike.de").read_text().splitlines()
    assert held == [lines[i].upper() for i in sorted(apart)]
    left = get_task("multi30k-en-de", data_dir=tmp_path / "new").splits["train"]
    assert [pair.source for pair in left] == [line for i, line in enumerate(lines) if i not in apart]
    assert "80 pairs held out" in capsys.readouterr().out

    assert "cannot be made: File exists" in failure(hold_out.main, [*options, "--sentences", "9"], capsys)
    assert "from 1 to 539" in failure(
        hold_out.main, [*options[:-1], str(tmp_path / "other"), "--sentences", "900"], capsys
    )
    assert "is generated" in failure(hold_out.main, ["--task", "reverse", "--out", str(tmp_path / "third")], capsys)
