"""Memory of the server: before the first visitor, with one, and per further visitor."""

import asyncio
from collections.abc import Iterator

from tests.benchmarks.lab import Lab
from tests.benchmarks.load import N_VISITORS, arrive, megabytes
from tests.benchmarks.registry import Row, benchmark
from tests.browser import Server
from tests.visitor import Visitor


async def come_and_stay(server: Server) -> tuple[float, float]:
    """Memory with one visitor, and with all; all stay connected."""
    stay = [await Visitor.arrive(server.port, "text=The+first+visitor.")]
    one = megabytes(server)
    stay += await arrive(server.port)
    many = megabytes(server)
    await asyncio.gather(*(visitor.leave() for visitor in stay))
    return one, many


@benchmark("memory")
def measure(lab: Lab) -> Iterator[Row]:
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
