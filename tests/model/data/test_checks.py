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
    ("outlying", [("word " * 150, "Wort " * 150)], 1),
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
    assert finding.commonest[1] == ("Wort 1", 2)
    assert "“word 0” → “Wort 0” (line 1) or “anders 0” (line 61)" in finding.text()
    assert best.commonest == (), "only where there are other answers to show"
    without = check(pairs_of(*rows, clean=0), leave_out=["contradictory"])
    assert {pair.target.split()[0] for split in without.splits.values() for pair in split} == {"Wort"}, "the earlier"
    assert "best score" not in found(without)


def test_the_commonest_answer_is_shown_though_it_comes_later() -> None:
    rows = [("bank", "Ufer"), ("bank", "Bank"), ("bank", "Bank")]
    for keep in ([], ["duplicates"]):
        finding = found(check(pairs_of(*rows), keep=keep))["contradictory"]
        assert (finding.lines, finding.commonest) == ((121,), (("Bank", 122),)), "counted before repeats are left out"


def test_far_longer_pairs_are_found_while_they_are_few() -> None:
    texts = [(f"a {n}", f"b {n}") for n in range(100)]
    long = [("word " * 12, f"b {n}") for n in range(8)]

    def outlying(n_texts: int, n_long: int) -> Finding | None:
        return found(check(pairs_of(*texts[:n_texts], *long[:n_long], clean=0))).get("outlying")

    finding = outlying(100, 2)
    assert finding is not None
    assert finding.lines == (101, 102)
    assert finding.sentence == (
        "2 pairs are more than 10 times as long as usual: up to 60 characters on the longer side, where half of the "
        "pairs have at most 4."
    )
    assert outlying(12, 1) is not None, "one of few pairs may be"
    assert outlying(100, 8) is None, "so many belong to these data"
    assert outlying(8, 1) is None, "of so few pairs, none are usual"
    short = [(f"{n}", f"{n}") for n in range(100)]
    assert "outlying" not in found(check(pairs_of(*short, ("b" * 50, "c"), clean=0))), "50 characters are no length"


@pytest.mark.parametrize(
    ("pairs", "held_out"), [(20, 2), (299, 30), (300, 60), (437, 60), (600, 60), (601, 60), (1000, 100), (20_000, 1000)]
)
def test_sixty_pairs_are_held_out_where_they_are_at_most_a_fifth(pairs: int, held_out: int) -> None:
    examples = tuple(Example(f"word {n}", f"Wort {n}") for n in range(pairs))
    checked = check(Pairs(examples, {}, "1", "2"))
    assert len(checked.splits["valid"]) == held_out
    assert ("few held out" in found(checked)) == (100 <= pairs < 300)


@pytest.mark.parametrize(
    ("pairs", "share", "remedy"),
    [
        (150, None, "Hold out 30 % of all pairs (45), or bring 150 more, so that 60 can be held out."),
        (150, 0.3, "Bring 150 more, so that 60 can be held out."),
        (250, None, "Hold out 30 % of all pairs (75), or bring 50 more, so that 60 can be held out."),
        (400, 0.1, "Hold out 20 % of all pairs (80)."),
        (800, 0.05, "Hold out 10 % of all pairs (80)."),
    ],
)
def test_the_remedy_for_too_few_held_out_pairs_is_one_that_helps(pairs: int, share: float | None, remedy: str) -> None:
    filling = pairs_of(*[(f"word {n}", f"Wort {n}") for n in range(pairs)], clean=0)
    checked = check(filling, valid_fraction=share)
    valid = len(checked.splits["valid"])
    said = found(checked)["few held out"].sentence
    assert said == f"Only {valid} pairs are held out, whose score shows little. {remedy}"
    given = check(filling, pairs_of(("new", "neu"), ("old", "alt"), clean=0))
    assert found(given)["few held out"].sentence.endswith("Bring at least 60 validation pairs.")


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
    with pytest.raises(DataError, match="'few' cannot be kept or left out; these can: long, outlying, garbled"):
        check(pairs_of(), keep=["few"])
    with pytest.raises(DataError, match="duplicates: keep or leave out, but not both"):
        check(pairs_of(), keep=["duplicates"], leave_out=["duplicates"])
    with pytest.raises(DataError, match="only 1 pair of 3 would be left"):
        check(pairs_of(*COPIES, clean=0))
