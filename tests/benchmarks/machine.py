"""How long the machine on Inside takes for a new sentence, from Enter to the painted diagram.

In headless Chromium, for the default model: 4 + 4 layers, one of them unfolded on each side.
"""

from collections.abc import Iterator

from tests.benchmarks.lab import Lab, until_translated
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, spread

MODEL = "multi30k-en-de"
ADDRESS = f"/inside?model={MODEL}"
SENTENCES = (
    "A dog runs on the beach.",
    "Two men sit on a bench.",
    "A woman reads a red book.",
    "Children play football.",
)
_SOURCE = "[...__bench.find('.source .tokens').querySelectorAll('bdi')].map(e => e.textContent).join('|')"


@benchmark("machine")
def measure(lab: Lab) -> Iterator[Row]:
    """Drive headless Chromium against the Inside page of the default model."""
    page = lab.open(lab.serve().url + ADDRESS, ".machine .block")
    _, *times = [until_translated(page, text, _SOURCE) for text in SENTENCES]
    what = f"the machine of {MODEL}, a new sentence: Enter to painted"
    yield Row.within(what, median(times), "ms", 300, detail=spread(times))
