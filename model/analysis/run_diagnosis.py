"""Diagnose a run from its curves in one sentence: learning, memorising, diverged or stuck, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from model.plurals import plural

Verdict = Literal["early", "learning", "learned", "levelled", "memorising", "diverged", "stuck"]
Curve = Sequence[tuple[float, float]]

FEWEST_LOGS, FEWEST_EVALS = 8, 3
GUESSING = 15.0  # nats; guessing costs less with any vocabulary, since e^15 is 3 million tokens
EXPLODED = 0.5  # nats above the lowest training loss, and share of the previous gain
MEMORISES = (0.02, 0.05)  # validation loss above its lowest: in nats, and as a share of the lowest
MUCH = 0.2  # validation loss above its lowest, as a share of the lowest
FLAT = (0.005, 0.03)  # gain over the last third: in nats, and as a share of the whole gain
LITTLE = 0.6  # if more than this share of the first loss is left, little has been learned,
HOPELESS = 0.02  # and a gain over the last third below this share of the first loss does not count
MANY_WRONG, FEW_WRONG = 0.05, 0.99  # shares of exactly right sentences
CAPABLE = 0.25  # a quarter exactly right, or a BLEU of 25
FAR = 0.25  # if less than this share of the first loss is left, tokens are learned even if no sentence is right


@dataclass(frozen=True)
class Curves:
    """The curves of a run as pairs of step and value, oldest first.

    `train` and `valid` are losses in nats per target token; `score` is `score_name` on validation: the share of exactly
    right sentences (0 to 1), or BLEU (0 to 100).
    """

    train: Curve = ()
    valid: Curve = ()
    rate: Curve = ()
    score: Curve = ()
    score_name: Literal["exact_match", "bleu"] = "exact_match"

    @classmethod
    def of(cls, train: Sequence[Mapping[str, float]], evals: Sequence[Mapping[str, float]]) -> Curves:
        """Read the curves from the lines of a metrics.jsonl, with the plain training loss if it was logged."""
        has_bleu = any("bleu" in line for line in evals)
        return cls(
            [(line["step"], line.get("nll", line["loss"])) for line in train if "loss" in line],
            _pairs(evals, "loss"),
            _pairs(train, "lr"),
            _pairs(evals, "bleu" if has_bleu else "exact_match"),
            "bleu" if has_bleu else "exact_match",
        )


def _pairs(lines: Sequence[Mapping[str, float]], name: str) -> list[tuple[float, float]]:
    return [(line["step"], line[name]) for line in lines if name in line]


@dataclass(frozen=True)
class Diagnosis:
    """A verdict, the sentence that states it with its numbers, and the step from which it holds, if there is one."""

    verdict: Verdict
    sentence: str
    since: int | None = None


def diagnose(curves: Curves, *, ended: bool) -> Diagnosis:
    """Diagnose a run that is going on or has `ended`. The first verdict that holds is returned.

    diverged    the training loss is far above its lowest: by half a nat, and by half of the previous gain; or it rose
                above the loss of guessing, and nearly nothing is right
    learned     99 % exactly right (or a BLEU of 99)
    memorising  the validation loss has risen by 5 % above its lowest, while the training loss kept falling
    stuck       the loss has not fallen for a third of the run, and the model has learned little
    levelled    the loss has not fallen for a third of the run
    learning    otherwise
    """
    if len(curves.train) < FEWEST_LOGS and len(curves.valid) < FEWEST_EVALS:
        count = plural(len(curves.valid), "evaluation")
        if ended and not curves.train and not curves.valid:
            return Diagnosis("early", "")
        short = f"Too short to say how it went: {count}. Evaluate more often, or train it longer."
        return Diagnosis("early", short if ended else f"Too early to say how it is going: {count} so far.")
    for judge in (_diverged, _learned, _memorising, _flat):
        diagnosis = judge(curves, ended)
        if diagnosis is not None:
            return diagnosis
    return _learning(curves, ended)


def _level(points: Curve) -> float:
    """The level at the end: the median of the last twentieth, of at least three points."""
    return median(value for _, value in points[-max(3, len(points) // 20) :])


def _diverged(curves: Curves, ended: bool) -> Diagnosis | None:
    highest = max((rate for _, rate in curves.rate), default=0.0)
    advice = f"Lower the learning rate{f' (the highest was {highest:.2g})' if highest else ''} or lengthen the warm-up."
    if len(curves.train) < 4:
        return None
    step, lowest = min(curves.train, key=lambda point: point[1])
    first, now = curves.train[0][1], _level(curves.train)
    if now > lowest + max(EXPLODED, EXPLODED * (first - lowest)):
        return Diagnosis(
            "diverged",
            f"Diverged: the training loss rose from {_nats(lowest)} at update {step:,.0f} to {_nats(now)}. {advice}",
            int(step),
        )
    at, worst = max(curves.train, key=lambda point: point[1])
    top = max((value for _, value in curves.score), default=0.0)
    # A loss that starts high and only falls comes from large initial weights.
    rose = worst > max(GUESSING, first) and (ended or curves.score)
    if rose and top < (MANY_WRONG if curves.score_name == "exact_match" else 100 * MANY_WRONG):
        return Diagnosis(
            "diverged",
            f"Diverged: the training loss was {_nats(worst)} at update {at:,.0f}, worse than guessing, and little has "
            f"been learned since. {advice}",
            int(at),
        )
    return None


def _learned(curves: Curves, ended: bool) -> Diagnosis | None:
    if not curves.score:
        return None
    top = FEW_WRONG if curves.score_name == "exact_match" else 100 * FEW_WRONG
    if curves.score[-1][1] < top:
        return None
    since = curves.score[-1][0]
    for step, value in reversed(curves.score):
        if value < top:
            break
        since = step
    return Diagnosis(
        "learned",
        f"Learned: {_score_text(curves, curves.score[-1][1])} on validation, first reached at update {since:,.0f}. "
        "More training has nothing left to gain there.",
        int(since),
    )


def _memorising(curves: Curves, ended: bool) -> Diagnosis | None:
    valid, train = curves.valid, curves.train
    if not valid or not train:
        return None
    best = min(range(len(valid)), key=lambda i: valid[i][1])
    step, lowest = valid[best]
    after = [value for _, value in valid[best + 1 :]]
    # A single evaluation after the lowest counts only at the end, and only if it is much higher.
    if len(after) < 2 and not (ended and after and after[-1] > (1 + MUCH) * lowest):
        return None
    now = median(after[-3:])
    if now - lowest <= max(MEMORISES[0], MEMORISES[1] * lowest):
        return None
    then = min((value for at, value in train if at <= step), default=train[0][1])
    if _level(train) >= then:
        return None
    better = _still_better(curves, step)
    advice = f"Train {'' if better else 'for fewer updates, '}on more data, or with more dropout."
    return Diagnosis(
        "memorising",
        f"Memorising since update {step:,.0f}: the validation loss has risen from {_nats(lowest)} to {_nats(now)}, "
        f"while the training loss fell to {_nats(_level(train))}{better}. {advice}",
        int(step),
    )


def _still_better(curves: Curves, step: float) -> str:
    """The end of a sentence on a score that still rose after the validation loss was lowest; else empty."""
    before = [value for at, value in curves.score if at <= step]
    after = [value for at, value in curves.score if at > step]
    if not before or not after or max(after) <= max(before):
        return ""
    name = "BLEU" if curves.score_name == "bleu" else "the share of right answers"
    return f" ({name} still rose, to {_score_text(curves, max(after))})"


def _flat(curves: Curves, ended: bool) -> Diagnosis | None:
    """Stuck or levelled off, if the loss has not fallen for a third of the run."""
    points, name = (curves.valid, "validation") if len(curves.valid) >= 5 else (curves.train, "training")
    rising = len(curves.rate) > 1 and curves.rate[-1][1] > curves.rate[-2][1]
    if len(points) < 5 or (rising and not ended):  # still in the warm-up
        return None
    from_step = points[-1][0] * 2 / 3
    before, after = ([value for step, value in points if (step > from_step) == late] for late in (False, True))
    first, best = max(points[0][1], curves.train[0][1] if curves.train else 0.0), min(value for _, value in points)
    if len(after) < 2 or not before:
        return None
    scores = [value / (100 if curves.score_name == "bleu" else 1) for _, value in curves.score] or [0.0]
    # A run that is good at its first and last evaluation started from a good model's weights, and with a low loss.
    was_good = min(scores[0], scores[-1]) >= CAPABLE
    little, gain = best > LITTLE * first and not was_good, min(before) - min(after)
    if gain > max(FLAT[0], FLAT[1] * (first - best), HOPELESS * first if little else 0.0):
        return None
    since, lowest = min(points, key=lambda point: point[1])
    none_right = curves.score and max(scores) < MANY_WRONG
    if little or (none_right and best > FAR * first):
        score = f", with {_score_text(curves, curves.score[-1][1])}" if curves.score else ""
        return Diagnosis(
            "stuck",
            f"Stuck: the {name} loss has hardly fallen for a third of the updates ({_nats(lowest)}, at "
            f"first {_nats(first)}){score}. Try another learning rate, a longer "
            "warm-up or a larger model, and look at the data.",
            int(since),
        )
    score = f", with {_score_text(curves, max(value for _, value in curves.score))} at best" if curves.score else ""
    return Diagnosis(
        "levelled",
        f"Levelled off: for a third of its updates the {name} loss has stayed at about {_nats(lowest)}{score}. "
        "Longer training of this kind will change little; more data, another size or another rate may.",
        int(since),
    )


def _learning(curves: Curves, ended: bool) -> Diagnosis:
    points, name = (curves.valid, "validation") if len(curves.valid) >= FEWEST_EVALS else (curves.train, "training")
    before = [value for step, value in points if step <= points[-1][0] * 2 / 3] or [points[0][1]]
    fell = f"the {name} loss fell from {_nats(min(before))} to {_nats(min(value for _, value in points))}"
    if ended:
        return Diagnosis("learning", f"Still learning when it ended: in its last third {fell}. Train it longer.")
    return Diagnosis("learning", f"Still learning: in the last third of its updates so far {fell}.")


def _nats(loss: float) -> str:
    return f"{loss:,.0f}" if loss >= 100 else f"{loss:.2f}" if loss >= 0.1 else f"{loss:.2g}"


def _score_text(curves: Curves, value: float) -> str:
    return f"BLEU {value:.1f}" if curves.score_name == "bleu" else f"{100 * value:.1f} % exactly right"
