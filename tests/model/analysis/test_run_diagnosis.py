"""The verdict on a run: planted curves, real runs stored for this test, and the runs of the bundled models."""

import dataclasses
import json
from pathlib import Path

import pytest

from model.analysis.run_curves import Curves, loss_text
from model.analysis.run_diagnosis import diagnose
from model.folder import METRICS
from tests.paths import ROOT

REAL = ROOT / "tests" / "data" / "runs"
STEPS = range(10, 210, 10)


def curves(
    train: list[float],
    valid: list[float],
    score: list[float] | None = None,
    sentences: int = 0,
    *,
    bleu: bool = False,
    warm: bool = False,
) -> Curves:
    """Curves over the same steps, 10, 20 … 200; a learning rate that falls or, if `warm`, still rises."""
    rates = [0.001 * (step if warm else 300 - step) for step in STEPS]
    losses, valid_losses, rate, scores = (
        list(zip(STEPS, values, strict=False)) for values in (train, valid, rates[: len(train)], score or [])
    )
    return Curves(losses, valid_losses, rate, scores, "bleu" if bleu else "exact_match", sentences)


def falling(first: float, last: float, n: int = 20) -> list[float]:
    """From the first value to the last, by the same factor each time."""
    return [first * (last / first) ** (i / (n - 1)) for i in range(n)]


def then(begin: list[float], *end: float) -> list[float]:
    """These values, and one that stays, or evenly spaced ones between two, up to 20."""
    n = 20 - len(begin)
    return begin + [end[0] + (end[-1] - end[0]) * i / (n - 1) for i in range(n)]


FALL = falling(4.0, 0.5)
HEART = falling(4.0, 0.01)
RISE = falling(3.9, 2.0, 6) + [2.0 + 0.1 * i for i in range(1, 15)]
FLAT = [4.0] * 20
WOBBLE = [value + (0.02 if i % 2 else 0.0) for i, value in enumerate(falling(4.0, 0.6))]
UP = [i / 40 for i in range(20)]
DONE = [min(1.0, i / 10) for i in range(20)]
LONG = [(float(step), 4.0 * 0.9 ** (step / 20)) for step in range(20, 1001, 20)]
OVERFITTED = [(float(step), 1 + abs(step - 300) / 500) for step in range(100, 1001, 100)]
# Curves, the verdict on a run that has ended with them, and a part of the sentence.
PLANTED: dict[str, tuple[Curves, str, str]] = {
    "noise": (curves(FALL, WOBBLE), "learning", ""),
    "the score alone": (
        curves(FALL, then(falling(4.0, 1.0, 10), 1.0), UP, 300),
        "learning",
        "the score on validation rose",
    ),
    "BLEU 99.5": (curves(HEART, HEART, then([0.0] * 5, 99.5), 300, bleu=True), "learned", "BLEU 99.5"),
    "right but for chance": (
        curves(FALL, falling(4.0, 0.01), then([0.1 * i for i in range(10)], 1.0, 0.975), 40),
        "learned",
        "39 of 40 held-out pairs exactly right (97.5 %, 95 % interval 87 to 100 %); it was 40 of 40",
    ),
    "ten held-out pairs, all right": (curves(HEART, HEART, DONE, 10), "few", "95 % interval 72 to 100 %"),
    "by heart": (
        curves(HEART, RISE, [0.1] * 20),
        "memorising",
        "Learned by heart since step 60: the validation loss has risen from 2.00 to 3.30, while the training loss "
        "fell to 0.014, with 10.0 % exactly right at best on validation. Bring more pairs",
    ),
    "by heart, no rise": (
        curves(HEART, then([4.0, 3.0], 2.5), [0.02] * 20, 300),
        "memorising",
        "the validation loss 2.50",
    ),
    "rising loss, BLEU rises": (curves(HEART, RISE, then([9.0], 10.0, 30.0), 300, bleu=True), "learning", "BLEU 30.0"),
    "rising loss, BLEU rises by chance": (
        curves(HEART, RISE, then([20.0] * 8, 20.5, 21.0), 300, bleu=True),
        "memorising",
        "BLEU 21.0",
    ),
    "all that can be right, of two answers": (
        dataclasses.replace(curves(HEART, HEART, [0.66 * value for value in DONE], 300), reachable=2 / 3),
        "learned",
        "198 of 300 held-out pairs exactly right (66.0 %, 95 % interval 60 to 71 %; at most 200 can be, since some "
        "sources have several answers), first reached at step 110",
    ),
    "diverged": (
        curves([4.0, 3.0, 2.0, 1.5, 1.4] + [3.5] * 15, [4.0, 2.0, 1.5, 1.6] + [3.6] * 16, [0.1] * 20),
        "diverged",
        "the training loss rose from 1.40 at step 50 to 3.50. Lower the learning rate (the highest was 0.29) or",
    ),
    "a last jump with good answers": (curves(HEART[:17] + [3.0] * 3, HEART, DONE, 300), "learned", "300 of 300"),
    "a falling loss, a score that stays": (
        curves(FALL, falling(4.0, 0.6), then([i / 10 for i in range(8)], 0.75), 300),
        "levelled",
        "225 of 300 held-out pairs exactly right (75.0 %, 95 % interval 70 to 80 %) at best on validation, no better",
    ),
    "a falling loss, a score that rises late by two points": (
        curves(FALL, falling(4.0, 0.6), then([i / 10 for i in range(8)], 0.73, 0.75), 300),
        "learning",
        "Train it longer.",
    ),
    "one evaluation": (curves([4.0, 3.9], [4.0]), "early", "1 evaluation"),
    "no evaluation": (curves(FALL, []), "early", "0 evaluations"),
    "nothing": (Curves(), "early", ""),
    "cheats": (curves(HEART, falling(4.0, 0.002), [0.01] * 20, 1000), "leaking", "validation loss 0.002"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_curves_get_their_verdict_with_its_numbers(name: str) -> None:
    planted, verdict, said = PLANTED[name]
    found = diagnose(planted, ended=True)
    assert (found.verdict, diagnose(planted, ended=False).verdict) == (verdict, verdict)
    assert said in found.sentence
    assert bool(found.next) == bool(planted.train)
    assert ("longer" in found.next) == (verdict in ("learning", "early") and bool(planted.train))
    assert found.sentence.endswith(".") or not planted.train


def test_what_may_still_change_is_not_held_against_a_run_that_goes_on() -> None:
    """A warm-up, and two evaluations."""
    far, near = (Curves(LONG, [(500.0, 2.0), (1000.0, last)]) for last in (3.0, 2.2))
    assert diagnose(curves(FLAT, FLAT, warm=True), ended=False).verdict == "learning"
    assert diagnose(curves(FLAT, FLAT, warm=True), ended=True).verdict == "stuck"
    assert diagnose(far, ended=True).verdict == "memorising"
    assert "memorising" not in (diagnose(far, ended=False).verdict, diagnose(near, ended=True).verdict)
    for score, verdict in ((lambda step: step / 1100, "learning"), (lambda step: 0.3, "memorising")):
        planted = Curves(LONG, OVERFITTED, score=[(step, score(step)) for step, _ in OVERFITTED])
        assert diagnose(planted, ended=True).verdict == verdict


MADE = {
    "ten-pairs": "few",
    "two-answers": "few",
    "thirty-held-out": "levelled",
    "rate-of-three": "diverged",
    "cut-short": "learning",
    "grammar": "learning",
    "no-dropout": "memorising",
    "no-rule": "memorising",
    "tiny-rate": "stuck",
    "own-dates": "learned",
    "reversed-words": "learning",
    "too-short": "early",
}
# Written down before the run had ended; see tests/data/runs/README.md.
FORETOLD = {
    "catalogue": "learned",
    "cyrillic": "learned",
    "doubled": "learned",
    "garbled": "levelled",
    "roman": "learned",
    "ten-letters": "few",
}


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        (REAL / "learns.jsonl", "learning"),
        (REAL / "memorises.jsonl", "memorising"),
        (REAL / "diverges.jsonl", "diverged"),
        (REAL / "stuck.jsonl", "stuck"),
        *((REAL / f"{name}.jsonl", verdict) for name, verdict in (MADE | FORETOLD).items()),
        *((ROOT / "checkpoints" / name / METRICS, "learned") for name in ("reverse", "reverse-lstm", "dates")),
        (ROOT / "checkpoints" / "adjective-swap" / METRICS, "learned"),
        (ROOT / "checkpoints" / "adjective-swap-unmasked" / METRICS, "leaking"),
        (ROOT / "checkpoints" / "phrases-en-de" / METRICS, "learned"),
        (ROOT / "checkpoints" / "multi30k-en-de" / METRICS, "levelled"),
        (ROOT / "checkpoints" / "multi30k-de-en" / METRICS, "levelled"),
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
    assert "was 126 at step 40, worse than guessing" in found.sentence
    assert "Lower the learning rate" in found.sentence
    assert diagnose(Curves(train, valid, score=right), ended=True).verdict != "diverged"
    assert diagnose(Curves(train[1:], valid, score=wrong), ended=True).verdict != "diverged"  # it only falls
    assert diagnose(Curves(train), ended=False).verdict != "diverged"  # nothing has been evaluated yet


@pytest.mark.parametrize(
    ("sentences", "right", "ended", "verdict"),
    [(60, 1.0, True, "learned"), (60, 1.0, False, "learned"), (60, 0.5, False, "early"), (10, 1.0, True, "early")],
)
def test_a_short_run_that_got_everything_right_has_learned(
    sentences: int, right: float, ended: bool, verdict: str
) -> None:
    """BLEU is 100 then, which has no interval, so that the share of right answers is the score."""
    shares = ((100, right), (150, right))
    evals = [
        {"step": at, "loss": 0.01, "exact_match": share, "bleu": 100 * share, "sentences": sentences}
        for at, share in shares
    ]
    diagnosis = diagnose(Curves.of([{"step": 50, "loss": 1.0}], evals), ended=ended)
    assert diagnosis.verdict == verdict
    all_right = "60 of 60 held-out pairs exactly right (100.0 %, 95 % interval 94 to 100 %), first reached at step 100"
    assert (all_right in diagnosis.sentence) == (verdict == "learned")
    assert ("train it longer" in diagnosis.sentence) == (ended and verdict == "early")


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([0.5, 1.0, 1.0, 1.0], "first reached at step 20."),
        ([0.5, 0.995, 1.0, 1.0], "first reached at step 30."),  # the score that is named, not one like it
        ([1.0, 1.0, 59 / 60, 1.0], "first reached at step 10, and again since step 40."),
        ([0.5, 1.0, 59 / 60, 59 / 60], "it was 60 of 60 held-out pairs exactly right"),
    ],
)
def test_a_score_was_first_reached_at_the_first_evaluation_that_has_it(scores: list[float], said: str) -> None:
    losses = falling(2.0, 0.1, 4)
    sentence = diagnose(curves(losses, losses, scores, 60), ended=True).sentence
    assert said in sentence
    assert ("again" in sentence) == ("again" in said)


def test_losses_are_written_without_powers_of_ten() -> None:
    losses = (0.0, 5.7e-05, 0.0022, 0.057, 0.123, 2.3456, 1234.5)
    assert [loss_text(loss) for loss in losses] == ["0.00", "< 0.0001", "0.0022", "0.057", "0.12", "2.35", "1,234"]


def test_the_loss_of_the_first_update_is_that_of_random_weights_and_no_verdict_begins_with_it() -> None:
    later = [{"step": 20, "loss": 3.0}, {"step": 40, "loss": 2.9}]
    assert Curves.of([{"step": 1, "loss": 9.0}, *later], []) == Curves.of(later, [])
    assert Curves.of([{"step": 1, "loss": 9.0}], []).train == [(1, 9.0)], "as long as there is no other"
    each = [{"step": step, "loss": 9.0 / step} for step in (1, 2, 3)]
    assert len(Curves.of(each, []).train) == 3, "of a log of every update, it is one like the others"
