"""What another language costs: processor time of every page's run, and bytes of the first screen, beside English."""

import gzip
from collections.abc import Iterator
from functools import partial
from time import process_time

import pytest
from streamlit.testing.v1 import AppTest

from explorer.browser import assets
from explorer.locale.language import ENGLISH, written_in
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import likely_median, median, turns
from tests.harness import speed_up
from tests.pages.page import PAGES, run, visit

LANGUAGE, MODEL, SENTENCE = "de", "adjective-swap", "I read red books"
N_RUNS, MOST_SLOWER, MOST_KB = 30, 3.0, 10.0
FIRST = {"frame", assets.FIRST[""]}


def first_screen(code: str) -> float:
    """Compressed kilobytes of the packs that the first page fetches, with their messages."""
    files = [assets.content(name, each) for name in FIRST for each in {ENGLISH, code}]
    return sum(len(gzip.compress(file, 9, mtime=0)) for file in files) / 1e3


def again(code: str, at: AppTest) -> None:
    """Run a page once more; the harness asks for the labels of choices outside the page's run."""
    with written_in(code):
        run(at)


@benchmark("languages", threads=1)
def measure(lab: Lab) -> Iterator[Row]:
    """Run each page in Streamlit's harness in both languages by turns."""
    with pytest.MonkeyPatch.context() as patch:
        speed_up(patch)
        slower = {}
        for page in PAGES:
            works = {
                code: partial(again, code, visit(page, lang=code, model=MODEL, text=SENTENCE))
                for code in (ENGLISH, LANGUAGE)
            }
            took = turns(works, lab.times(N_RUNS), clock=process_time)
            pairs = zip(took[LANGUAGE], took[ENGLISH], strict=True)  # whatever slows one run slows its neighbour, too
            more = [100 * (there - here) / median(took[ENGLISH]) for there, here in pairs]
            slower[page] = median(more), *likely_median(more)
    worst = max(slower, key=slower.__getitem__)
    yield Row.within(
        f"the page that German slows most: processor time of a run, more than in English ({worst})",
        slower[worst][0],
        "%",
        MOST_SLOWER,
        detail=f"medians of {N_RUNS} differences between neighbouring runs, with their 95 % intervals; "
        + ", ".join(f"{page} {more:+.1f} ({low:+.1f} to {high:+.1f})" for page, (more, low, high) in slower.items()),
    )
    bytes_more = first_screen(LANGUAGE) - first_screen(ENGLISH)
    yield Row.within("the first screen's code in German, compressed, more than in English", bytes_more, "kB", MOST_KB)
