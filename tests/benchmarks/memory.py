"""Memory of the server: before the first visitor, with one model, per further visitor and per further model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from tests.benchmarks.lab import Lab
from tests.benchmarks.load import N_VISITORS, arrive, megabytes
from tests.benchmarks.registry import Row, benchmark
from tests.browser import Server, serve
from tests.visitor import Visitor

OTHERS = ("adjective-swap", "reverse", "dates")


async def come_and_stay(server: Server) -> tuple[float, float, float]:
    """Memory with one visitor, with all, and with a visitor for each further model; all stay connected."""
    stay = [await Visitor.arrive(server.port, "text=The+first+visitor.")]
    one = megabytes(server)
    stay += await arrive(server.port)
    many = megabytes(server)
    stay += [await Visitor.arrive(server.port, f"model={name}") for name in OTHERS]
    more = megabytes(server)
    await asyncio.gather(*(visitor.leave() for visitor in stay))
    return one, many, more


@benchmark("memory")
def measure(lab: Lab) -> Iterator[Row]:
    """One server that fills up, and one with an empty Streamlit app."""
    with serve(app=lab.hello) as server:
        bare = megabytes(server)
    server = lab.serve()
    idle = megabytes(server)
    one, many, more = asyncio.run(come_and_stay(server))
    yield Row("memory of a server before the first visitor", idle, "MB", bare, "a Streamlit app of one line")
    with_one = "memory with one visitor on Translate: torch, spaCy and the default model"
    yield Row(with_one, one, "MB", idle, "before the first visitor")
    yield Row(
        "memory of each further visitor, with a sentence of their own",
        (many - one) / N_VISITORS,
        "MB",
        detail=f"{N_VISITORS} visitors, {many:.0f} MB in all",
    )
    yield Row(
        "memory of each further model that is open",
        (more - many) / len(OTHERS),
        "MB",
        detail=f"{', '.join(OTHERS)}, one sentence each; at most 4 models are kept",
    )
