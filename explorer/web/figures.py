"""Draw figures, tables and single maps, at low cost: live pages redraw them continually.

Columns go to Streamlit as `pyarrow` tables, the format of its messages: that saves most of the time of a live update.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from explorer.charts.chart import Figure
from explorer.decoding.labelled_map import LabelledMap, map_caption, map_table
from explorer.files.tables import Columns, Rows, table_csv
from explorer.locale.glossary import explained
from explorer.locale.messages import t
from explorer.locale.scripts import direction
from explorer.locale.text import fixed, most_decimals, plain
from explorer.web.downloads import download_button

_MOST_WRITTEN = 10_000  # cells of a table whose numbers are written here


def draw_figure(figure: Figure) -> None:
    """Draw a figure with its title and its caption; the caption is also its alternative text."""
    if figure.title:
        st.markdown(f"##### {plain(figure.title)}")
    st.vega_lite_chart(pa.table(figure.data), figure.spec, width="stretch", alt=figure.caption)
    st.caption(plain(figure.caption))


def draw_small_figure(figure: Figure, title: str = "") -> None:
    """Draw a figure under its title, or another one (Markdown), in ordinary print; its caption is for readers only."""
    st.markdown(title or plain(figure.title))
    st.vega_lite_chart(pa.table(figure.data), figure.spec, width="stretch", alt=figure.caption)


def draw_table(
    table: Columns | Rows,
    alt: str,
    *,
    file: str = "",
    in_file: Columns | Rows | None = None,
    missing: str = "",
    texts: Mapping[str, Sequence[str]] | None = None,
    wrap: bool = False,
    **options: Any,
) -> Any:
    """Draw a table given by columns or rows, with a button for its CSV if `file` names one; returns its selection.

    `alt` describes its contents; `in_file` is the table of the CSV, if that is another one; `missing` is what a cell
    without a value shows; `texts` are what columns of numbers show instead of these, by which they are still sorted.
    A table of few sentences can `wrap` them, so that none is cut. `options` go to `st.dataframe`. Streamlit's own
    button is switched off (`client.disableDataExport`), because its files may contain cells that a spreadsheet runs as
    formulas.
    """
    if wrap:
        columns = {name: [plain(text) for text in cells] for name, cells in _by_column(table).items()}
        selected: Any = st.table(columns, hide_index=True, alt=alt)
    else:
        shown = _written(table, missing, texts or {})
        selected = st.dataframe(shown, hide_index=True, alt=alt, placeholder=missing, **options)
    if file:
        make = partial(table_csv, in_file or table)
        download_button(
            f"{file}.csv",
            make,
            f"{file}.csv",
            "text/csv",
            key=f"csv_{file}",
            help=t("{table}, as a file.", table=alt),
            quiet=True,
        )
    return selected


def table_height(rows: int, most: int) -> int:
    """The height in pixels of a table that shows all rows; of more than `most`, half of the next one says so."""
    return 35 * (min(rows, most) + 1) + (3 if rows <= most else 20)


def _written(table: Columns | Rows, missing: str, texts: Mapping[str, Sequence[str]]) -> Any:
    """The table with its numbers written as the language does; they sort as numbers.

    All numbers of a column have the decimals of the one with most. Writing takes 20 µs a cell, so a table of very many
    cells is left as it is.
    """
    columns = _by_column(table)
    decimals = {name: most for name, values in columns.items() if (most := most_decimals(values)) is not None}
    if not any(decimals.values()) or sum(map(len, columns.values())) > _MOST_WRITTEN:
        return pa.table(columns) if isinstance(table, Mapping) else list(table)
    import pandas as pd

    styles: dict[Any, Any] = {name: partial(fixed, decimals=most) for name, most in decimals.items()}
    style = pd.DataFrame(columns).style.format(styles, na_rep=missing)
    for name, cells in texts.items():
        for row, text in enumerate(cells):
            style.format(lambda _, text=text: text, subset=(row, name), na_rep=missing)
    return style


def _by_column(table: Columns | Rows) -> dict[str, Sequence[Any]]:
    if isinstance(table, Mapping):
        return dict(table)
    names = dict.fromkeys(name for row in table for name in row)
    return {name: [row.get(name) for row in table] for name in names}


def in_direction(labelled_map: LabelledMap) -> LabelledMap:
    """Lay out the columns of a map in the direction that the session has chosen."""
    return replace(labelled_map, direction=direction())


def draw_map(
    labelled_map: LabelledMap,
    *,
    key: str,
    title: str = "",
    prefix: str = "",
    away: str = "",
    numbers: bool = True,
    minus: LabelledMap | None = None,
    grid: Sequence[LabelledMap] = (),
    group: str = "",
    counts: bool = True,
) -> None:
    """Draw the map under its title, or another one; `prefix` precedes the caption that is computed from the numbers.

    Without `counts`, the caption does not say how many cells are closed.

    `minus`, the difference of its two rows, is drawn as a third one, and the caption is that of the difference. The
    maps of a `grid`, this one among them, stand in a row and have cells of one size; without a prefix, one text and one
    table of numbers are about all. A cell that is chosen in one map of a `group` is chosen in all.

    `numbers` are written into its cells if they fit. `away` is the prefix of the names of its files; without it, the
    only file is the table's CSV.
    """
    from explorer.browser.labelled_map import encode, labelled_map_view

    if grid:
        at = grid.index(labelled_map)
        grid = [in_direction(each) for each in grid]
        labelled_map = grid[at]
    else:
        labelled_map = in_direction(labelled_map)
    st.markdown(f"##### {plain(title or labelled_map.title)}")
    caption = f"{prefix} {map_caption(minus or labelled_map, counts=counts)}".strip()
    message = encode(labelled_map, caption, numbers=numbers, minus=minus, grid=grid, group=group, name=title)
    labelled_map_view(message, key=key)
    if grid and group:
        return
    if (prefix or not grid) and not group:  # whose maps write it below themselves
        st.caption(plain(caption))
    fold = st.expander(t("The numbers"), key=f"{key}_numbers", on_change="rerun")  # sent only when opened
    if not fold.open:
        return
    with fold:
        maps = (labelled_map, in_direction(minus)) if minus else (labelled_map,)
        draw_table([row for each in maps for row in map_table(each)], caption, file="" if away else key)
        for each in maps if away else ():
            _draw_files(each, caption, f"{key}_{each.signed}", away)


def draw_numbers(maps: Mapping[str, LabelledMap], *, key: str, away: str) -> None:
    """Draw one fold with a table and files for each of the maps of a grid, under its title."""
    fold = st.expander(t("The numbers"), key=f"{key}_numbers", on_change="rerun")
    if not fold.open:
        return
    for nth, (title, each) in enumerate(maps.items()):
        with fold:
            shown, caption = in_direction(each), map_caption(each)
            st.markdown(f"**{plain(title)}**")
            draw_table(map_table(shown), caption)
            _draw_files(shown, caption, f"{key}_{nth}", away)


def draw_terms(terms: LabelledMap, caption: str, key: str) -> None:
    """Draw the terms of a score with their caption, and a table of their numbers, which is sent only when opened."""
    from explorer.browser.labelled_map import encode, labelled_map_view

    if np.isfinite(terms.values).all():
        labelled_map_view(encode(terms, caption, numbers=False), key=key)
    st.caption(explained(caption))
    fold = st.expander(t("The numbers"), key=f"{key}_numbers", on_change="rerun")
    if fold.open:
        with fold:
            draw_table(map_table(terms), caption, file=key)


def draw_missing(*maps: LabelledMap) -> None:
    """Say which characters of the maps' tokens no font on this machine has, below the buttons of their pictures."""
    from explorer.files.picture_drawing import missing_note

    if note := missing_note(token for each in maps for token in (*each.rows, *each.predicted, *each.columns)):
        st.caption(plain(note))


def _draw_files(labelled_map: LabelledMap, caption: str, key: str, away: str) -> None:
    """Draw one button per format; a file is made when its button is pressed."""
    from explorer.files.map_files import KINDS, ONE_MAP, map_file, stem

    name = stem(f"{away}-{labelled_map.title}")
    with st.container(horizontal=True):
        for kind in ONE_MAP:
            make = partial(map_file, kind, labelled_map, caption)
            download_button(kind.upper(), make, f"{name}.{kind}", KINDS[kind].mime, key=f"{key}_{kind}")
    draw_missing(labelled_map)
