"""English to a simplified French in which adjective and noun swap: "i read red books" → "je lis livres rouge"."""

from __future__ import annotations

import itertools
import random

from model.config import DataConfig
from model.data.task import Example, Prompt, Splits, Task

SUBJECTS = {"I": "je", "you": "tu", "he": "il", "she": "elle", "we": "nous", "they": "ils"}
# The index of the verb form for each pronoun.
FORM = {"je": 0, "tu": 0, "il": 1, "elle": 1, "nous": 2, "ils": 3}
VERBS = {
    "read": ("lis", "lit", "lisons", "lisent"),
    "eat": ("mange", "mange", "mangeons", "mangent"),
    "see": ("vois", "voit", "voyons", "voient"),
    "buy": ("achete", "achete", "achetons", "achetent"),
}
ADJECTIVES = {"big": "grand", "small": "petit", "red": "rouge", "green": "vert", "blue": "bleu"}
NOUNS = {"books": "livres", "apples": "pommes", "cars": "voitures", "houses": "maisons"}

N_TEST = 96
N_VALID = 48
# Subject and verb keep their positions, adjective and noun swap theirs. The verb's ending depends on the subject, but
# the verb translates the verb alone.
ALIGNMENT = ((0,), (1,), (3,), (2,))

DESCRIPTION = (
    "480 four-word sentences of 6 subjects, 4 verbs, 5 adjectives and 4 nouns. The noun and its adjective change "
    "places, and the verb is conjugated. The French is simplified: no accents, no articles, no agreement, and tu takes "
    "the form of je. After he and she the English verb may have its -s or not. 96 test and 48 validation combinations "
    "are never seen in training; every subject is seen with every verb."
)
EXAMPLES = (
    Prompt(
        "I read red books",
        "the last two words cross: to predict “livres” it looks at “books”, then back at “red”",
        "livres",
        says=("livres rouge",),
        looks=(("livres", "books"), ("rouge", "red")),
    ),
    Prompt(
        "We eat green apples",
        "the ending of “mangeons” needs the subject: does its row look at “we” too?",
        "mangeons",
        says=("mangeons",),
    ),
    Prompt(
        "They buy blue cars",
        "subject and verb keep their order, noun and adjective cross",
        "voitures",
        says=("ils achetent voitures bleu",),
    ),
    Prompt(
        "She sees small houses",
        "“sees” and “see” become one verb; the subject determines its form",
        "voit",
        says=("voit",),
    ),
)

Combination = tuple[str, str, str, str]


def pair(combination: Combination, *, inflected: bool = True) -> Example:
    """The sentence pair of a subject, verb, adjective and noun; `inflected` adds the -s of "he reads"."""
    subject, verb, adjective, noun = combination
    je = SUBJECTS[subject]
    english = verb + "s" if inflected and FORM[je] == 1 else verb
    french = f"{je} {VERBS[verb][FORM[je]]} {NOUNS[noun]} {ADJECTIVES[adjective]}"
    return Example(f"{subject} {english} {adjective} {noun}", french, ALIGNMENT)


def build(split_seed: int) -> Splits:
    """Split the 480 combinations; after he and she, training has both verb forms, other splits the correct one."""
    rng = random.Random(f"adjective-swap {split_seed}")
    train: list[Combination] = []
    free: list[Combination] = []
    for subject, verb in itertools.product(SUBJECTS, VERBS):
        combinations = [(subject, verb, *rest) for rest in itertools.product(ADJECTIVES, NOUNS)]
        rng.shuffle(combinations)
        train.append(combinations[0])
        free.extend(combinations[1:])
    rng.shuffle(free)
    test, valid = free[:N_TEST], free[N_TEST : N_TEST + N_VALID]
    train.extend(free[N_TEST + N_VALID :])
    spellings = dict.fromkeys(pair(c, inflected=inflected) for c in train for inflected in (True, False))
    return {
        "train": tuple(spellings),
        "valid": tuple(pair(c) for c in valid),
        "test": tuple(pair(c) for c in test),
    }


def adjective_swap(split_seed: int) -> Task:
    """The task for one split seed."""
    return Task(
        name="adjective-swap",
        title="Adjective swap: English to simplified French",
        description=DESCRIPTION,
        story="Translates four-word sentences from English to a simplified French",
        trained_on="four-word sentences such as “I read red books”",
        complete=True,
        data=DataConfig(
            task="adjective-swap",
            src_lang="en",
            tgt_lang="fr",
            tokenizer="words",
            lowercase=True,
            split_seed=split_seed,
        ),
        default_preset="tiny",
        build=lambda: build(split_seed),
        examples=EXAMPLES,
    )
