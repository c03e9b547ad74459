"""The tab The rotation: PE(p + k) = M_k · PE(p), drawn for one frequency and verified for all."""

from __future__ import annotations

import numpy as np
import streamlit as st

from explorer.charts import positions as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.model_description import ModelDescription
from explorer.locale.glossary import explained
from explorer.screens.positions.table_size import choose_size
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.sinusoidal_checks import RotationCheck, check_rotation
from model.positions import sinusoidal_table


def draw_rotation_tab(model: ModelDescription) -> None:
    """One sine–cosine pair as a clock hand, and M_k for every pair."""
    size = choose_size(model.model_config)
    left, middle, right = st.columns(3, gap="large")
    most = size.length - 1
    offset = int(left.slider("Offset k (positions)", 1, most, min(5, most), key="pe_offset", bind=URL))
    last = most - offset
    if last:
        position = int(middle.slider("Position p", 0, last, 0, key=f"pe_p_{last}", bind=URL))
    else:
        position = 0
        middle.slider("Position p", 0, 1, 0, key="pe_p_only", disabled=True, help="With this offset, p can only be 0.")
    pairs = size.d_model // 2
    pair = int(right.slider("Pair (frequency)", 1, pairs, 1, key=f"pe_pair_{pairs}", bind=URL)) - 1
    check = check_rotation(size.length, size.d_model, size.base, offset)
    table = sinusoidal_table(size.length, size.d_model, size.base).numpy()
    left, right = st.columns([2, 3], gap="large")
    with left:
        draw_plot(figures.rotation_plot(table, pair, position, offset), "pe_rotation", numbers=False)
    with right:
        st.markdown("##### The matrix M_k, one rotation per frequency")
        st.latex(
            r"\begin{pmatrix}\sin\\ \cos\end{pmatrix}_{p+k}="
            r"\begin{pmatrix}\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega\end{pmatrix}"
            r"\begin{pmatrix}\sin\\ \cos\end{pmatrix}_{p},\quad \omega = base^{-2i/d}"
        )
        draw_table(rotation_columns(check), "M_k for each sine–cosine pair and its largest error")
        where = f"at all {last + 1} positions" if last else "at the only position that is left"
        st.caption(
            explained(
                f"PE(p + {offset}) = M · PE(p) holds {where}: the largest error is {check.largest_error:.1e} "
                f"(float64). M does not depend on p, so attending {offset} tokens back is one linear map, which an "
                f"attention head can learn."
            )
        )


def rotation_columns(check: RotationCheck) -> Columns:
    """M_k of every pair as the columns of a table."""
    return {
        "pair": list(range(1, len(check.angles) + 1)),
        "angle k·ω (°)": np.degrees(check.angles).round(4).tolist(),
        "cos": check.matrices[:, 0, 0].round(6).tolist(),
        "sin": check.matrices[:, 0, 1].round(6).tolist(),
        "−sin": check.matrices[:, 1, 0].round(6).tolist(),
        "largest error (10⁻¹⁵)": (1e15 * check.errors).round(2).tolist(),
    }
