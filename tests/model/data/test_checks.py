"""The check of a person's own pairs: each fault planted once, and pairs without a fault."""

import pytest

from model.data.checks import LEFT_OUT, Checked, Finding, best_score, check
from model.data.files import Pairs
from model.data.number_words import number_words
from model.data.task import DataError, Example
from tests import own_data


def pairs_of(*rows: tuple[str, str], clean: int = 120) -> Pairs:
    """These rows after some without a fault; the line of each is its place from 1."""
    filling = own_data.sentence_pairs(clean) if clean else []
    examples = tuple(Example(*row) for row in (*filling, *rows))
    return Pairs(examples, {}, "1", "2", lines=tuple(range(1, len(examples) + 1)))


def found(checked: Checked) -> dict[str, Finding]:
    return {finding.kind: finding for finding in checked.findings}


@pytest.mark.parametrize("pairs", [number_words(), *(make() for make in own_data.DATA_SETS.values())])
def test_nothing_is_found_in_good_pairs(pairs: own_data.Pairs) -> None:
    findings = found(check(Pairs(tuple(Example(*pair) for pair in pairs), {}, "1", "2")))
    palindromes = findings.pop("untranslated", None)
    assert palindromes is None or all(pair.source == pair.source[::-1] for pair in palindromes.pairs)
    assert findings == {}


COPIES = [("dog", "Hund"), ("dog", "Hund"), ("dog", "Hund")]
FAULTS = [
    ("long", [("x" * 1001, "y" * 900)], 1),
    ("garbled", [("the door", "die TÃ¼r"), ("it\u00e2\u20ac\u2122s", "es ist"), ("a", "\ufffdb")], 3),
    ("duplicates", COPIES, 2),
    ("contradictory", [("bank", "Bank"), ("bank", "Ufer"), ("bank", "Bank.")], 2),
    ("untranslated", [("Dog", "Dog"), ("12", "12")], 1),
    ("lengths", [("yes", "Das ist ein sehr langer Satz, der gewiss nicht dazu gehört.")], 1),
    ("scripts", [("the cat", "кошка"), ("Moscow", "\u041coskau")], 2),
]


@pytest.mark.parametrize(("kind", "rows", "count"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_each_fault_is_counted_and_can_be_left_out_or_kept(kind: str, rows: list[tuple[str, str]], count: int) -> None:
    pairs = pairs_of(*rows)
    kept, without = check(pairs, keep=[kind]), check(pairs, leave_out=[kind])
    for checked, left_out in ((kept, False), (without, True)):
        finding = found(checked)[kind]
        assert (finding.count, finding.choice, finding.left_out) == (count, kind, left_out)
        assert len(finding.lines) == len(finding.pairs) == count
        assert all(pairs.examples[line - 1] == pair for line, pair in zip(finding.lines, finding.pairs, strict=True))
        assert all(line > 120 for line in finding.lines), "no pair without the fault is called faulty"
    sizes = [sum(map(len, checked.splits.values())) for checked in (kept, without)]
    assert sizes == [len(pairs.examples), len(pairs.examples) - count]
    assert found(check(pairs))[kind].left_out == (kind in LEFT_OUT)


def test_html_in_the_texts_is_found_and_signs_of_less_and_more_are_none() -> None:
    finding = found(check(pairs_of(("dog", "<b>Hund</b>"), ("a", "b&nbsp;"), ('<span class="x">c</span>', "d"))))[
        "markup"
    ]
    assert (finding.count, finding.choice, finding.lines) == (3, None, (121, 122, 123))
    assert "markup" not in found(check(pairs_of(("a < b and c > d", "a<b and c>d"), ("R&D; then", "x <5> y"))))


@pytest.mark.parametrize(("yes", "said"), [(120, True), (90, True), (40, False)])
def test_an_answer_that_most_pairs_have_is_a_score_to_beat(yes: int, said: bool) -> None:
    answers = ["yes" if n < yes else f"no {n}" for n in range(120)]
    checked = check(Pairs(tuple(Example(f"word{n}", answer) for n, answer in enumerate(answers)), {}, "1", "2"))
    assert ("one answer" in found(checked)) == said
    if said:
        valid = [pair.target for pair in checked.splits["valid"]]
        beginning = f"{valid.count('yes')} of the 12 held-out pairs have the answer “yes”"
        assert found(checked)["one answer"].sentence.startswith(beginning)


def test_a_task_is_not_called_a_fault() -> None:
    same = [(word, word) for word, _ in own_data.word_reversal(200)]
    assert "untranslated" not in found(check(pairs_of(*same, clean=0)))
    russian = [(f"слово {word}", word) for word, _ in own_data.word_reversal(200)]
    assert "scripts" not in found(check(pairs_of(*russian, clean=0))), "Latin and Cyrillic words side by side are fine"
    units = [(f"{n} µm и Δx", f"{n} micrometres") for n in range(200)]
    assert "scripts" not in found(check(pairs_of(*units, clean=0)))


def test_contradictions_bound_the_score() -> None:
    rows = [(f"word {n}", f"Wort {n}") for n in range(60)] + [(f"word {n}", f"anders {n}") for n in range(60)]
    checked = check(pairs_of(*rows, *[(f"more {n}", f"mehr {n}") for n in range(60)], clean=0))
    finding = found(checked)["contradictory"]
    assert finding.sentence.startswith("60 sources have several answers: at most 120 of 180 pairs can be answered")
    assert finding.count == 60
    valid = checked.splits["valid"]
    best = found(checked)["best score"]
    # Recounted by hand: the most that one answer a source can have right.
    right = sum(
        max([p.target for p in valid if p.source == source].count(t) for t in {p.target for p in valid})
        for source in {p.source for p in valid}
    )
    assert best.count == len(valid) - right > 0
    assert f"at most {right} " in best.sentence
    assert best_score(valid) == right / len(valid)
    without = check(pairs_of(*rows, clean=0), leave_out=["contradictory"])
    assert {pair.target.split()[0] for split in without.splits.values() for pair in split} == {"Wort"}, "the earlier"
    assert "best score" not in found(without)


def test_sources_that_differ_in_marks_alone_stay_in_one_split() -> None:
    rows = [(f"word {n}{mark}", f"Wort {n}") for n in range(60) for mark in ("", "!", "?")]
    splits = check(pairs_of(*rows, clean=0)).splits
    sides = [{pair.source.strip("!?") for pair in splits[split]} for split in ("train", "valid")]
    assert not sides[0] & sides[1]
    sums = [(f"{a} {mark} {b}", str(a + b)) for a in range(9) for b in range(9) for mark in "+-"]
    valid = Pairs((Example("1 + 20", "21"), Example("1 - 2", "3")), {}, "1", "2")
    assert found(check(pairs_of(*sums, clean=0), valid))["leaking"].count == 1, (
        "a sign between numbers is no punctuation"
    )


def test_choices_that_cannot_be() -> None:
    with pytest.raises(DataError, match="'few' cannot be kept or left out; these can: long, garbled"):
        check(pairs_of(), keep=["few"])
    with pytest.raises(DataError, match="duplicates: keep or leave out, but not both"):
        check(pairs_of(), keep=["duplicates"], leave_out=["duplicates"])
    with pytest.raises(DataError, match="only 1 pair of 3 would be left"):
        check(pairs_of(*COPIES, clean=0))
