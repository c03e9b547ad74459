"""Written dates to ISO 8601: "friday, 05.11.1999" → "1999-11-05"."""

from __future__ import annotations

import random
import re
from datetime import date, timedelta
from itertools import product

from model.config import DataConfig
from model.data.task import Example, Prompt, Splits, Task

FIRST = date(1950, 1, 1)
LAST = date(2049, 12, 31)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June",
          "July", "August", "September", "October", "November", "December")  # fmt: skip
_SHORT_MONTHS = [name[:3].lower() for name in MONTHS]

N_TEST = 1000
N_VALID = 300

# Spellings of dates: {d} day, {dd} day with two digits, {th} its ordinal ending, {m} {mm} month number,
# {month} its name or first three letters, {y} year.
NUMERIC = tuple(f"{{{d}}}{s}{{{m}}}{s}{{y}}" for s, d, m in product("./-", ("d", "dd"), ("m", "mm")))
YEAR_FIRST = ("{y}-{mm}-{dd}",)
DAY_MONTH = (
    "{d} {month} {y}", "{d} {month}, {y}", "{dd} {month} {y}", "{d}. {month} {y}", "{d}-{month}-{y}",
    "{d}{th} {month} {y}", "{d}{th} {month}, {y}", "{d}{th} of {month} {y}", "{d}{th} of {month}, {y}",
    "the {d}{th} of {month} {y}", "the {d}{th} of {month}, {y}",
)  # fmt: skip
MONTH_DAY = (
    "{month} {d} {y}", "{month} {d}, {y}", "{month} {dd}, {y}",
    "{month} {d}{th} {y}", "{month} {d}{th}, {y}", "{month} the {d}{th}, {y}",
)  # fmt: skip
FAMILIES = {"numeric": NUMERIC, "year first": YEAR_FIRST, "day, month name": DAY_MONTH, "month name, day": MONTH_DAY}
TEMPLATES = tuple(template for family in FAMILIES.values() for template in family)
_FAMILY_WEIGHTS = (8, 1, 8, 5)
_WEEKDAY_STYLES = ("", "", "", "{weekday} ", "{weekday}, ")

DESCRIPTION = (
    "Dates from 1950 to 2049 in many spellings become ISO 8601 (year-month-day). Numeric dates are read day first. A "
    "weekday is optional and always true, a month is a number, a name or three letters, a day may be an ordinal, and "
    "capitals do not matter: the text is lower-cased. Every character is a token. The split holds out whole calendar "
    "dates: a date in the test set was seen in no spelling."
)
EXAMPLES = (
    Prompt(
        "friday, 05.11.1999",
        "three fields change places: follow the year, then the month, then the day",
        says=("1999-11-05",),
    ),
    Prompt(
        "the 2nd of Feb, 1987",
        "the month “02” has to be made from a name: at which letters do its two digits look?",
        says=("1987-02-02",),
    ),
    Prompt("3 March 2024", "“03” comes twice: where does each 0 come from?", says=("2024-03-03",)),
    Prompt(
        "Wednesday, March the 20th, 2019",
        "the weekday and the ordinal change nothing: are they looked at?",
        says=("2019-03-20",),
    ),
)


def spell(when: date, template: str, *, short_month: bool = False, short_weekday: bool = False) -> Example:
    """Spell a date by a template, and align source and target by character.

    A digit of the target is aligned with the source digit that it repeats; a leading zero that the source lacks, with
    the digit that follows it; the digits of a month, with all letters of its name. Hyphens are not aligned.
    """
    month, weekday = MONTHS[when.month - 1], WEEKDAYS[when.weekday()]
    values = {
        "d": f"{when.day}", "dd": f"{when.day:02d}", "th": ordinal_ending(when.day),
        "m": f"{when.month}", "mm": f"{when.month:02d}", "month": month[:3] if short_month else month,
        "weekday": weekday[:3] if short_weekday else weekday, "y": f"{when.year}",
    }  # fmt: skip
    source = ""
    spans: dict[str, range] = {}
    for text, name in re.findall(r"([^{]*)(?:{(\w+)})?", template):
        source += text
        if name:
            spans[name[0] if name != "month" else "m"] = range(len(source), len(source) + len(values[name]))
            source += values[name]
    year, month_span, day = (spans[field] for field in "ymd")
    digits = [(i,) for i in year]
    has_name = "{month}" in template
    month_digits = [tuple(month_span)] * 2 if has_name else [(month_span[0],), (month_span[-1],)]
    day_digits = [(day[0],), (day[-1],)]
    return Example(source, when.isoformat(), (*digits, (), *month_digits, (), *day_digits))


def ordinal_ending(day: int) -> str:
    """The ending of 1st, 2nd, 3rd, 4th … 31st."""
    return "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def is_spelling(text: str) -> bool:
    """Whether a text is a spelling of a date that exists, from `FIRST` to `LAST`; capitals do not matter."""
    text = text.strip().lower()
    numbers = [int(digits) for digits in re.findall("[0-9]{1,4}", text)]
    names = [name[:3] for name in re.findall("[a-z]+", text)]
    months = [_SHORT_MONTHS.index(name) + 1 for name in names if name in _SHORT_MONTHS] or numbers
    if len(numbers) > 3:
        return False
    return any(text in _spellings(*parts) for parts in product(numbers, months, numbers))


def _spellings(year: int, month: int, day: int) -> set[str]:
    """Every spelling of a date in lower case; none of a date that does not exist or is not in the task."""
    try:
        when = date(year, month, day)
    except ValueError:  # there is no such day
        return set()
    if not FIRST <= when <= LAST:
        return set()
    templates = (style + template for style in set(_WEEKDAY_STYLES) for template in TEMPLATES)
    choices = product(templates, (False, True), (False, True))
    return {spell(when, each, short_month=m, short_weekday=w).source.lower() for each, m, w in choices}


def random_spelling(when: date, rng: random.Random) -> Example:
    """The pair for a date in a random spelling, including random case."""
    (family,) = rng.choices(tuple(FAMILIES), _FAMILY_WEIGHTS)
    template = rng.choice(_WEEKDAY_STYLES) + rng.choice(FAMILIES[family])
    example = spell(when, template, short_month=rng.random() < 0.5, short_weekday=rng.random() < 0.3)
    case = rng.choice((str, str.lower, str.upper))
    return Example(case(example.source), example.target, example.alignment)


def family_of(example: Example) -> str:
    """The name in `FAMILIES` of a spelling's family."""
    text = example.source.lower()
    for weekday in WEEKDAYS:
        text = re.sub(rf"^({weekday}|{weekday[:3]}),? ", "", text, flags=re.IGNORECASE)
    if not re.search("[a-z]", text):
        return "year first" if re.match(r"\d{4}", text) else "numeric"
    return "day, month name" if re.match(r"(the )?\d", text) else "month name, day"


def build(split_seed: int) -> Splits:
    """Every calendar date in one random spelling, in one split."""
    rng = random.Random(f"dates {split_seed}")
    days = [FIRST + timedelta(n) for n in range((LAST - FIRST).days + 1)]
    rng.shuffle(days)
    examples = tuple(random_spelling(when, rng) for when in days)
    held_out = N_TEST + N_VALID
    return {"train": examples[held_out:], "valid": examples[N_TEST:held_out], "test": examples[:N_TEST]}


def dates(split_seed: int) -> Task:
    """The task for one split seed."""
    return Task(
        name="dates",
        title="Dates to ISO 8601",
        description=DESCRIPTION,
        story="Writes dates in many spellings as year-month-day",
        trained_on="dates in many spellings",
        confidence=0.99,
        is_source=is_spelling,
        not_a_source="Its task has no day from 1950 to 2049 that is spelt like this: there may be no such day, no such "
        "spelling, or the weekday may be another.",
        data=DataConfig(
            task="dates",
            tokenizer="characters",
            lowercase=True,
            src_lang="en",
            tgt_lang="en",
            split_seed=split_seed,
        ),
        default_preset="tiny",
        build=lambda: build(split_seed),
        examples=EXAMPLES,
        group=family_of,
    )
