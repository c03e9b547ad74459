"""Numbers in English words and in digits: a task with few pairs, and the sample of your own pairs."""

from __future__ import annotations

import random
import re

from model.config import DataConfig
from model.data.task import Example, Prompt, Splits, Task

LIMIT = 1000  # numbers are below this
SAMPLE_PAIRS = 600  # of which a tenth is held out: enough for its score to show something
N_TRAIN, N_VALID = 150, 100  # all others are for the test
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


def aligned(number: int) -> Example:
    """The pair of a number above 0; each digit is aligned with the letters of its word, both of 13 with "thirteen".

    A 0 that is not spoken is aligned with nothing.
    """
    source, digits = in_words(number), str(number)
    words = [(word, range(start, start + len(word))) for word, start in _words(source)]
    letters_of: dict[int, range] = {}  # by the digit's place from the right
    if number >= 100:
        letters_of[2] = words[0][1]
        words = words[2:]
    for word, letters in words:
        if word in _TENS.split():
            letters_of[1] = letters
        elif word in _ONES.split()[10:]:
            letters_of[0] = letters_of[1] = letters
        else:
            letters_of[0] = letters
    return Example(source, digits, tuple(tuple(letters_of.get(place, ())) for place in reversed(range(len(digits)))))


def _words(text: str) -> list[tuple[str, int]]:
    """The words of a text, each with the position of its first letter."""
    return [(match[0], match.start()) for match in re.finditer(r"\S+", text)]


def build(split_seed: int) -> Splits:
    """Put every number above 0 into one split, with so few in training that a model can memorise them."""
    numbers = random.Random(f"number words {split_seed}").sample(range(1, LIMIT), LIMIT - 1)
    examples = tuple(map(aligned, numbers))
    held_out = N_TRAIN + N_VALID
    return {"train": examples[:N_TRAIN], "valid": examples[N_TRAIN:held_out], "test": examples[held_out:]}


def number_words_task(split_seed: int) -> Task:
    """The task for one split seed."""
    return Task(
        name="number-words",
        title="Numbers in words to digits",
        description=(
            f"Numbers from 1 to {LIMIT - 1} in English words become digits, character by character. Only {N_TRAIN} of "
            f"them are in training, so that it shows how well a model gets by with few pairs; no number is in two "
            "splits."
        ),
        story="Writes numbers below a thousand in digits",
        trained_on=f"{N_TRAIN} numbers in English words",
        complete=True,
        data=DataConfig(
            task="number-words", tokenizer="characters", src_lang="en", tgt_lang="en", split_seed=split_seed
        ),
        default_preset="tiny",
        build=lambda: build(split_seed),
        examples=(
            Prompt("four hundred twenty one", "each digit comes from a word: where does it look?", says=("421",)),
            Prompt("seven hundred five", "no word says the 0 between 7 and 5", says=("705",)),
        ),
    )
