"""A page of the app in Streamlit's test harness: how tests open one, and what they read from it."""

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Widget

from explorer.screens.attention.panels import PANELS
from tests.explorer.sent import messages
from tests.paths import ROOT

PAGES = tuple(path.stem for path in sorted((ROOT / "pages").glob("*.py")))
# What each page is about, by Streamlit's names of the elements in its main part; the sidebar is the same everywhere.
SHOWN = {
    "attention": "bidi_component",
    "experiments": "vega_lite_chart",
    "inside": "bidi_component",
    "lessons": "button",
    "masks": "bidi_component",
    "own": "file_uploader",
    "positions": "plotly_chart",
    "probe": "plotly_chart",
    "runs": "dataframe",
    "train": "code",
    "translate": "bidi_component",
}
# Every tab of every page, by the rest of its address.
PROBE = ("All heads", "One head", "Surgery", "Patching", "Importance", "Search", "Grammar", "Take away")
MASKS = ("The masks", "Given target", "Trained without it")
POSITIONS = (
    "The table",
    "One word",
    "The rotation",
    "In the scores",
    "Shuffle the words",
    "Longer than trained",
)
INSIDE = ("The machine", "Layer by layer", "Sizes")
VISITS: dict[str, list[dict[str, str]]] = {
    "translate": [{}, {"path": "5-6-2"}, {"edit": "cross.1.1.zero"}],
    "attention": [{"panel": panel} for panel in ("", *PANELS, "compare.way-heads.which-norm")]
    + [{"edit": "cross.2.1.uniform"}],
    "positions": [{"positions_tab": tab} for tab in POSITIONS],
    "masks": [{"masks_tab": tab} for tab in MASKS],
    "inside": [{"inside_tab": tab} for tab in INSIDE],
    "probe": [{"probe_tab": tab, "sample": "task.3", "edit": "cross.1.1.mean~cross.2.2.zero"} for tab in PROBE],
    "runs": [{"entry": "toy-7"}],
    "train": [{}, {"run": "toy-7"}],
    "experiments": [{}],
    "lessons": [{}],
    "own": [{}],
}


def new_app() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)


def visit(page: str, at: AppTest | None = None, /, **query: str) -> AppTest:
    """A page as opened by a link, in a new session or in that of another page."""
    at = at or new_app()
    follow(at, **query)
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception
    return at


def follow(at: AppTest, /, **query: str) -> None:
    """Enter parameters in the address; the task of the Train page is not one, and is chosen on the page.

    In a browser, the state of tabs follows the address by itself.
    """
    for name, value in query.items():
        if name != "train_task":
            at.query_params[name] = value
        if name.endswith(("_tab", "_task")):
            at.session_state[name] = value


def run(at: AppTest, /, **query: str) -> AppTest:
    follow(at, **query)
    at.run()
    assert not at.exception
    return at


def address(at: AppTest) -> dict[str, str]:
    """The address bar; the harness returns what a page wrote as text, and what a link brought as a list."""
    return {name: value if isinstance(value, str) else value[-1] for name, value in at.query_params.items()}


def as_read(text: str) -> str:
    """Markdown without its escapes and without the links of terms."""
    bare = text.replace("\\", "").replace("\u2060", "").replace("\N{NO-BREAK SPACE}%", " %")
    return re.sub(r"\[([^\]]*)\]\(#term-[\w-]+\)", r"\1", bare)


def words(at: AppTest) -> str:
    """All captions, notes and paragraphs, as they are read."""
    found = [*at.caption, *at.info, *at.warning, *at.error, *at.success, *at.markdown]
    return as_read(" ".join(str(element.value) for element in found))


def kinds(at: AppTest) -> set[str]:
    return {element.type for element in at.main}


def button(at: AppTest, label: str) -> Any:
    return next(element for element in at.button if element.label.startswith(label))


def press(at: AppTest, label: str) -> AppTest:
    button(at, label).click().run()
    assert not at.exception
    return at


def click(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    return run(at)


def widget(at: AppTest, key: str) -> Any:
    return next(element for element in at._tree if isinstance(element, Widget) and element.key == key)


def choose(at: AppTest, /, **values: Any) -> AppTest:
    """Give the widgets with these keys these values, and run the page; before that, for one that is not there yet."""
    for key, value in values.items():
        if not has_key(at, key):
            run(at)
        widget(at, key).set_value(value)
    return run(at)


def metric(at: AppTest, label: str) -> str:
    return str(next(element.value for element in at.metric if element.label == label))


def command(at: AppTest) -> list[str]:
    """The command that the page shows, without the line's first three words, `python -m model.train`."""
    words: list[str] = at.code[-1].value.split()
    return words[3:]


def has_key(at: AppTest, key: str) -> bool:
    return any(isinstance(element, Widget) and element.key == key for element in at._tree)


def assert_says(at: AppTest, *sentences: str) -> None:
    """Check that all of these can be read on the page."""
    said = words(at)
    assert [sentence for sentence in sentences if sentence not in said] == [], said


def shows_its_subject(at: AppTest, page: str, written: Callable[[str], str] = str) -> bool:
    """Whether the page has what it is about or says why not; long work waits for a click, and Export has its files.

    `written` puts English into the language of the page.
    """
    waits = [each for each in at.button if each.label.startswith(written("Switch off all"))]
    says = kinds(at) & {SHOWN[page], "dataframe", "info", "warning"} or written("The answer:") in words(at)
    return bool(says or waits or at.get("download_button"))


def assert_shows_something(at: AppTest) -> None:
    """Check that there is no error, and a figure, a table or a notice in the main part of the page."""
    assert not at.exception
    assert {"bidi_component", "dataframe", "error", "info", "plotly_chart", "vega_lite_chart", "warning"} & kinds(at)


def plotted(at: AppTest) -> list[dict[str, Any]]:
    """Every Plotly figure on the page as data and layout; arrays as numpy arrays."""
    return [decoded(json.loads(element.proto.spec)) for element in at.get("plotly_chart")]


def maps(at: AppTest) -> list[np.ndarray]:
    """The numbers of every map on the page, then of every heatmap; NaN where a cell is empty."""
    own = [
        np.where(arrays["mask"] == 0, arrays["values"], np.nan).astype(float)
        for header, arrays in messages(at)
        if "column_title" in header
    ]
    first = [plot["data"][0].get("z") for plot in plotted(at)]
    return own + [np.array(z, dtype=float) for z in first if z is not None]


def decoded(value: Any) -> Any:
    """Plotly's base64 arrays, anywhere inside, as numpy arrays."""
    if isinstance(value, dict):
        if value.keys() >= {"dtype", "bdata"}:
            numbers = np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]))
            shape = value.get("shape")
            return numbers.reshape([int(n) for n in str(shape).split(",")]) if shape else numbers
        return {key: decoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decoded(item) for item in value]
    return value


def role_grids(at: AppTest) -> list[dict[str, Any]]:
    """The grids of thumbnails on the page, one for each kind of attention."""
    return [grid for header, _ in messages(at) for grid in header.get("grids", ())]


def tables(at: AppTest) -> list[pd.DataFrame]:
    return [element.value for element in at.dataframe]


def table_with(at: AppTest, column: str) -> pd.DataFrame:
    return next(table for table in tables(at) if column in table.columns)
