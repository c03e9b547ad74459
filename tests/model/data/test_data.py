"""The generated tasks: their sentences, splits and alignments."""

import random
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta

import pytest

from model.config import UNK
from model.data import MADE_HERE, Example, get_task
from model.data.dates import FAMILIES, FIRST, LAST, family_of, ordinal_ending, random_spelling, spell
from model.data.letters import sorted_
from model.data.phrases import ENGLISH_FRENCH, ENGLISH_GERMAN, ENGLISH_HINDI
from model.text.tokenizer_kinds import build_tokenizers
from tests.some import some

GENERALISING = tuple(name for name in MADE_HERE if not name.startswith("phrases"))


@pytest.mark.parametrize("name", MADE_HERE)
def test_a_task_says_what_it_is_and_its_training_split_has_all_tokens(name: str) -> None:
    """Those of the other splits and of the prompts; targets come back from theirs, and alignments name some."""
    task = get_task(name, split_seed=1)
    assert (task.name, task.data.task, task.data.split_seed) == (name, name, 1)
    assert task.title
    assert task.description.endswith(".")
    assert len(task.examples) >= 2
    assert all(prompt.note for prompt in task.examples)
    assert {"train", "valid", "test"} <= {split for split, examples in task.splits.items() if examples}
    step = 1 + len(task.splits["train"]) // 150
    train = task.splits["train"][::step]
    source, target = build_tokenizers(task.data, [e.source for e in train], [e.target for e in train])
    assert not [prompt for prompt in task.examples if UNK in source.encode(prompt.source).ids]
    for example in (example for examples in task.splits.values() for example in examples[::step]):
        given, wanted = source.encode(example.source), target.encode(example.target)
        assert UNK not in given.ids + wanted.ids, example
        assert target.decode(wanted.ids) == example.target
        assert (example.alignment is not None) == (name in GENERALISING)
        assert len(example.alignment or wanted) == len(wanted)
        for positions in example.alignment or ():
            assert len(set(positions)) == len(positions)
            assert all(0 <= p < len(given) for p in positions)


@pytest.mark.parametrize("name", some(GENERALISING, 3))
def test_splits_are_disjoint_and_follow_the_seed(name: str) -> None:
    first, other = get_task(name), get_task(name, split_seed=1)
    again = replace(first)  # built anew
    assert first.splits == again.splits
    assert set(first.splits["test"]) != set(other.splits["test"])
    for task in (first, other):
        sources = {split: {e.source.lower() for e in examples} for split, examples in task.splits.items()}
        for split in sources:
            for elsewhere in sources:
                assert split == elsewhere or not sources[split] & sources[elsewhere]


def test_adjective_swap_has_480_combinations_split_as_promised() -> None:
    splits = get_task("adjective-swap").splits
    assert len(splits["test"]) == 96
    assert len(splits["valid"]) == 48
    bare = {e.source.replace("s ", " ", 1) if e.source.split()[1][-1] == "s" else e.source for e in splits["train"]}
    assert len(bare) == 480 - 96 - 48
    answers = {e.source: e.target for examples in splits.values() for e in examples}
    assert len(set(answers.values())) == 480
    assert answers["I read red books"] == "je lis livres rouge"
    assert answers["she sees small houses"] == "elle voit maisons petit"


def test_letters_are_transformed_and_aligned() -> None:
    for name, transform in {"copy": str, "reverse": lambda s: s[::-1], "sort": lambda s: "".join(sorted(s))}.items():
        for example in get_task(name).splits["test"]:
            assert example.target == transform(example.source)
            for letter, positions in zip(example.target, example.alignment or (), strict=True):
                assert {example.source[p] for p in positions} == {letter}
    assert sorted_("banana").alignment == ((1, 3, 5), (3, 1, 5), (5, 1, 3), (0,), (2, 4), (4, 2)), "sorting is stable"
    task = get_task("copy")
    assert task.equivalent("ab", Example("ab", "ab"))
    assert not task.equivalent("a b", Example("ab", "ab"))


def test_dates_are_aligned_by_character() -> None:
    example = spell(date(1987, 2, 12), "the {d}{th} of {month}, {y}", short_month=True)
    assert example.source == "the 12th of Feb, 1987"
    feb = (12, 13, 14)
    assert example.alignment == ((17,), (18,), (19,), (20,), (), feb, feb, (), (4,), (5,))
    assert spell(date(1999, 5, 7), "{d}.{m}.{y}").alignment[5:] == ((2,), (2,), (), (0,), (0,))
    assert spell(date(1999, 11, 17), "{dd}.{mm}.{y}").alignment[5:] == ((3,), (4,), (), (0,), (1,))


def test_dates_cover_the_century_and_hold_out_whole_dates() -> None:
    splits = get_task("dates").splits
    days = {split: {e.target for e in examples} for split, examples in splits.items()}
    assert len(days["test"]) == 1000
    assert not days["train"] & (days["test"] | days["valid"])
    everything = days["train"] | days["test"] | days["valid"]
    assert everything == {(FIRST + timedelta(n)).isoformat() for n in range((LAST - FIRST).days + 1)}
    assert (min(everything), max(everything)) == ("1950-01-01", "2049-12-31")


def test_weekdays_are_correct_and_families_are_recognised() -> None:
    rng = random.Random(0)
    for family, templates in FAMILIES.items():
        for template in templates:
            when = FIRST + timedelta(rng.randrange(36500))
            for weekday in ("", "{weekday} ", "{weekday}, "):
                example = spell(when, weekday + template, short_month=rng.random() < 0.5)
                assert family_of(example) == family, example
                assert (f"{when:%A}" in example.source) == bool(weekday)
    spelled = Counter(family_of(random_spelling(FIRST, rng)) for _ in range(500))
    assert set(spelled) == set(FAMILIES)
    endings = [ordinal_ending(day) for day in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30, 31)]
    assert endings == ["st", "nd", "rd", "th", "th", "th", "th", "st", "nd", "rd", "th", "st"]


@pytest.mark.parametrize(
    ("name", "pairs"),
    [("phrases-en-de", ENGLISH_GERMAN), ("phrases-en-fr", ENGLISH_FRENCH), ("phrases-en-hi", ENGLISH_HINDI)],
)
def test_phrases_have_one_answer_each(name: str, pairs: tuple[tuple[str, str], ...]) -> None:
    assert 22 <= len(pairs) <= 30
    splits = get_task(name).splits
    answers: dict[str, set[str]] = {}
    for example in splits["train"]:
        answers.setdefault(example.source, set()).add(example.target)
    assert all(len(targets) == 1 for targets in answers.values())
    assert set(dict(pairs)) <= set(answers)
    assert splits["test"] == splits["train"]
    assert "same pairs" in get_task(name).description
    if name == "phrases-en-de":  # a full stop and lower case are practised too
        assert answers["I am a student"] == answers["i am a student"] == {"Ich bin Student"}
        assert answers["i am a student."] == {"Ich bin Student."}
    if name == "phrases-en-hi":
        assert answers["I like pizza."] == {"मुझे पिज़्ज़ा पसंद है।"}
