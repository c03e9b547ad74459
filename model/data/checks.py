"""Check your own sentence pairs before a model learns them: what is wrong, in how many pairs, and on which lines."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from model.config import PairFault
from model.data.files import SHOWN, VALID_FRACTION, Pairs, given_splits, held_out_key, name_lines, split_pairs
from model.data.scripts import has_mixed_word, main_script
from model.data.task import DataError, Example, Splits
from model.user_error import readable
from model.wording import t

CHOICES: tuple[PairFault, ...] = get_args(PairFault)
LEFT_OUT: tuple[PairFault, ...] = ("duplicates", "long")
"""What is left out unless a person keeps it; everything else is kept unless a person leaves it out."""

FEW = 100  # pairs; with fewer, there is too little to learn a rule from
FEWEST_HELD_OUT, LITTLE_SHOWN = 20, 60  # pairs; a score of fewer says next to nothing, or little
SHARES = (0.05, VALID_FRACTION, 0.2, 0.3)  # of the pairs, to hold out
MOST_PROPOSED = 0.2  # the largest of these shares that is proposed
LONG = 1000  # characters; attention to a text of this length takes a hundred times that to an ordinary sentence
OUTLYING, OUTLYING_LEAST = 10, 50  # times as long as usual, and at least so many characters
TASK = 0.5  # what more than half of the pairs have is what the model is to learn, and not a fault
ONE_SIDED = math.log(3)  # a pair three times as long or short as the others, for its other side
SMOOTHING = 5  # characters added to both lengths, so that short words are not called one-sided
RARE = 0.05  # the largest share of texts whose script counts as foreign, or whose length as not belonging to them
LONGEST_ANSWER, LONGEST_SIDE = 60, 40  # characters of an answer, or of a side of a pair, that is named
_TAGS = "b|i|u|em|strong|br|p|div|span|a|font|img|sub|sup|ul|ol|li|table|tr|td"
_MARKUP = re.compile(rf"</?(?:{_TAGS})(?:\s+[\w-]+=[^<>]*)?\s*/?>|&(?:nbsp|amp|lt|gt|quot|#\d+);", re.IGNORECASE)
# UTF-8 that was read as Windows-1252, and letters that a program could not write.
_GARBLED = re.compile("[\u00c2\u00c3][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2018-\u203a]|â€|\ufffd")


@dataclass(frozen=True)
class Finding:
    """One thing that was found in the pairs.

    `count` pairs of `total` have it; `lines` are the lines of all of them in the file and `pairs` the first few, or
    `rows` their texts where they are no pairs. `commonest` has, for each of the first pairs of which another answer to
    the same source is commoner, that answer and its first line.
    `choice` is the word that --keep and --leave-out take, None where there is nothing to choose; `left_out` says which
    of the two was chosen, and that these pairs are not trained on.
    """

    kind: str
    sentence: str
    count: int
    total: int
    lines: tuple[int, ...] = ()
    pairs: tuple[Example, ...] = ()
    choice: PairFault | None = None
    left_out: bool = False
    rows: tuple[str, ...] = ()
    commonest: tuple[tuple[str, int], ...] = ()

    def where(self) -> str:
        """The numbers of the first lines, and what is on the first of them; empty without lines."""
        if not self.lines:
            return ""
        return t(
            "{lines}: {first}",
            "{lines}, of which the first: {first}",
            n=len(self.lines),
            lines=name_lines(self.lines),
            first=self._first(),
        )

    def _first(self) -> str:
        if self.rows:
            return self.rows[0]
        source, target = (readable(side, LONGEST_SIDE) for side in (self.pairs[0].source, self.pairs[0].target))
        if not self.commonest:
            return t("“{source}” → “{target}”", source=source, target=target)
        answer, line = self.commonest[0]
        return t(
            "“{source}” → “{answer}” (line {line}) or “{target}” (line {other_line})",
            source=source,
            answer=readable(answer, LONGEST_SIDE),
            line=line,
            target=target,
            other_line=self.lines[0],
        )

    def text(self) -> str:
        """The sentence with what becomes of the pairs, and the first lines, as the command line prints it."""
        where = f" ({self.where()})" if self.lines else ""
        if self.choice is None:
            return f"{self.sentence}{where}"
        other = f"--keep {self.choice}" if self.left_out else f"--leave-out {self.choice}"
        return f"{self.sentence}{where} {'Left out' if self.left_out else 'Kept'}; {other} changes that."


@dataclass(frozen=True)
class Checked:
    """Pairs that were checked and split: what a run learns from, and what was found."""

    splits: Splits
    findings: tuple[Finding, ...]


def check(
    pairs: Pairs,
    valid: Pairs | None = None,
    *,
    keep: Collection[str] = (),
    leave_out: Collection[str] = (),
    valid_fraction: float | None = None,
    split_seed: int = 0,
) -> Checked:
    """Check pairs, leave out what is to be left out, and split the others, or take `valid` as the held-out pairs.

    Raises:
        DataError: nothing is left to learn from, or an unknown word in `keep` or `leave_out`.
    """
    dropped = _choose(keep, leave_out)
    findings = list(_unusable(pairs))
    total = len(pairs.examples)
    repeated = pairs.examples
    for kind, find in _CHECKS.items():
        if kind == "duplicates":
            repeated = pairs.examples
        contradictory = kind == "contradictory"
        rows, sentence = _contradictory(pairs.examples, repeated) if contradictory else find(pairs.examples)
        if not rows:
            continue
        out = kind in dropped
        finding = _finding(kind, sentence, pairs, rows, total, out)
        if contradictory and pairs.lines:
            finding = replace(finding, commonest=_commonest_lines(pairs, finding.pairs, _commonest(repeated)))
        findings.append(finding)
        if out:
            pairs = _without(pairs, rows)
    if len(pairs.examples) < 2:
        raise DataError(
            t(
                "only {n} pair of {total:,} would be left to learn from.",
                "only {n:,} pairs of {total:,} would be left to learn from.",
                n=len(pairs.examples),
                total=total,
            )
            + "".join(f" {finding.text()}" for finding in findings if finding.left_out)
        )
    if valid is None:
        share = proposed_share(len(pairs.examples)) if valid_fraction is None else valid_fraction
        splits = split_pairs(pairs, valid_fraction=share, split_seed=split_seed)
    else:
        rows = _leaking(pairs, valid)
        if rows:
            sentence = t(
                "{n} training pair has the source of a validation pair, give or take capitals, spaces and punctuation: "
                "the model would only have to remember its answer. Left out of training.",
                "{n:,} training pairs have the source of a validation pair, give or take capitals, spaces and "
                "punctuation: the model would only have to remember its answer. Left out of training.",
                n=len(rows),
            )
            finding = _finding("leaking", sentence, pairs, rows, len(pairs.examples), True)
            findings.append(replace(finding, choice=None))
        splits = given_splits(pairs, valid)
    if rows := [row for row, pair in enumerate(pairs.examples) if _MARKUP.search(f"{pair.source}\n{pair.target}")]:
        sentence = t(
            "{n} pair has HTML in it, such as <b> or &nbsp;, which the model learns as text.",
            "{n:,} pairs have HTML in them, such as <b> or &nbsp;, which the model learns as text.",
            n=len(rows),
        )
        findings.append(_finding("markup", sentence, pairs, rows, len(pairs.examples), False))
    findings += _one_answer(splits)
    findings += _ceiling(splits)
    findings += _few(splits, given=valid is not None)
    return Checked(splits, tuple(findings))


def proposed_share(pairs: int) -> float:
    """The share of pairs to hold out unless a person chooses one: a tenth, or 60 pairs where a fifth has as many."""
    return max(VALID_FRACTION, LITTLE_SHOWN / pairs) if MOST_PROPOSED * pairs >= LITTLE_SHOWN else VALID_FRACTION


def _choose(keep: Collection[str], leave_out: Collection[str]) -> set[str]:
    for word in (*keep, *leave_out):
        if word not in CHOICES:
            raise DataError(
                "'{word}' cannot be kept or left out; these can: {choices}.", word=word, choices=", ".join(CHOICES)
            )
    if both := set(keep) & set(leave_out):
        raise DataError("{both}: keep or leave out, but not both.", both=", ".join(sorted(both)))
    return (set(LEFT_OUT) | set(leave_out)) - set(keep)


def _finding(
    kind: PairFault | str, sentence: str, pairs: Pairs, rows: Sequence[int], total: int, left_out: bool
) -> Finding:
    lines = tuple(pairs.lines[row] for row in rows) if pairs.lines else ()
    shown = tuple(pairs.examples[row] for row in rows[:SHOWN])
    choice = next((word for word in CHOICES if word == kind), None)
    return Finding(kind, sentence, len(rows), total, lines, shown, choice, left_out)


def _without(pairs: Pairs, rows: Sequence[int]) -> Pairs:
    gone = set(rows)
    kept = [row for row in range(len(pairs.examples)) if row not in gone]
    lines = tuple(pairs.lines[row] for row in kept) if pairs.lines else ()
    return replace(pairs, examples=tuple(pairs.examples[row] for row in kept), lines=lines)


# Each check returns the rows that have something, and the sentence on them.

_Found = tuple[list[int], str]


def _unusable(pairs: Pairs) -> list[Finding]:
    total = len(pairs.examples) + pairs.n_skipped
    findings = []
    for why, lines in pairs.skipped.items():
        said = t("{n} row cannot be used: {why}.", "{n:,} rows cannot be used: {why}.", n=len(lines), why=why)
        findings.append(Finding("unusable", said, len(lines), total, lines, rows=pairs.rows.get(why, ())))
    return findings


def _long(examples: Sequence[Example]) -> _Found:
    rows = [row for row, pair in enumerate(examples) if max(len(pair.source), len(pair.target)) > LONG]
    return rows, t(
        "{n} pair has a side of more than {long:,} characters.",
        "{n:,} pairs have a side of more than {long:,} characters.",
        n=len(rows),
        long=LONG,
    )


def _outlying(examples: Sequence[Example]) -> _Found:
    """The few pairs whose longer side is far longer than that of half of the pairs."""
    lengths = [max(len(pair.source), len(pair.target)) for pair in examples]
    usual = math.floor(statistics.median(lengths)) if lengths else 0
    rows = [row for row, length in enumerate(lengths) if length > max(OUTLYING * usual, OUTLYING_LEAST)]
    if not rows or len(examples) < 10 or len(rows) > max(1, RARE * len(examples)):
        return [], ""
    return rows, t(
        "{n} pair is more than {times} times as long as usual: {longest:,} characters on its longer side, where half "
        "of the pairs have at most {usual:,}.",
        "{n:,} pairs are more than {times} times as long as usual: up to {longest:,} characters on the longer side, "
        "where half of the pairs have at most {usual:,}.",
        n=len(rows),
        times=OUTLYING,
        longest=max(lengths),
        usual=usual,
    )


def _duplicates(examples: Sequence[Example]) -> _Found:
    seen: set[tuple[str, str]] = set()
    rows = []
    for row, pair in enumerate(examples):
        key = (pair.source, pair.target)
        if key in seen:
            rows.append(row)
        seen.add(key)
    return rows, t("{n} pair repeats an earlier one.", "{n:,} pairs repeat an earlier one.", n=len(rows))


def _commonest(examples: Sequence[Example]) -> dict[str, str]:
    """The commonest answer to each source that has several: of those that are equally common, the first."""
    answers: dict[str, Counter[str]] = {}
    for pair in examples:
        answers.setdefault(pair.source, Counter())[pair.target] += 1
    return {source: max(counts, key=counts.__getitem__) for source, counts in answers.items() if len(counts) > 1}


def _commonest_lines(pairs: Pairs, others: Sequence[Example], best: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    """The commonest answer to the source of each of the `others`, with its first line."""
    lines: dict[tuple[str, str], int] = {}
    for pair, line in zip(pairs.examples, pairs.lines, strict=True):
        lines.setdefault((pair.source, pair.target), line)
    return tuple((best[pair.source], lines[pair.source, best[pair.source]]) for pair in others)


def _contradictory(examples: Sequence[Example], repeated: Sequence[Example] = ()) -> _Found:
    """The pairs that have another answer than the commonest one, which is counted with all `repeated` pairs."""
    best = _commonest(repeated or examples)
    rows = [row for row, pair in enumerate(examples) if pair.source in best and best[pair.source] != pair.target]
    several = t(
        "{n} source has several answers: at most {most:,} of {pairs:,} pairs can be answered as they stand.",
        "{n:,} sources have several answers: at most {most:,} of {pairs:,} pairs can be answered as they stand.",
        n=len(best),
        most=len(examples) - len(rows),
        pairs=len(examples),
    )
    rarer = t(
        "{n} pair has another answer than the commonest one, or than the first of several that are equally common.",
        "{n:,} pairs have another answer than the commonest one, or than the first of several that are equally common.",
        n=len(rows),
    )
    return rows, f"{several} {rarer}"


def _untranslated(examples: Sequence[Example]) -> _Found:
    rows = [
        row for row, pair in enumerate(examples) if pair.source == pair.target and re.search(r"[^\W\d]", pair.source)
    ]
    if len(rows) > TASK * len(examples):
        return [], ""
    return rows, t(
        "{n} pair has the same text on both sides.", "{n:,} pairs have the same text on both sides.", n=len(rows)
    )


def _lengths(examples: Sequence[Example]) -> _Found:
    if len(examples) < 10:
        return [], ""
    ratios = [math.log((len(pair.target) + SMOOTHING) / (len(pair.source) + SMOOTHING)) for pair in examples]
    usual = statistics.median(ratios)
    apart = [abs(ratio - usual) for ratio in ratios]
    limit = max(ONE_SIDED, 6 * statistics.median(apart))
    rows = [row for row, distance in enumerate(apart) if distance > limit]
    return rows, t(
        "{n} pair has a target that is far longer or shorter than its source suggests: perhaps lines that do not "
        "belong together.",
        "{n:,} pairs have a target that is far longer or shorter than its source suggests: perhaps lines that do not "
        "belong together.",
        n=len(rows),
    )


def _scripts(examples: Sequence[Example]) -> _Found:
    rows: set[int] = set()
    for texts in ([pair.source for pair in examples], [pair.target for pair in examples]):
        scripts = [main_script(text) for text in texts]
        counts = Counter(script for script in scripts if script)
        rare = {script for script, count in counts.items() if count <= RARE * len(texts)}
        rows |= {row for row, script in enumerate(scripts) if script in rare or has_mixed_word(texts[row])}
    return sorted(rows), t(
        "{n} pair has a script that the others do not have, or words that mix letters of two scripts.",
        "{n:,} pairs have a script that the others do not have, or words that mix letters of two scripts.",
        n=len(rows),
    )


def _garbled(examples: Sequence[Example]) -> _Found:
    rows = [row for row, pair in enumerate(examples) if _GARBLED.search(f"{pair.source}\n{pair.target}")]
    return rows, t(
        "{n} pair has garbled letters, such as Ã¼ for ü: the file was once saved in the wrong encoding.",
        "{n:,} pairs have garbled letters, such as Ã¼ for ü: the file was once saved in the wrong encoding.",
        n=len(rows),
    )


_CHECKS: Mapping[PairFault, Callable[[Sequence[Example]], _Found]] = {
    "long": _long,
    "outlying": _outlying,
    "garbled": _garbled,
    "duplicates": _duplicates,
    "contradictory": _contradictory,
    "untranslated": _untranslated,
    "lengths": _lengths,
    "scripts": _scripts,
}


def _leaking(pairs: Pairs, valid: Pairs) -> list[int]:
    held_out = {held_out_key(pair.source) for pair in valid.examples}
    return [row for row, pair in enumerate(pairs.examples) if held_out_key(pair.source) in held_out]


def best_score(examples: Sequence[Example]) -> float:
    """The largest share of pairs that can be right if each source always gets the same answer."""
    rows, _ = _contradictory(examples)
    return (len(examples) - len(rows)) / len(examples)


def _ceiling(splits: Splits) -> list[Finding]:
    best, valid = best_score(splits["valid"]), splits["valid"]
    if best == 1:
        return []
    right = round(best * len(valid))
    sentence = t(
        "Of the {n:,} held-out pairs, at most {right:,} can be exactly right, since the same source has several "
        "answers.",
        n=len(valid),
        right=right,
    )
    return [Finding("best score", sentence, len(valid) - right, len(valid))]


def _one_answer(splits: Splits) -> list[Finding]:
    """The commonest answer, if more than half of the held-out pairs have it."""
    valid = [pair.target for pair in splits["valid"]]
    [(answer, count)] = Counter(valid).most_common(1)
    if count < 2 or count <= TASK * len(valid):
        return []
    sentence = t(
        "{count:,} of the {n:,} held-out pairs have the answer “{answer}”: a model that always says so has that score.",
        count=count,
        n=len(valid),
        answer=answer[:LONGEST_ANSWER],
    )
    return [Finding("one answer", sentence, count, len(valid))]


def _few(splits: Splits, *, given: bool) -> list[Finding]:
    """Too few pairs to learn from, or too few that are held out, with the remedy; `given`: those come from a file."""
    valid = len(splits["valid"])
    total = len(splits["train"]) + valid
    if total < FEW:
        sentence = t(
            "{pairs} pairs are far too few to learn a rule from, and {n} held-out pair can hardly show whether one was "
            "learned. Some hundreds are needed.",
            "{pairs} pairs are far too few to learn a rule from, and {n:,} held-out pairs can hardly show whether one "
            "was learned. Some hundreds are needed.",
            pairs=total,
            n=valid,
        )
        return [Finding("few", sentence, total, total)]
    if valid >= LITTLE_SHOWN:
        return []
    little = t(
        "Only {n} pair is held out, whose score shows little.",
        "Only {n:,} pairs are held out, whose score shows little.",
        n=valid,
    )
    return [Finding("few held out", f"{little} {_remedy(valid, total, given=given)}", valid, total)]


def _remedy(valid: int, total: int, *, given: bool) -> str:
    """What to do where fewer than 60 pairs are held out."""
    if given:
        return t("Bring at least {least} validation pairs.", least=LITTLE_SHOWN)
    enough = math.ceil(LITTLE_SHOWN / MOST_PROPOSED)  # with so many pairs, the proposal holds out 60
    share = next((share for share in SHARES if round(share * total) >= LITTLE_SHOWN), SHARES[-1])
    held_out = round(share * total)
    if total >= enough:
        return t("Hold out {share} % of all pairs ({held_out:,}).", share=round(100 * share), held_out=held_out)
    if held_out > valid:
        return t(
            "Hold out {share} % of all pairs ({held_out:,}), or bring {more:,} more, so that {least} can be held out.",
            share=round(100 * share),
            held_out=held_out,
            more=enough - total,
            least=LITTLE_SHOWN,
        )
    return t("Bring {more:,} more, so that {least} can be held out.", more=enough - total, least=LITTLE_SHOWN)
