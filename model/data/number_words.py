"""Numbers in English words and in digits: the sample file of a person's own pairs, which trains in a minute."""

from __future__ import annotations

import random

FILE_NAME = "number-words.tsv"
LIMIT = 1000  # numbers are below this
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def in_words(number: int) -> str:
    """A number from 0 to 999 in words: 421 is "four hundred twenty one"."""
    ones, tens = _ONES.split(), _TENS.split()
    if number < len(ones):
        return ones[number]
    if number < 100:
        return tens[number // 10 - 2] + (f" {ones[number % 10]}" if number % 10 else "")
    return f"{ones[number // 100]} hundred" + (f" {in_words(number % 100)}" if number % 100 else "")


def number_words(n: int = 300) -> list[tuple[str, str]]:
    """`n` different numbers in words and in digits, the same on every machine."""
    return [(in_words(number), str(number)) for number in random.Random("numbers").sample(range(LIMIT), n)]


def sample_file() -> str:
    """The sample as a TSV file with headings."""
    return "words\tdigits\n" + "".join(f"{words}\t{digits}\n" for words, digits in number_words())
