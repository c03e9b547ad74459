"""Reproducible random numbers: a test that fails prints the seed it used."""

from __future__ import annotations

import os
import random

VARIABLE = "HEADLIGHT_SEED"


def chance(*names: object) -> random.Random:
    """A generator for the test of these names, seeded by them and by HEADLIGHT_SEED (0 if unset).

    Equal names and seeds give equal numbers on every machine. The seed is printed; pytest shows it when a test fails.
    """
    seed = ":".join([os.environ.get(VARIABLE, "0"), *map(str, names)])
    print(f"random numbers of {seed!r} ({VARIABLE} is the part before the first colon)")
    return random.Random(seed)
