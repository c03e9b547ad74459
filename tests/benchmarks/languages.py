"""What another language costs: processor time of every page's run, and bytes of the first screen, beside English."""

import gzip
from collections.abc import Iterator
from functools import partial
from statistics import mean, stdev
from time import process_time

import pytest
from streamlit.testing.v1 import AppTest

from explorer.browser import assets
from explorer.locale.language import ENGLISH, written_in
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, turns
from tests.harness import speed_up
from tests.pages.page import PAGES, run, visit

LANGUAGE, MODEL, SENTENCE = "de", "adjective-swap", "I read red books"
N_VISITS, N_RUNS, MOST_SLOWER, MOST_KB = 5, 12, 3.0, 10.0  # visits that begin with each language
FIRST = {"frame", assets.FIRST[""]}


def first_screen(code: str) -> float:
    """Compressed kilobytes of the packs that the first page fetches, with their messages."""
    files = [assets.content(name, each) for name in FIRST for each in {ENGLISH, code}]
    return sum(len(gzip.compress(file, 9, mtime=0)) for file in files) / 1e3


def again(code: str, at: AppTest) -> None:
    """Run a page once more; the harness asks for the labels of choices outside the page's run."""
    with written_in(code):
        run(at)


def difference(page: str, lab: Lab, first: str) -> float:
    """How much more processor time a run in the other language takes, in percent; the visit in `first` begins first."""
    visits = {
        code: visit(page, lang=code, model=MODEL, text=SENTENCE)
        for code in sorted((ENGLISH, LANGUAGE), key=lambda code: code != first)
    }
    works = {code: partial(again, code, at) for code, at in visits.items()}
    took = turns(works, lab.times(N_RUNS), clock=process_time)
    return 100 * (median(took[LANGUAGE]) / median(took[ENGLISH]) - 1)


@benchmark("languages", threads=1)
def measure(lab: Lab) -> Iterator[Row]:
    """Run each page in Streamlit's harness in both languages by turns, in visits that begin anew."""
    with pytest.MonkeyPatch.context() as patch:
        speed_up(patch)
        begun = (ENGLISH, LANGUAGE) * lab.times(N_VISITS)
        slower = {page: [difference(page, lab, first) for first in begun] for page in PAGES}
    means = {page: mean(more) for page, more in slower.items()}
    errors = {page: stdev(more) / len(more) ** 0.5 for page, more in slower.items()}
    worst = max(means, key=means.__getitem__)
    yield Row.within(
        f"the page that German slows most: processor time of a run, more than in English ({worst})",
        means[worst],
        "%",
        MOST_SLOWER,
        detail=f"mean and standard error of {len(begun)} visits, each with {N_RUNS} runs of both; "
        + ", ".join(f"{page} {more:+.1f} ± {errors[page]:.1f}" for page, more in means.items()),
    )
    bytes_more = first_screen(LANGUAGE) - first_screen(ENGLISH)
    yield Row.within("the first screen's code in German, compressed, more than in English", bytes_more, "kB", MOST_KB)
