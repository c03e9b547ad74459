"""Say how a run is going from its curves: a verdict, the sentence with its numbers, and what to do next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import takewhile
from statistics import median
from typing import Literal

from model.analysis.run_curves import BLEU_WIDTH, Curve, Curves, interval, loss_text, score_text
from model.data.checks import FEWEST_HELD_OUT, LITTLE_SHOWN
from model.wording import t

Verdict = Literal["early", "few", "learning", "learned", "levelled", "memorising", "diverged", "stuck", "leaking"]
NextStep = Literal["try", "longer", "more pairs", "dropout", "rate", "larger"]

FEWEST_EVALS = 3
GUESSING = 15.0  # nats; guessing costs less with any vocabulary, since e^15 is 3 million tokens
EXPLODED = 0.5  # nats above the lowest training loss, and share of the previous gain
MEMORISES = (0.02, 0.05)  # validation loss above its lowest: in nats, and as a share of the lowest
MUCH = 0.2  # validation loss above its lowest, as a share of the lowest
FLAT = (0.005, 0.03)  # gain over the last third: in nats, and as a share of the whole gain
LITTLE = 0.6  # if more than this share of the first loss is left, little has been learned,
HOPELESS = 0.02  # and a gain over the last third below this share of the first loss does not count
SLIGHT = 0.01  # share of the lowest loss: a gain over the last third that no score of a good model shows
POINT = 0.01  # a score that rose by less, on a scale to 1, in the second half of a run stays where it is
MANY_WRONG, FEW_WRONG = 0.05, 0.99  # shares of exactly right sentences
GOOD = 0.8  # a model with this share right, give or take chance, has found the rule and not only its examples
CAPABLE = 0.25  # a quarter exactly right, or a BLEU of 25
FAR = 0.25  # if less than this share of the first loss is left, tokens are learned even if no sentence is right
BY_HEART = 0.1  # nats of training loss per token: nearly every training answer is known
CERTAIN = 0.01  # nats of validation loss per token: hundreds of tokens in a row are right if it reads right ones
_AFTER_LEVELLED: tuple[NextStep, ...] = ("try", "more pairs", "larger")
GAP = 5.0  # validation loss of a model that knows its examples by heart, as a multiple of the training loss


@dataclass(frozen=True)
class Diagnosis:
    """A verdict, the sentence that states it with its numbers, and what to do next, the best first."""

    verdict: Verdict
    sentence: str
    next: tuple[NextStep, ...] = ()


def diagnose(curves: Curves, *, ended: bool) -> Diagnosis:
    """Diagnose a run that is going on or has `ended`. The first verdict that holds is returned.

    diverged    the training loss is far above its lowest: by half a nat, and by half of the previous gain; or it rose
                above the loss of guessing, and nearly nothing is right
    few         fewer than 20 held-out sentences were scored, so that the score says nothing
    learned     99 % exactly right (or a BLEU of 99), or of those that can be; at the end or, but for chance, before
    leaking     the next token is predicted almost without error beside the right answer, but its own answers are wrong
    memorising  the validation loss has risen by 5 % above its lowest, or is five times the training loss, which is
                nearly 0, while the score on validation is neither good nor rising
    stuck       the loss has not fallen for a third of the run, and the model has learned little
    levelled    neither the validation loss nor the score got better for a third of the run, or the score of a capable
                model stayed where it was for half of the run
    learning    otherwise
    """
    exploded = _diverged(curves, ended)
    if exploded is None and len(curves.valid) < FEWEST_EVALS:
        count = t("{n} evaluation", "{n:,} evaluations", n=len(curves.valid))
        if ended and not curves.train and not curves.valid:
            return Diagnosis("early", "")
        if not 0 < curves.sentences < FEWEST_HELD_OUT and (learned := _learned(curves, ended)):
            return learned  # which one evaluation shows as well
        short = t("Too short to say how it went: {count}. Evaluate more often, or train it longer.", count=count)
        going = t("Too early to say how it is going: {count} so far.", count=count)
        far_above = _memorising(curves, ended) if curves.valid and curves.train else None
        if far_above is None or 0 < curves.sentences < FEWEST_HELD_OUT:
            return Diagnosis("early", short if ended else going, next=("longer",) if ended else ())
        return far_above
    if exploded is not None:
        return exploded
    for judge in (_few, _learned, _leaking, _memorising, _flat):
        diagnosis = judge(curves, ended)
        if diagnosis is not None:
            return diagnosis
    return _learning(curves, ended)


def _level(points: Curve) -> float:
    """The level at the end: the median of the last twentieth, of at least three points."""
    return median(value for _, value in points[-max(3, len(points) // 20) :])


def _diverged(curves: Curves, ended: bool) -> Diagnosis | None:
    highest = max((rate for _, rate in curves.rate), default=0.0)
    advice = (
        t("Lower the learning rate (the highest was {highest:.2g}) or lengthen the warm-up.", highest=highest)
        if highest
        else t("Lower the learning rate or lengthen the warm-up.")
    )
    if len(curves.train) < 4:
        return None
    top = max((value for _, value in curves.score), default=0.0)
    step, lowest = min(curves.train, key=lambda point: point[1])
    first, now = curves.train[0][1], _level(curves.train)
    recovered = curves.score and curves.score[-1][0] > step and _share(curves, curves.score[-1][1]) >= GOOD
    if now > lowest + max(EXPLODED, EXPLODED * (first - lowest)) and not recovered:
        return Diagnosis(
            "diverged",
            t(
                "Diverged: the training loss rose from {lowest} at step {step:,.0f} to {now}. {advice}",
                lowest=loss_text(lowest),
                step=step,
                now=loss_text(now),
                advice=advice,
            ),
            ("rate",),
        )
    at, worst = max(curves.train, key=lambda point: point[1])
    # A loss that starts high and only falls comes from large initial weights.
    rose = worst > max(GUESSING, first) and (ended or curves.score)
    if rose and _share(curves, top) < MANY_WRONG:
        return Diagnosis(
            "diverged",
            t(
                "Diverged: the training loss was {worst} at step {step:,.0f}, worse than guessing, and little has "
                "been learned since. {advice}",
                worst=loss_text(worst),
                step=at,
                advice=advice,
            ),
            ("rate",),
        )
    return None


def _few(curves: Curves, ended: bool) -> Diagnosis | None:
    if not curves.score or not 0 < curves.sentences < FEWEST_HELD_OUT:
        return None
    said = [t("Too few pairs to say: {best}.", best=score_text(curves, max(value for _, value in curves.score)))]
    if curves.train and _level(curves.train) < BY_HEART:
        loss = loss_text(_level(curves.train))
        said.append(t("The training pairs are known by heart (loss {loss}), which needs no rule.", loss=loss))
    said.append(t("Bring some hundreds of pairs, of which a tenth is held out."))
    return Diagnosis("few", " ".join(said), next=("more pairs",))


def _learned(curves: Curves, ended: bool) -> Diagnosis | None:
    if not curves.score:
        return None
    last, (at, best) = curves.score[-1][1], max(curves.score, key=lambda point: point[1])
    # A sentence less than at another evaluation may be chance.
    if _share(curves, best) < FEW_WRONG or max(_share(curves, last), _ends(curves, last)[1]) < FEW_WRONG:
        return None
    score = score_text(curves, last)
    if _share(curves, last) >= FEW_WRONG:
        first = next(step for step, value in curves.score if value >= last)
        again = [step for step, _ in takewhile(lambda point: point[1] >= last, reversed(curves.score))][-1]
        reached = t("first reached at step {step:,.0f}", step=first)
        if again > first:
            reached = t("{reached}, and again since step {step:,.0f}", reached=reached, step=again)
        learned = (
            t(
                "Learned by heart, for validation has the very pairs that it learned: {score}, {reached}.",
                score=score,
                reached=reached,
            )
            if curves.known
            else t("Learned, on validation: {score}, {reached}.", score=score, reached=reached)
        )
    else:
        learned = t(
            "Learned, on validation: {score}; it was {best} at step {step:,.0f}.",
            score=score,
            best=score_text(curves, best),
            step=at,
        )
    little = _shows_little(curves)
    full = t("Longer training cannot raise this score.") if _share(curves, last) >= 1 else ""
    return Diagnosis(
        "learned",
        f"{learned} {little or full or t('Longer training has little or nothing to add.')}",
        ("try", "more pairs") if little else ("try",),
    )


def _leaking(curves: Curves, ended: bool) -> Diagnosis | None:
    if not curves.score or not curves.valid:
        return None
    loss, best = curves.valid[-1][1], max(value for _, value in curves.score)
    if loss > CERTAIN or _ends(curves, best)[1] >= CAPABLE:
        return None
    sentence = t(
        "Fails in use: beside the right answer it predicts each next token almost without error (validation loss "
        "{loss}), but what it writes by itself is wrong, {score} at best. It probably sees the token that it should "
        "predict: check the mask of the decoder.",
        loss=loss_text(loss),
        score=score_text(curves, best),
    )
    return Diagnosis("leaking", sentence, next=("try",))


def _memorising(curves: Curves, ended: bool) -> Diagnosis | None:
    valid, train = curves.valid, curves.train
    if not valid or not train:
        return None
    if curves.score and _ends(curves, max(value for _, value in curves.score))[0] >= GOOD:
        return None  # it answers most sentences that it has never seen
    best = min(range(len(valid)), key=lambda i: valid[i][1])
    step, lowest = valid[best]
    if _score_rose_after(curves, step):
        return None
    after = [value for _, value in valid[best + 1 :]]
    now, level = median(after[-3:] or [lowest]), _level(train)
    advice = t("Bring more pairs, or train again with more dropout.")
    # A single evaluation after the lowest counts only at the end, and only if it is much higher.
    enough = len(after) >= 2 or (ended and after and after[-1] > (1 + MUCH) * lowest)
    fell = level < min((value for at, value in train if at <= step), default=train[0][1])
    if enough and fell and now - lowest > max(MEMORISES[0], MEMORISES[1] * lowest):
        return Diagnosis(
            "memorising",
            _with_score(
                curves,
                t(
                    "Learned by heart since step {step:,.0f}: the validation loss has risen from {lowest} to {now}, "
                    "while the training loss fell to {level}",
                    step=step,
                    lowest=loss_text(lowest),
                    now=loss_text(now),
                    level=loss_text(level),
                ),
            )
            + f". {advice}",
            ("more pairs", "dropout"),
        )
    wrong = curves.score and _ends(curves, max(value for _, value in curves.score))[1] < GOOD
    if len(valid) >= FEWEST_EVALS and wrong and level < BY_HEART and valid[-1][1] > GAP * level and _is_flat(curves):
        return Diagnosis(
            "memorising",
            _with_score(
                curves,
                t(
                    "Learned by heart: the training loss is {level}, the validation loss {loss}",
                    level=loss_text(level),
                    loss=loss_text(valid[-1][1]),
                ),
            )
            + f". {advice}",
            ("more pairs", "dropout"),
        )
    return None


def _score_rose_after(curves: Curves, step: float) -> bool:
    """Whether the score became better after this step, by more than chance would let it vary."""
    before = [value for at, value in curves.score if at <= step]
    after = [value for at, value in curves.score if at > step]
    if not before or not after:
        return False
    return max(after) > _above(curves, max(before))


def _score_stays(curves: Curves) -> bool:
    """Whether the score of a capable model rose by less than a point in the second half of at least six evaluations."""
    scores = [_share(curves, value) for _, value in curves.score]
    half = len(scores) // 2
    return half >= 3 and max(scores) >= CAPABLE and max(scores[half:]) < max(scores[:half]) + POINT


def _is_flat(curves: Curves) -> bool:
    """Whether neither the validation loss nor the score got better in the last third of the run."""
    points = curves.valid
    from_step = points[-1][0] * 2 / 3
    before, after = ([value for step, value in points if (step > from_step) == late] for late in (False, True))
    if len(after) < 2 or not before:
        return False
    first = max(points[0][1], curves.train[0][1] if curves.train else 0.0)
    gain = min(before) - min(after)
    fell = gain > max(FLAT[0], FLAT[1] * (first - min(value for _, value in points)))
    return not fell and not _score_rose_after(curves, from_step)


def _flat(curves: Curves, ended: bool) -> Diagnosis | None:
    """Stuck or levelled off, if nothing has got better for a third of the run."""
    points = curves.valid
    rising = len(curves.rate) > 1 and curves.rate[-1][1] > curves.rate[-2][1]
    if len(points) < 5 or (rising and not ended):  # still in the warm-up
        return None
    from_step = points[-1][0] * 2 / 3
    before, after = ([value for step, value in points if (step > from_step) == late] for late in (False, True))
    if len(after) < 2 or not before or _score_rose_after(curves, from_step):
        return None
    first, best = max(points[0][1], curves.train[0][1] if curves.train else 0.0), min(value for _, value in points)
    scores = [_share(curves, value) for _, value in curves.score] or [0.0]
    # A run that is good at its first and last evaluation started from a good model's weights, and with a low loss.
    was_good = min(scores[0], scores[-1]) >= CAPABLE
    little, gain = best > LITTLE * first and not was_good, min(before) - min(after)
    slight = SLIGHT * best if was_good else 0.0
    if gain > max(FLAT[0], FLAT[1] * (first - best), HOPELESS * first if little else 0.0, slight):
        return None
    change = _slight_change(min(before), min(after))
    none_right = curves.score and max(scores) < MANY_WRONG
    if little or (none_right and best > FAR * first):
        return Diagnosis(
            "stuck",
            _with_score(
                curves,
                t("Stuck: {change}; it was {first} at first", change=change, first=loss_text(first)),
            )
            + ". "
            + t("Try another learning rate, a longer warm-up or a larger model, and look at the data."),
            ("rate", "larger"),
        )
    unfit = ("try" if max(scores) < CAPABLE else "", "larger" if curves.continued else "")
    return Diagnosis(
        "levelled",
        _sentences(
            _with_score(curves, t("Levelled off: {change}", change=change)) + ".",
            _shows_little(curves),
            t("These updates continue from trained weights; more of the same kind will change little.")
            if curves.continued
            else t("Longer training of this kind will change little; more pairs or a larger model may."),
        ),
        tuple(step for step in _AFTER_LEVELLED if step not in unfit),
    )


def _slight_change(before: float, now: float) -> str:
    """By how much the lowest validation loss fell in the last third of a run, in which it fell little or not at all."""
    if now >= before:
        return t(
            "in the last third of its updates, the validation loss did not fall below {lowest}",
            lowest=loss_text(before),
        )
    percent = 100 * (1 - now / before)
    few = t("{percent:.1f}", percent=percent) if percent >= 0.1 else t("< {number:.1f}", number=0.1)
    return t(
        "in the last third of its updates, the lowest validation loss fell by {gain} ({percent} %) to {lowest}",
        gain=loss_text(before - now),
        percent=t("{percent:.0f}", percent=percent) if percent >= 10 else few,
        lowest=loss_text(now),
    )


def _learning(curves: Curves, ended: bool) -> Diagnosis:
    points = curves.valid
    from_step = points[-1][0] * 2 / 3
    before = [value for step, value in points if step <= from_step] or [points[0][1]]
    at, lowest = min(points, key=lambda point: point[1])
    if lowest < min(before):
        before_, now = loss_text(min(before)), loss_text(lowest)
        if _score_stays(curves):
            said = t(
                "Levelled off: {score} at best on validation, no better by a point in the second half of its "
                "updates, although in the last third the lowest validation loss fell from {before} to {now}.",
                score=score_text(curves, max(value for _, value in curves.score)),
                before=before_,
                now=now,
            )
            return _levelled(curves, said)
        change = t(
            "the lowest validation loss fell from {before} to {now} (step {step:,.0f})",
            before=before_,
            now=now,
            step=at,
        )
    elif _score_rose_after(curves, from_step):
        change = t("the score on validation rose")
    elif curves.score:
        said = t(
            "Levelled off, with {score} at best on validation, and the validation loss was lowest ({lowest}) "
            "before the last third of its updates.",
            score=score_text(curves, max(value for _, value in curves.score)),
            lowest=loss_text(lowest),
        )
        return _levelled(curves, said)
    else:
        change = t("the validation loss has not fallen, and there is no score")
    if ended:
        sentence = _with_score(curves, t("Still learning when it ended: in its last third {change}", change=change))
        said = _sentences(f"{sentence}.", _shows_little(curves), t("Train it longer."))
        return Diagnosis("learning", said, next=("longer", "try"))
    return Diagnosis("learning", t("Still learning: in the last third of its updates so far {change}.", change=change))


def _levelled(curves: Curves, said: str) -> Diagnosis:
    """A score that no longer gets better, although the loss may: its next steps are those that the sentence names."""
    whole = _sentences(said, _shows_little(curves), t("More pairs or a larger model may change it."))
    return Diagnosis("levelled", whole, next=_AFTER_LEVELLED)


def _sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _share(curves: Curves, score: float) -> float:
    """A score as a share of what can be reached."""
    return score / 100 if curves.score_name == "bleu" else min(score / curves.reachable, 1.0)


def _ends(curves: Curves, score: float) -> tuple[float, float]:
    """The interval of a score, as shares; the score itself twice if nobody knows of how many sentences."""
    if not curves.sentences:
        return (_share(curves, score),) * 2
    if curves.score_name == "bleu":
        half = BLEU_WIDTH / math.sqrt(curves.sentences)
        return (score - half) / 100, (score + half) / 100
    low, high = interval(score, curves.sentences)
    return low / curves.reachable, min(high / curves.reachable, 1.0)


def _above(curves: Curves, score: float) -> float:
    """The least score that is better than this one by more than chance, on the scale of the score.

    The same sentences are scored each time, so half of an interval is enough.
    """
    scale = 100 if curves.score_name == "bleu" else curves.reachable
    return score + (scale * (_ends(curves, score)[1] - _share(curves, score)) / 2 if curves.sentences else 0.0)


def _with_score(curves: Curves, clause: str) -> str:
    """A clause with the best score, if there is one."""
    if not curves.score:
        return clause
    best = score_text(curves, max(value for _, value in curves.score))
    return t("{clause}, with {score} at best on validation", clause=clause, score=best)


def _shows_little(curves: Curves) -> str:
    """A sentence on a score of few sentences; empty if there are many, or nobody knows."""
    if not 0 < curves.sentences < LITTLE_SHOWN:
        return ""
    return t(
        "Only {n} pair was held out, so the interval is wide: bring more pairs, or hold out {least} or more.",
        "Only {n} pairs were held out, so the interval is wide: bring more pairs, or hold out {least} or more.",
        n=curves.sentences,
        least=LITTLE_SHOWN,
    )
