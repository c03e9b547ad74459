"""The tabs The table and The rotation: the sinusoidal encoding at a chosen size, and PE(p + k) = M_k · PE(p)."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from explorer.charts import positions as figures
from explorer.decoding.cache import cached
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.position_values import (
    PAPER_BASE,
    Floats,
    TableSize,
    learned_rows,
    likeness_by_distance,
    likeness_of_random,
    rows_trained,
    sinusoidal,
)
from explorer.locale.messages import message, t
from explorer.web import address, bound, runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, controls, draw_caption, draw_plot
from model.analysis.sinusoidal_checks import check_rotation
from model.config import ModelConfig

ROWS = (message("of the formula"), message("learned by this model"))
BESIDE = (message("wavelengths"), message("curves"), message("dot product"))
BASES = (2.0, 10.0, 100.0, 1000.0, PAPER_BASE, 100_000.0, 1_000_000.0)
MAX_WIDTH, MAX_LENGTH = 512, 128
_likeness_of_random = cached(likeness_of_random)


def choose_size(config: ModelConfig) -> TableSize:
    """Draw sliders for width, length and base; the width starts at the loaded model's."""
    with controls("pe_size"):
        left, middle, right = st.columns(3, gap="large")
    first = min(MAX_WIDTH, config.d_model + config.d_model % 2)
    width = left.slider(t("d_model (numbers per position)"), 4, MAX_WIDTH, first, 2, key="pe_width", bind=URL)
    length = middle.slider(t("Length (positions)"), 8, MAX_LENGTH, 64, key="pe_length", bind=URL)
    base = right.select_slider(
        t("Base of the wavelengths"), BASES, PAPER_BASE, format_func=lambda b: f"{b:,.0f}", key="pe_base", bind=URL
    )
    return TableSize(int(width), int(length), float(base))


def draw_table_tab(model: ModelDescription) -> None:
    """Draw the model's learned rows, or the table that the sliders describe with what follows from it."""
    learned = runtime.computed(model.name, learned_rows)
    if learned is not None:
        # Links that are older than the choice say a size, and mean the formula.
        asked = not {"pe_width", "pe_length", "pe_base", "pe_beside"}.isdisjoint(address.present())
        rows = bound.segmented(t("Rows"), ROWS, default=ROWS[0 if asked else 1], key="pe_rows")
        if rows == ROWS[1]:
            _draw_learned(learned, runtime.computed_by(model.name, rows_trained))
            return
    size = choose_size(model.model_config)
    table, waves = sinusoidal(size)
    draw_caption(comparison(model.model_config, size))  # first, since the model may not use this table
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.table_plot(table, waves), "pe_table")
    with right:
        # Only one figure, because each adds to the time that moving a slider takes.
        label = t("Beside it")
        beside = bound.segmented(label, BESIDE, default=BESIDE[0], key="pe_beside", label_visibility="collapsed")
        if beside == "curves":
            plot, name = figures.curves_plot(table, waves, _choose_dimensions(size.d_model)), "pe_curves"
        elif beside == "dot product":
            plot, name = figures.product_plot(table), "pe_products"
        else:
            plot, name = figures.wavelength_plot(waves, size.length), "pe_waves"
        draw_plot(replace(plot, title=""), name)  # the chosen option is its title
        st.latex(
            r"\begin{aligned}PE_{(pos,\,2i)}&=\sin\left(pos / base^{2i/d}\right)\\"
            r"PE_{(pos,\,2i+1)}&=\cos\left(pos / base^{2i/d}\right)\\"
            rf"\text{{{t('wavelength')}}}_i&=2\pi\, base^{{2i/d}}\text{{ {t('positions')}}}\end{{aligned}}"
        )


def _draw_learned(rows: Floats, trained: int | None) -> None:
    """Draw the learned rows for the source that training reached, and how alike they are by distance."""
    drawn = rows[: min(trained or MAX_LENGTH, MAX_LENGTH)]
    began = t("These rows began as random numbers and were trained like any other weight.")
    if len(drawn) > 2:  # else there are no rows further apart than neighbours
        plot = figures.likeness_plot(likeness_by_distance(drawn), _likeness_of_random(drawn.shape))
        draw_caption(plot.caption)
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.learned_plot(drawn), "pe_learned")
        if trained is None:
            reached = t(
                "Rows beyond the longest sentence in training stay random; how long that was is not known here."
            )
        else:
            reached = t(
                "Drawn are the {n} of {most} that sentences in training reach; the others stayed random.",
                n=len(drawn),
                most=len(rows),
            )
        draw_caption(f"{began} {reached}")
    if len(drawn) > 2:
        with right:
            draw_plot(plot, "pe_learned_products", caption=False)


def _choose_dimensions(d_model: int) -> list[int]:
    first = [i for i in (0, 1, d_model // 4 // 2 * 2, d_model // 2 // 2 * 2) if i < d_model]
    chosen = st.multiselect(
        t("Dimensions"),
        list(range(d_model)),
        list(dict.fromkeys(first)),
        key=f"pe_dims_{d_model}",
        max_selections=6,
        bind=URL,
    )
    return sorted(chosen)


def comparison(config: ModelConfig, size: TableSize) -> str:
    """A sentence that compares the table with what the loaded model adds."""
    if config.positions == "sinusoidal" and (size.d_model, size.base) == (config.d_model, PAPER_BASE):
        return t("These are the rows that the loaded model adds.")
    return {
        "sinusoidal": t("The loaded model adds the rows of d_model {width} and base 10,000.", width=config.d_model),
        "learned": t("The loaded model learned its positions; it does not use this table."),
        "rope": t(
            "The loaded model does not add this table: its angles turn the queries and keys of self-attention (RoPE)."
        ),
        "alibi": t("The loaded model lowers its scores with the distance (ALiBi); it does not use this table."),
        "relative": t("The loaded model adds a learned number per distance to its scores; it does not use this table."),
        "none": t("The loaded model has no positions; it does not use this table."),
    }[config.positions]


def draw_rotation_tab(model: ModelDescription) -> None:
    """Draw one sine–cosine pair as a clock hand, and M_k for every pair."""
    size = choose_size(model.model_config)
    with controls("pe_rotation"):
        left, middle, right = st.columns(3, gap="large")
    most = size.length - 1
    offset = int(left.slider(t("Offset k (positions)"), 1, most, min(5, most), key="pe_offset", bind=URL))
    last, position = most - offset, 0
    if last:
        position = int(middle.slider(t("Position p"), 0, last, 0, key=f"pe_p_{last}", bind=URL))
    else:
        hint = t("With this offset, p can only be 0.")
        middle.slider(t("Position p"), 0, 1, 0, key="pe_p_only", disabled=True, help=hint)
    pairs = size.d_model // 2
    pair = int(right.slider(t("Pair (frequency)"), 1, pairs, 1, key=f"pe_pair_{pairs}", bind=URL)) - 1
    check = check_rotation(size.length, size.d_model, size.base, offset)
    left, right = st.columns([2, 3], gap="large")
    with left:
        plot = figures.rotation_plot(sinusoidal(size)[0], pair, position, offset)
        draw_plot(plot, "pe_rotation", numbers=False)
    with right:
        st.markdown(f"##### {t('The matrix M_k, one rotation per frequency')}")
        st.latex(
            r"\begin{pmatrix}\sin\\ \cos\end{pmatrix}_{p+k}="
            r"\begin{pmatrix}\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega\end{pmatrix}"
            r"\begin{pmatrix}\sin\\ \cos\end{pmatrix}_{p},\quad \omega = base^{-2i/d}"
        )
        draw_table(figures.rotation_columns(check), t("M_k for each sine–cosine pair"), file="rotation")
        draw_caption(
            t(
                "PE(p + {k}) = M · PE(p) holds at the only position that is left: the largest error is {error:.1e} "
                "(float64). M does not depend on p, so attending {k} tokens back is one linear map, which an "
                "attention head can learn.",
                "PE(p + {k}) = M · PE(p) holds at all {n} positions: the largest error is {error:.1e} (float64). "
                "M does not depend on p, so attending {k} tokens back is one linear map, which an attention head "
                "can learn.",
                n=last + 1,
                k=offset,
                error=check.largest_error,
            )
        )
