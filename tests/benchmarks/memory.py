"""Memory of the server: before the first visitor, with one model, per further visitor and per further model."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import psutil

from explorer.web.runtime import CHECKPOINTS
from tests.benchmarks.load import N_VISITORS, arrive, megabytes
from tests.benchmarks.page import HELLO
from tests.benchmarks.registry import Row, benchmark
from tests.browser import serve
from tests.visitor import Visitor

OTHERS = ("adjective-swap", "reverse", "dates")


async def come_and_stay(port: int, pid: int, found: list[float]) -> None:
    """Memory with one visitor, with all, and with a visitor for each further model; all stay connected."""

    def note() -> None:
        found.append(psutil.Process(pid).memory_info().rss / 1e6)

    stay = [await Visitor.arrive(port, "text=The+first+visitor.")]
    note()
    stay += await arrive(port)
    note()
    for name in OTHERS:
        stay.append(await Visitor.arrive(port, f"model={name}"))
    note()
    await asyncio.gather(*(visitor.leave() for visitor in stay))


@benchmark("memory")
def measure() -> list[Row]:
    """One server that fills up, and one with an empty Streamlit app."""
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder) / "hello.py"
        hello.write_text(HELLO, encoding="utf-8")
        with serve({}, app=str(hello)) as server:
            bare = megabytes(server)
    with serve({"HEADLIGHT_CHECKPOINTS": str(CHECKPOINTS)}) as server:
        idle = megabytes(server)
        found: list[float] = []
        asyncio.run(come_and_stay(server.port, server.process.pid, found))
    one, many, more = found
    return [
        Row("memory of a server before the first visitor", idle, "MB", bare, "a Streamlit app of one line"),
        Row(
            "memory with one visitor on Translate: torch, spaCy and the default model",
            one,
            "MB",
            idle,
            "before the first visitor",
        ),
        Row(
            "memory of each further visitor, with a sentence of their own",
            (many - one) / N_VISITORS,
            "MB",
            detail=f"{N_VISITORS} visitors, {many:.0f} MB in all",
        ),
        Row(
            "memory of each further model that is open",
            (more - many) / len(OTHERS),
            "MB",
            detail=f"{', '.join(OTHERS)}, one sentence each; at most 4 models are kept",
        ),
    ]
