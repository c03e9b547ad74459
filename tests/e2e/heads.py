"""What the tests of the Attention views share: traces of two sizes, and the words of a sentence in its strip."""

from model.trace import AttentionTrace
from tests.explorer.planted_heads import random_trace

N = 6  # tokens on either side of the planted heads
LEFT, RIGHT = ".strip > div:first-child .word", ".strip > div:last-child .word"


def small_trace(**sizes: tuple[int, int]) -> AttentionTrace:
    return random_trace(["a", "b", "c", "<eos>"], ["<sos>", "x", "y"], **sizes)


def long_trace(**sizes: tuple[int, int]) -> AttentionTrace:
    return random_trace([*"abcdefgh", "<eos>"], ["<sos>", *"xyzuv"], **sizes)
