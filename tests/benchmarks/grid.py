"""All heads at once: time from a click to the painted picture, and bytes sent, beside BertViz's model view.

Both show the same random arrays in the same Chromium. Ours is requested by a button on a Streamlit page, so its time
includes the server and the connection; BertViz's HTML is opened as a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from tests.benchmarks import bertviz_peer
from tests.benchmarks.lab import PATIENCE_MS, Lab, until_painted
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median
from tests.browser import settle

SIZES = ((4, 4, 20), (6, 8, 60), (12, 12, 60))  # layers, heads, tokens
MIDDLE = SIZES[1]  # of which speed and size are asked for
N_TABS, N_SHOWN = 3, 4
DRAWN = "__bench.find('.explorer')?.dataset.drawn === value"
CHOSEN = "__bench.find('select[name=scale]').value === value"

APP = """
import streamlit as st


def page():
    from explorer.browser.frame import copy_link
    from explorer.browser.views import heads_view
    from explorer.decoding.decoding import Decoding, place_in
    from tests.benchmarks.bertviz_peer import trace_of
    from tests.benchmarks.grid import N_SHOWN

    st.set_page_config(layout="wide")
    copy_link(key="copy")  # is on every page of the app, so the browser has loaded Streamlit's component code by then
    name = st.query_params["size"]
    size = tuple(int(part) for part in name.split("-"))
    made = st.cache_resource(trace_of, max_entries=64, show_spinner=False)
    for number in range(1, 1 + N_SHOWN):
        made(*size, number)  # creating the arrays is not part of the measurement
    if st.button("Show"):
        st.session_state["shown"] = st.session_state.get("shown", 0) + 1
    if "shown" in st.session_state:
        number = st.session_state["shown"]
        # Caches are keyed by the name of the decoding: a name that no earlier tab used finds empty caches.
        seq = f"{name}-{st.query_params['tab']}-{number}"
        trace = made(*size, number)
        heads_view(Decoding(trace, seq, "random"), place_in(trace, kind="encoder"), "", key="heads")


if __name__ == "__main__":
    page()
else:
    from explorer.browser import assets

    app = st.App(__file__, routes=assets.routes())
"""


@dataclass
class Ours:
    """Measurements of our page, in milliseconds and bytes: `size` includes the code of the views, `later` does not."""

    first: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    changed: list[float] = field(default_factory=list)
    size: int = 0
    later: int = 0


def our_times(lab: Lab, url: str, size: tuple[int, int, int], tabs: int) -> Ours:
    """Click to painted: the first time in a tab, again with other arrays, and a change of scale after that."""
    found, name = Ours(), "-".join(map(str, size))
    for tab in range(tabs):
        page = lab.open(f"{url}/?size={name}&tab={tab}")
        for number in range(1, 1 + N_SHOWN):
            page.wait_for_timeout(500)
            drawn, button = f"{name}-{tab}-{number} heads encoder", page.get_by_role("button", name="Show")
            took = until_painted(
                page, "click", button.click, "__bench.find('.explorer')?.dataset.drawn === value", drawn
            )
            tiles = page.locator(".tile").count()
            if tiles != size[0] * (size[1] + 1):  # the heads, and the mean of each layer
                raise RuntimeError(f"{tiles} thumbnails were drawn for {name}")
            settle(page, PATIENCE_MS)
            received = page.evaluate("window.received")
            if number == 1:
                found.first.append(took)
                found.size = received
            else:
                found.shown.append(took)
                found.later = received
        if not page.locator(".panel").is_visible():
            page.locator(".options").click()
        scales = page.locator("select[name=scale]")
        for scale in ("max", "log", "unit"):
            found.changed.append(until_painted(page, "input", partial(scales.select_option, scale), CHOSEN, scale))
            page.wait_for_timeout(400)
        page.close()
    return found


@benchmark("grid")
def measure(lab: Lab) -> Iterator[Row]:
    """Both in turn for each size."""
    app = lab.folder / "grid_app.py"
    app.write_text(APP, encoding="utf-8")
    url = lab.serve(app=str(app)).url
    our_times(lab, url, (1, 1, 4), tabs=1)  # not measured: imports, and the browser's warm-up
    for size in SIZES[: lab.times(len(SIZES))]:
        ours = our_times(lab, url, size, lab.times(N_TABS))
        yield from _rows(size, ours, bertviz_peer.measured(lab, lab.browser, bertviz_peer.trace_of(*size)))


def _rows(size: tuple[int, int, int], ours: Ours, peer: bertviz_peer.BertViz) -> Iterator[Row]:
    name, asked = "{} layers × {} heads × {} tokens".format(*size), size == MIDDLE
    first, shown, changed = median(ours.first), median(ours.shown), median(ours.changed)
    yield Row(
        f"{name}: click to painted, the first time in a tab",
        first,
        "ms",
        peer.took,
        bertviz_peer.NAME,
        target="≤ 200 ms, ≥ 20 × faster" if asked else "",
        met=first <= 200 and (peer.took is None or peer.took >= 20 * first) if asked else None,
        detail=peer.slower(first, peer.note),
    )
    yield Row(
        f"{name}: click to painted, other arrays in the same tab",
        shown,
        "ms",
        peer.took,
        bertviz_peer.NAME,
        detail=peer.slower(shown),
    )
    yield Row(
        f"{name}: a change after that (scale of all heads), to painted",
        changed,
        "ms",
        target="≤ 50 ms" if asked else "",
        met=changed <= 50 if asked else None,
    )
    yield Row(
        f"{name}: bytes sent to the browser, the first time in a tab",
        ours.size / 1000,
        "kB",
        peer.kilobytes,
        bertviz_peer.NAME,
        target="≥ 30 × smaller" if asked else "",
        met=peer.size >= 30 * ours.size if asked and peer.size else None,
        detail=peer.larger(ours.size, "ours includes the code of the views, BertViz's excludes its libraries"),
    )
    yield Row(
        f"{name}: bytes sent to the browser, other arrays in the same tab",
        ours.later / 1000,
        "kB",
        peer.kilobytes,
        bertviz_peer.NAME,
        target="≤ 250 kB a kind" if asked else "",
        met=ours.later <= 250_000 if asked else None,
        detail=peer.larger(ours.later),
    )
