"""What the tests of the stepper share: where it reports to be, what is painted on its stage, and a long sentence."""

from model.trace import AttentionTrace
from tests.e2e.bench import Bench
from tests.explorer.planted import planted_trace

# Where the view reports to be at step 1 of the mean of layer 2.
POSITION = {"kind": "cross", "layer": 2, "head": 0, "step": 1, "row": 1, "column": None, "options": None}
# Where on a line between source (0) and target (1) something is painted, in pixels of the page.
CURVES = """(share) => {
  const canvas = root.querySelector(".curves"), ratio = canvas.width / parseFloat(canvas.style.width);
  const stage = root.querySelector(".stage").getBoundingClientRect();
  const source = root.querySelector(".source .chips").getBoundingClientRect();
  const target = root.querySelector(".target .chips").getBoundingClientRect();
  const y = Math.round((source.bottom + (target.top - source.bottom) * share - stage.top) * ratio);
  const { data } = canvas.getContext("2d").getImageData(0, y, canvas.width, 1);
  return [...data].filter((_, i) => i % 4 === 3).flatMap((opacity, x) => (opacity ? [x / ratio + stage.left] : []));
}"""
MIDDLE = """(name) => {
  const { left, right } = root.querySelector(name).getBoundingClientRect();
  return (left + right) / 2;
}"""


def shares(stage: Bench, side: str) -> list[str]:
    """The shares of weight written at the words, by position; "" where none is."""
    return [text.strip().replace("\u202f", " ") for text in stage(f".{side} .meter").all_inner_texts()]


def settled(stage: Bench) -> None:
    stage.page.wait_for_timeout(300)
    stage.frame()


def long_trace(words: int) -> AttentionTrace:
    source = [f"word{i}" for i in range(words)]
    return planted_trace([*source, "<eos>"], ["<sos>", *source])
