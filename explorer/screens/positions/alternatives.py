"""The tab Alternatives: other encodings of position against what one wants of an encoding."""

from __future__ import annotations

import streamlit as st

from explorer.charts import positions as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.model_description import ModelDescription
from explorer.locale.glossary import explained
from explorer.screens.positions.table_size import TableSize, choose_size
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis import position_schemes as schemes

LEARNED = "learned (this model)"
Wishes = dict[str, dict[str, schemes.Wish]]  # by scheme, then by wish


def draw_alternatives_tab(model: ModelDescription) -> None:
    """Every scheme against every wish, measured at the sliders' size, and the table of one scheme."""
    size = choose_size(model.model_config)
    known = _schemes(size, model)
    wishes = {
        name: schemes.wishes(rows, length, width, trained=name == LEARNED)
        for name, (rows, length, width) in known.items()
    }
    columns: Columns = {"scheme": list(wishes)}
    for wish in schemes.WISHES:
        columns[wish] = [
            f"{'✓' if wishes[name][wish].holds else '✗'} {wishes[name][wish].measurement}" for name in wishes
        ]
    st.markdown("##### What an encoding should do, and where each scheme fails")
    draw_table(columns, "Schemes by requirement: met or not, with the measured number")
    st.caption(explained(summary(wishes)))
    name = (
        st.segmented_control("Look at", list(known), default="binary", required=True, key="pe_scheme", bind=URL)
        or "binary"
    )
    rows, length, width = known.get(name, (schemes.no_table, size.length, size.d_model))
    draw_plot(figures.scheme_plot(name, rows(length, width).numpy()), f"pe_scheme_{name}")


def _schemes(size: TableSize, model: ModelDescription) -> dict[str, tuple[schemes.Rows, int, int]]:
    """Each scheme with its length and width; the learned table is the loaded model's, at its own size."""
    here = (size.length, size.d_model)
    known: dict[str, tuple[schemes.Rows, int, int]] = {
        "sinusoidal": (schemes.sinusoidal_rows(size.base), *here),
        "none": (schemes.no_table, *here),
        "integer": (schemes.integer_table, *here),
        "normalised": (schemes.normalised_table, *here),
        "binary": (schemes.binary_table, *here),
    }
    if model.model_config.positions == "learned":
        with runtime.model(model.name) as translator:
            weight = translator.loaded.transformer.positions_src.embedding.weight.detach()
        known[LEARNED] = (schemes.learned_rows(weight), weight.size(0), weight.size(1))
    return known


def summary(wishes: Wishes) -> str:
    """What each scheme breaks, in one line."""
    parts = []
    for name, verdicts in wishes.items():
        broken = [wish for wish, verdict in verdicts.items() if not verdict.holds]
        parts.append(f"{name}: {'breaks ' + ', '.join(broken) if broken else 'keeps all'}")
    return "; ".join(parts) + "."
