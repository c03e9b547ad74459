"""The tab The table: the sinusoidal encoding, its wavelengths, its curves and its dot products."""

from __future__ import annotations

import streamlit as st

from explorer.charts import positions as figures
from explorer.decoding.model_description import ModelDescription
from explorer.locale.glossary import explained
from explorer.screens.positions.table_size import MAX_LENGTH, TableSize, choose_size
from explorer.web import runtime
from explorer.web.page_parts import URL, draw_plot
from model.analysis.position_scores import by_distance
from model.analysis.sinusoidal_checks import table_difference
from model.config import ModelConfig
from model.positions import sinusoidal_table, wavelengths

ROWS = ("of the formula", "learned by this model")
BESIDE = ("wavelengths", "curves", "dot product", "distance")
PAPER_BASE = 10_000.0


def draw_table_tab(model: ModelDescription) -> None:
    """The table that the sliders describe; beside it, one of its wavelengths, curves, products and distances."""
    if model.model_config.positions == "learned":
        rows = st.segmented_control("Rows", ROWS, default=ROWS[0], required=True, key="pe_rows", bind=URL)
        if rows == ROWS[1]:
            _draw_learned(model)
            return
    size = choose_size(model.model_config)
    table = sinusoidal_table(size.length, size.d_model, size.base).numpy()
    waves = wavelengths(size.d_model, size.base).numpy()
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.table_plot(table, waves), "pe_table")
        st.caption(explained(comparison(size, model.model_config, _difference(model.name, size))))
    with right:
        # One at a time: every figure adds to the time that a slider takes.
        beside = st.segmented_control("Beside it", BESIDE, default=BESIDE[0], required=True, key="pe_beside", bind=URL)
        if beside == "curves":
            draw_plot(figures.curves_plot(table, waves, _choose_dimensions(size.d_model)), "pe_curves")
        elif beside in ("dot product", "distance"):
            draw_plot(figures.product_plot(table, distance=beside == "distance"), "pe_products")
        else:
            draw_plot(figures.wavelength_plot(waves, size.length), "pe_waves")
        st.latex(
            r"\begin{aligned}PE_{(pos,\,2i)}&=\sin\left(pos / base^{2i/d}\right)\\"
            r"PE_{(pos,\,2i+1)}&=\cos\left(pos / base^{2i/d}\right)\\"
            r"\text{wavelength}_i&=2\pi\, base^{2i/d}\text{ positions}\end{aligned}"
        )


def _draw_learned(model: ModelDescription) -> None:
    """The rows that the model has learned for the source, and their dot products by distance."""
    with runtime.model(model.name) as translator:
        rows = translator.loaded.transformer.positions_src.embedding.weight.detach().double()[:MAX_LENGTH]
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.scheme_plot("Learned rows", rows.numpy()), "pe_learned")
        st.caption(
            explained(
                f"These rows began as random numbers and were trained like any other weight: {len(rows)} of "
                f"{model.model_config.max_positions} are drawn. Rows beyond the longest sentence in training stay "
                "random."
            )
        )
    with right:
        found = by_distance(rows @ rows.T)
        draw_plot(figures.by_distance_plot("Learned rows", found, "dot product"), "pe_learned_products")
        st.caption(
            explained("No formula ties a learned row to its neighbours: what the products show, training has found.")
        )


def _choose_dimensions(d_model: int) -> list[int]:
    first = [i for i in (0, 1, d_model // 4 // 2 * 2, d_model // 2 // 2 * 2) if i < d_model]
    chosen = st.multiselect(
        "Dimensions",
        list(range(d_model)),
        list(dict.fromkeys(first)),
        key=f"pe_dims_{d_model}",
        max_selections=6,
        bind=URL,
    )
    return sorted(chosen)


def _difference(name: str, size: TableSize) -> float | None:
    """The largest difference from the rows of the model called `name`; None if its table is another one."""
    with runtime.model(name) as translator:
        model = translator.loaded.transformer
        if model.config.positions != "sinusoidal" or (size.d_model, size.base) != (model.config.d_model, PAPER_BASE):
            return None
        return table_difference(model.positions_src, sinusoidal_table(size.length, size.d_model, size.base))


def comparison(size: TableSize, config: ModelConfig, difference: float | None) -> str:
    """How the table relates to what the loaded model adds."""
    if config.positions != "sinusoidal":
        what = {
            "learned": "learned its positions; it does not use this table",
            "rope": "does not add this table: its angles turn the queries and keys of self-attention (RoPE)",
            "alibi": "takes its scores down with the distance (ALiBi); it does not use this table",
            "none": "has no positions; it does not use this table",
        }[config.positions]
        return f"The loaded model {what}."
    if difference is None:
        return f"The loaded model adds the rows of d_model {config.d_model} and base 10,000."
    return (
        f"These are the rows that the loaded model adds: computed in float64, stored in float32; the largest "
        f"difference between the two tables is {difference:.1g}."
    )
