"""The verdict on a run: planted curves, real runs stored for this test, and the runs of the bundled models."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Literal

import pytest

from model.analysis.run_diagnosis import Curves, diagnose
from model.folder import METRICS
from tests.paths import ROOT

REAL = ROOT / "tests" / "data" / "runs"
STEPS = range(10, 210, 10)


def curves(train: list[float], valid: list[float], score: list[float] | None = None, *, warm: bool = False) -> Curves:
    """Curves over the same steps, 10, 20 … 200; a learning rate that falls or, if `warm`, still rises."""
    rates = [0.001 * (step if warm else 300 - step) for step in STEPS]
    points = [list(zip(STEPS, values, strict=False)) for values in (train, valid, rates[: len(train)], score or [])]
    return Curves(*points)


def falling(first: float, last: float, n: int = 20) -> list[float]:
    """From the first value to the last, by the same factor each time."""
    return [first * (last / first) ** (i / (n - 1)) for i in range(n)]


FALL = falling(4.0, 0.5)
RISE = falling(3.9, 2.0, 6) + [2.0 + 0.1 * i for i in range(1, 15)]
FLAT = [4.0] * 20
WOBBLE = [value + (0.02 if i % 2 else 0.0) for i, value in enumerate(falling(4.0, 0.6))]
LONG = [(float(step), 4.0 * 0.9 ** (step / 20)) for step in range(20, 1001, 20)]
OVERFITTED = [(float(step), 1 + abs(step - 300) / 500) for step in range(100, 1001, 100)]
# Curves, the verdict on a run that has ended with them, and the part of the sentence that has the numbers.
PLANTED: dict[str, tuple[Curves, str, str]] = {
    "learning": (curves(FALL, falling(4.0, 0.6), [i / 40 for i in range(20)]), "learning", "Train it longer."),
    "noise": (curves(FALL, WOBBLE), "learning", ""),
    "learned": (
        curves(falling(4.0, 0.001), falling(4.0, 0.001), [min(1.0, i / 10) for i in range(20)]),
        "learned",
        "first reached at update 110",
    ),
    "memorising": (
        curves(falling(4.0, 0.01), RISE, [0.1] * 20),
        "memorising",
        "Memorising since update 60: the validation loss has risen from 2.00 to 3.30, while the training loss fell to "
        "0.014. Train for fewer updates,",
    ),
    "memorising, but more and more right": (
        curves(falling(4.0, 0.01), RISE, [i / 40 for i in range(20)]),
        "memorising",
        "(the share of right answers still rose, to 47.5 % exactly right)",
    ),
    "diverged": (
        curves([4.0, 3.0, 2.0, 1.5, 1.4] + [3.5] * 15, [4.0, 2.0, 1.5, 1.6] + [3.6] * 16, [0.1] * 20),
        "diverged",
        "the training loss rose from 1.40 at update 50 to 3.50. Lower the learning rate (the highest was 0.29) or",
    ),
    "diverged from the first line on": (
        curves(falling(4.25, 690.0), falling(4.3, 700.0)),
        "diverged",
        "from 4.25 at update 10 to 528.",
    ),
    "stuck": (
        curves([4.0] + [3.3] * 19, [4.0] + [3.3] * 19, [0.0] * 20),
        "stuck",
        "Stuck: the validation loss has hardly fallen for a third of the updates (3.30",
    ),
    "levelled": (
        curves(falling(4.0, 1.0, 8) + [1.0] * 12, falling(4.0, 1.2, 8) + [1.2] * 12, [0.4] * 20),
        "levelled",
        "stayed at about 1.20, with 40.0 % exactly right at best",
    ),
    "early": (curves([4.0, 3.9], [4.0]), "early", "1 evaluation"),
    "nothing": (Curves(), "early", ""),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_curves_get_their_verdict_with_its_numbers(name: str) -> None:
    planted, verdict, said = PLANTED[name]
    found = diagnose(planted, ended=True)
    assert (found.verdict, diagnose(planted, ended=False).verdict) == (verdict, verdict)
    assert said in found.sentence
    assert found.sentence.endswith(".") or not planted.train


def test_what_may_still_change_is_not_held_against_a_run_that_goes_on() -> None:
    """A warm-up, two evaluations, and a loss that rises while the answers get better."""
    far, near = (Curves(LONG, [(500.0, 2.0), (1000.0, last)]) for last in (3.0, 2.2))
    assert diagnose(curves(FLAT, FLAT, warm=True), ended=False).verdict == "learning"
    assert diagnose(curves(FLAT, FLAT, warm=True), ended=True).verdict == "stuck"
    assert diagnose(far, ended=True).verdict == "memorising"
    assert "memorising" not in (diagnose(far, ended=False).verdict, diagnose(near, ended=True).verdict)
    for score, shorter in ((lambda step: step / 1100, False), (lambda step: 0.3, True)):
        planted = Curves(LONG, OVERFITTED, score=[(step, score(step)) for step, _ in OVERFITTED])
        sentence = diagnose(planted, ended=True).sentence
        assert sentence.startswith("Memorising since update 300")
        assert ("fewer updates" in sentence) == shorter


@pytest.mark.parametrize(
    ("name", "scores", "verdict"),
    [
        ("bleu", [42.5] * 20, "levelled"),
        ("exact_match", [0.3] * 20, "levelled"),
        ("exact_match", [0.09] * 20, "stuck"),
        ("bleu", [42.0] * 10 + [12.0] * 10, "stuck"),
        ("exact_match", [0.0] + [0.5] * 19, "stuck"),
    ],
    ids=["bleu", "exact_match", "poor", "spoilt", "from_scratch"],
)
def test_a_run_from_the_weights_of_a_good_model_is_not_stuck(
    name: Literal["exact_match", "bleu"], scores: list[float], verdict: str
) -> None:
    """It begins with nearly the loss with which it ends; its score tells it from one that learns nothing."""
    planted = curves([2.1] + [2.0] * 19, [1.52] + [1.46] * 19, scores)
    assert diagnose(dataclasses.replace(planted, score_name=name), ended=True).verdict == verdict


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        (REAL / "learns.jsonl", "learning"),
        (REAL / "memorises.jsonl", "memorising"),
        (REAL / "diverges.jsonl", "diverged"),
        (REAL / "stuck.jsonl", "stuck"),
        *((ROOT / "checkpoints" / name / METRICS, "learned") for name in ("reverse", "reverse-lstm", "dates")),
        (ROOT / "checkpoints" / "adjective-swap" / METRICS, "learned"),
        (ROOT / "checkpoints" / "adjective-swap-unmasked" / METRICS, "levelled"),
    ],
    ids=lambda value: value if isinstance(value, str) else "/".join(value.parts[-2:]),
)
def test_real_runs(path: Path, verdict: str) -> None:
    """The commands that made those stored for this test stand in tests/data/runs/README.md."""
    assert diagnose(_read(path), ended=True).verdict == verdict


def _read(path: Path) -> Curves:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return Curves.of(*([line for line in lines if line["kind"] == kind] for kind in ("train", "eval")))


def test_a_memorising_run_is_noticed_while_it_runs() -> None:
    """Soon after the validation loss was lowest, and never before."""
    whole = _read(REAL / "memorises.jsonl")
    lowest = min(whole.valid, key=lambda point: point[1])[0]
    noticed = None
    for step, _ in whole.valid:
        parts = [[point for point in curve if point[0] <= step] for curve in (whole.train, whole.valid, whole.rate)]
        if diagnose(Curves(*parts), ended=False).verdict == "memorising":
            noticed = noticed or step
    assert noticed is not None
    assert lowest < noticed <= lowest + 80  # four evaluations


def test_a_loss_that_was_worse_than_guessing_has_diverged_unless_it_was_overcome() -> None:
    """A rate of 3 without clipping: 74, 126, then 5.5 nats with nothing right; it used to be told to train longer."""
    train = [(20.0, 74.0), (40.0, 126.0), *((float(step), 5.5) for step in range(60, 401, 20))]
    valid = [(100.0, 59.9), (200.0, 10.0), (300.0, 5.0), (400.0, 4.2)]
    wrong, right = ([(step, score) for step, _ in valid] for score in (0.0, 0.4))
    found = diagnose(Curves(train, valid, score=wrong), ended=True)
    assert found.verdict == "diverged"
    assert "was 126 at update 40, worse than guessing" in found.sentence
    assert "Lower the learning rate" in found.sentence
    assert diagnose(Curves(train, valid, score=right), ended=True).verdict != "diverged"
    assert diagnose(Curves(train[1:], valid, score=wrong), ended=True).verdict != "diverged"  # it only falls
    assert diagnose(Curves(train), ended=False).verdict != "diverged"  # nothing has been evaluated yet
