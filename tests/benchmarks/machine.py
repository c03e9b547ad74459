"""How long the machine on Inside takes for a new sentence, a block and a stage of the followed token, to painted.

In headless Chromium, for the default model: 4 + 4 layers, one of them unfolded on each side.
"""

from collections.abc import Iterator
from functools import partial

from tests.benchmarks.lab import Lab, until_changed, until_translated
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
_BLOCKS = ("encoder.0.self_attn", "decoder.0.cross_attn", "src.positions")
_SOURCE = "[...__bench.find('.source .tokens').querySelectorAll('bdi')].map(e => e.textContent).join('|')"


@benchmark("machine")
def measure(lab: Lab) -> Iterator[Row]:
    page = lab.open(lab.serve().url + ADDRESS, ".machine .block")
    _, *times = [until_translated(page, text, _SOURCE) for text in SENTENCES]
    what = f"the machine of {MODEL}, a new sentence: Enter to painted"
    yield Row.within(what, median(times), "ms", 300, detail=spread(times))
    title, stage = (f"__bench.find('{part}').textContent" for part in (".panel h3", ".controls output"))
    blocks = [page.locator(f'.diagram button[value="{name}"]').first for name in _BLOCKS]
    times = [until_changed(page, "click", block.click, title) for block in blocks]
    yield Row.within(f"the machine of {MODEL}, a block opened: click to painted", median(times), "ms", 150)
    page.get_by_role("combobox", name="Follow").select_option("target 2")
    page.wait_for_timeout(1000)
    step = partial(page.keyboard.press, "ArrowRight")
    times = [until_changed(page, "keydown", step, stage) for _ in range(lab.times(16))]  # the short way
    what = f"the machine of {MODEL}, a stage of the followed token: key to painted"
    yield Row.within(what, median(times), "ms", 50, detail=spread(times))
