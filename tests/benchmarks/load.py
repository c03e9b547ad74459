"""A class on one server: 30 visitors type, step and switch heads, also during a training run; the server's memory."""

import asyncio
import itertools
import math
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

import psutil

from explorer.runs.lifecycle import Runs
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median, percentile
from tests.browser import Server, serve
from tests.paths import CHECKPOINTS
from tests.visitor import PATIENCE_SECONDS, Shown, Visitor

N_VISITORS = 30
REQUESTS_PER_SECOND = 10.0
SENTENCES_PER_SECOND = 3.0
SECONDS = 120.0
MODELS = ("multi30k-en-de", "adjective-swap")  # the page opens with the first

WHO = ("A man", "A woman", "A young girl", "An old man", "A small child", "A dog", "Two men", "Three women", "Boys")
LIKE = ("in a red shirt", "with a black hat", "with long hair", "in a blue jacket", "with a bag", "in a white dress")
DOES = ("is playing", "is sitting", "is standing", "is running", "is sleeping", "are walking", "are waiting")
WHERE = ("in the park", "on the beach", "near a house", "in the street", "beside a car", "on a bench", "at the lake")


def sentences() -> Iterator[str]:
    """Sentences of 8 to 10 words, each once, in a pseudo-random order that is always the same."""
    found = [" ".join(parts) + "." for parts in itertools.product(WHO, LIKE, DOES, WHERE)]
    random.Random(0).shuffle(found)
    return iter(found)


@dataclass
class Log:
    """What the visitors experienced: seconds of every request, and what was shown for every sentence."""

    sentences: list[float] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)
    shown: dict[str, Shown] = field(default_factory=dict)

    @property
    def all(self) -> list[float]:
        return self.sentences + self.looks


async def visit(visitor: Visitor, chance: random.Random, supply: Iterator[str], log: Log, end: float) -> None:
    """One visitor, who acts every few seconds until `end` on the loop's clock."""
    clock = asyncio.get_running_loop().time
    pause = N_VISITORS / REQUESTS_PER_SECOND
    due = clock() + chance.random() * pause
    while due < end:
        await asyncio.sleep(max(0.0, due - clock()))
        if chance.random() < SENTENCES_PER_SECOND / REQUESTS_PER_SECOND:
            text = next(supply)
            log.sentences.append(await visitor.type(text))
            log.shown[text] = visitor.shown
        else:
            step, layer, head = chance.randint(1, visitor.shown.n_rows), chance.randint(1, 2), chance.randint(0, 4)
            log.looks.append(await visitor.look(step, layer, head))
        due += pause * chance.uniform(0.5, 1.5)
    await visitor.leave()


async def arrive(port: int) -> list[Visitor]:
    """All visitors, each with their own sentence on the page."""
    return [await Visitor.arrive(port, f"text=Visitor+{number}+is+here.") for number in range(N_VISITORS)]


async def crowd(port: int, supply: Iterator[str], seconds: float) -> Log:
    """All visitors at once, for this many seconds after all have arrived."""
    visitors = await arrive(port)
    log, end = Log(), asyncio.get_running_loop().time() + seconds
    async with asyncio.TaskGroup() as group:
        for number, visitor in enumerate(visitors):
            group.create_task(visit(visitor, random.Random(number), supply, log, end))
    return log


async def alone(port: int, texts: list[str]) -> dict[str, Shown]:
    """What a single visitor on a separate server is shown for each sentence."""
    visitor, found = await Visitor.arrive(port, "text=Nobody+else+is+here."), {}
    for text in texts:
        await visitor.type(text)
        found[text] = visitor.shown
    await visitor.leave()
    return found


async def burst(port: int, supply: Iterator[str]) -> list[float]:
    """All press Enter at the same moment; seconds until each is answered."""
    visitors = await arrive(port)
    seconds = await asyncio.gather(*(visitor.type(next(supply)) for visitor in visitors))
    await asyncio.gather(*(visitor.leave() for visitor in visitors))
    return list(seconds)


@contextmanager
def training(checkpoints: Path) -> Iterator[None]:
    """A run as the Train page starts it, for the duration of the block."""
    runs = Runs(checkpoints)
    orders = ["--task", "reverse", "--set", "max_steps=1000000", "--checkpoints", str(checkpoints)]
    runs.start("load", ["python", "-m", "model.train", *orders, "--name", "load"])
    end = monotonic() + PATIENCE_SECONDS

    def running() -> bool:
        status = runs.peek("load")
        return status is not None and status.state == "running"

    try:
        while not running():
            if monotonic() > end:
                raise AssertionError("the training run beside the class does not start")
            sleep(0.2)
        yield
        if not running():
            raise AssertionError("the training run beside the class has ended")
    finally:
        runs.stop("load")


def megabytes(server: Server) -> float:
    return float(psutil.Process(server.process.pid).memory_info().rss) / 1e6


@benchmark("load")
def measure(lab: Lab) -> Iterator[Row]:
    """Without training and beside it; tests/test_class.py checks what the visitors are shown."""
    supply, duration = sentences(), 5.0 if lab.short else SECONDS
    for model in MODELS:
        shutil.copytree(CHECKPOINTS / model, lab.folder / model)
    environment = {"HEADLIGHT_CHECKPOINTS": str(lab.folder)}
    with serve(environment) as server:
        asyncio.run(alone(server.port, [next(supply) for _ in range(3)]))  # warm-up: imports and loading the model
        quiet = asyncio.run(crowd(server.port, supply, duration))
        at_once = asyncio.run(burst(server.port, supply))
        with training(lab.folder):
            busy = asyncio.run(crowd(server.port, supply, duration))
        if "Traceback" in server.output():
            raise AssertionError(server.output())
    yield _requests(quiet, duration, "no training", 100, 60)
    yield _requests(busy, duration, "beside a training run", 500, math.inf)
    yield Row(
        f"{N_VISITORS} visitors press Enter at the same moment: sent to answered (median)",
        1000 * median(at_once),
        "ms",
        1000 * max(at_once),
        "the last of them",
        target="the last within 1,500 ms",
        met=max(at_once) <= 1.5,
    )


def _requests(log: Log, duration: float, beside: str, most: float, middle: float) -> Row:
    """The times of all requests: the median, and 95 % of them, should be within these milliseconds."""
    times, typed = [1000 * seconds for seconds in log.all], 1000 * median(log.sentences)
    high = percentile(times, 95)
    return Row(
        f"{N_VISITORS} visitors, {beside}: a request, sent to answered (median)",
        median(times),
        "ms",
        target=f"95 % within {most} ms" + (f", median ≤ {middle} ms" if middle < most else ""),
        met=high <= most and median(times) <= middle,
        detail=f"95 % within {high:.0f} ms, longest {max(times):.0f} ms; {len(times)} requests in {duration:.0f} s, "
        f"{len(log.sentences)} of them new sentences (median {typed:.0f} ms); no error",
    )


async def come_and_stay(server: Server) -> tuple[float, float]:
    """Memory with one visitor, and with all; all stay connected."""
    stay = [await Visitor.arrive(server.port, "text=The+first+visitor.")]
    one = megabytes(server)
    stay += await arrive(server.port)
    many = megabytes(server)
    await asyncio.gather(*(visitor.leave() for visitor in stay))
    return one, many


@benchmark("memory")
def measure_memory(lab: Lab) -> Iterator[Row]:
    server = lab.serve()
    idle = megabytes(server)
    one, many = asyncio.run(come_and_stay(server))
    with_one = "memory with one visitor on Translate: torch, spaCy and the default model"
    yield Row(with_one, one, "MB", idle, "before the first visitor")
    yield Row(
        "memory of each further visitor, with a sentence of their own",
        (many - one) / N_VISITORS,
        "MB",
        detail=f"{N_VISITORS} visitors, {many:.0f} MB in all",
    )
