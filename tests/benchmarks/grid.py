"""All heads at once: time from a click to the painted picture, beside BertViz's model view.

Both show the same random arrays in the same Chromium. Ours is requested by a button on a Streamlit page, so its time
includes the server and the connection; BertViz's HTML is opened as a file.
"""

from collections.abc import Iterator

from tests.benchmarks import bertviz_peer
from tests.benchmarks.lab import Lab, until_painted
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import median

SIZE = (6, 8, 60)  # layers, heads, tokens
N_TABS = 3
DRAWN = "__bench.find('.explorer')?.dataset.drawn === value"

APP = """
import streamlit as st


def page():
    from explorer.browser.frame import copy_link
    from explorer.browser.views import heads_view
    from explorer.decoding.decoding import Decoding, place_in
    from tests.benchmarks.bertviz_peer import trace_of

    st.set_page_config(layout="wide")
    copy_link(key="copy")  # is on every page of the app, so the browser has loaded Streamlit's component code by then
    name = st.query_params["size"]
    # Creating the arrays is not part of the measurement.
    trace = st.cache_resource(trace_of, show_spinner=False)(*(int(part) for part in name.split("-")))
    if st.button("Show"):
        st.session_state["shown"] = True
    if "shown" in st.session_state:
        # Caches are keyed by the name of the decoding: a name that no earlier tab used finds empty caches.
        seq = f"{name}-{st.query_params['tab']}"
        heads_view(Decoding(trace, seq, "random"), place_in(trace, kind="encoder"), "", key="heads")


if __name__ == "__main__":
    page()
else:
    from explorer.browser import assets

    app = st.App(__file__, routes=assets.routes())
"""


def our_times(lab: Lab, url: str, size: tuple[int, int, int], tabs: int) -> list[float]:
    """Milliseconds from the click to the painted picture, the first time in each tab."""
    found, name = [], "-".join(map(str, size))
    for tab in range(tabs):
        page = lab.open(f"{url}/?size={name}&tab={tab}")
        page.wait_for_timeout(500)
        button = page.get_by_role("button", name="Show")
        found.append(until_painted(page, "click", button.click, DRAWN, f"{name}-{tab} heads encoder"))
        tiles = page.locator(".tile").count()
        if tiles != size[0] * (size[1] + 1):  # the heads, and the mean of each layer
            raise RuntimeError(f"{tiles} thumbnails were drawn for {name}")
        page.close()
    return found


@benchmark("grid")
def measure(lab: Lab) -> Iterator[Row]:
    app = lab.folder / "grid_app.py"
    app.write_text(APP, encoding="utf-8")
    url = lab.serve(app=str(app)).url
    our_times(lab, url, (1, 1, 4), tabs=1)  # not measured: imports, and the browser's warm-up
    first = median(our_times(lab, url, SIZE, lab.times(N_TABS)))
    peer = bertviz_peer.measured(lab, lab.browser, bertviz_peer.trace_of(*SIZE))
    what = "{} layers × {} heads × {} tokens: click to painted, the first time in a tab".format(*SIZE)
    yield peer.beside(what, first, 200)
