"""What another language costs beside English: processor time and calls of pages' runs, bytes of the first screen."""

import gzip
from collections.abc import Iterator
from functools import partial
from statistics import quantiles
from time import process_time

import pytest
from streamlit.testing.v1 import AppTest

from explorer.browser import assets
from explorer.locale.language import ENGLISH, written_in
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, turns
from tests.harness import calls_of, speed_up
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


def difference(page: str, lab: Lab, first: str) -> tuple[float, float]:
    """How much more processor time and how many more calls a run in the other language takes, in percent.

    The visit in `first` begins first. Of the calls the fewest of three runs count: some runs look for new files.
    """
    visits = {
        code: visit(page, lang=code, model=MODEL, text=SENTENCE)
        for code in sorted((ENGLISH, LANGUAGE), key=lambda code: code != first)
    }
    works = {code: partial(again, code, at) for code, at in visits.items()}
    took = turns(works, lab.times(N_RUNS), clock=process_time)
    called = {code: min(calls_of(work) for _ in range(3)) for code, work in works.items()}
    return (
        100 * (median(took[LANGUAGE]) / median(took[ENGLISH]) - 1),
        100 * (called[LANGUAGE] / called[ENGLISH] - 1),
    )


def worst(what: str, more: dict[str, list[float]], detail: str) -> Row:
    """The page with the largest median over its visits, and all pages' medians and quartiles beside it."""
    medians = {page: median(values) for page, values in more.items()}
    page = max(medians, key=medians.__getitem__)
    spreads = {each: quantiles(values, n=4, method="inclusive") for each, values in more.items()}
    return Row.within(
        f"the page that German slows most: {what} of a run, more than in English ({page})",
        medians[page],
        "%",
        MOST_SLOWER,
        detail=f"{detail}; median and quartiles of {len(more[page])} visits: "
        + ", ".join(
            f"{each} {medians[each]:+.1f} ({low:+.1f} to {high:+.1f})" for each, (low, _, high) in spreads.items()
        ),
    )


@benchmark("languages", threads=1)
def measure(lab: Lab) -> Iterator[Row]:
    """Run each page in Streamlit's harness in both languages by turns, in visits that begin anew."""
    with pytest.MonkeyPatch.context() as patch:
        speed_up(patch)
        begun = (ENGLISH, LANGUAGE) * lab.times(N_VISITS)
        more = {page: [difference(page, lab, first) for first in begun] for page in PAGES}
    yield worst(
        "processor time", {page: [time for time, _ in each] for page, each in more.items()}, f"{N_RUNS} runs of both"
    )
    yield worst(
        "calls of functions", {page: [called for _, called in each] for page, each in more.items()}, "fewest of 3 runs"
    )
    bytes_more = first_screen(LANGUAGE) - first_screen(ENGLISH)
    yield Row.within("the first screen's code in German, compressed, more than in English", bytes_more, "kB", MOST_KB)
