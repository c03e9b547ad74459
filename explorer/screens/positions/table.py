"""The positional encoding as numbers: table, curves, wavelengths, products, one word, the rotation, alternatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch

from explorer.figures import positions as figures
from explorer.figures.plotly_charts import Columns
from explorer.figures.vega_chart import Table
from explorer.text import plain
from explorer.translation.model_description import ModelDescription
from explorer.translation.translator import Translation
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis import position_schemes as schemes
from model.config import EOS
from model.positions import rotate, rotations, sinusoidal_table, wavelengths

BASES = (2.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0, 1_000_000.0)
MAX_WIDTH, MAX_LENGTH = 512, 128
BESIDE = ("wavelengths", "curves", "dot product", "distance")


@dataclass(frozen=True)
class Sizes:
    """What the sliders say: numbers a position, positions, and the base of the wavelengths."""

    d_model: int
    length: int
    base: float


def choose_sizes(described: ModelDescription) -> Sizes:
    """Sliders for width, length and base; the first width is the loaded model's."""
    left, middle, right = st.columns(3, gap="large")
    first = min(MAX_WIDTH, described.model_config.d_model + described.model_config.d_model % 2)
    width = left.slider("d_model (numbers a position)", 4, MAX_WIDTH, first, 2, key="pe_width", bind=URL)
    length = middle.slider("Length (positions)", 8, MAX_LENGTH, 64, key="pe_length", bind=URL)
    base = right.select_slider(
        "Base (of the slowest turn)", BASES, 10_000.0, format_func=lambda b: f"{b:,.0f}", key="pe_base", bind=URL
    )
    return Sizes(int(width), int(length), float(base))


def draw_table_tab(described: ModelDescription) -> None:
    """The table that the sliders describe, and beside it one of: its wavelengths, its curves, its products."""
    sizes = choose_sizes(described)
    table = sinusoidal_table(sizes.length, sizes.d_model, sizes.base).numpy()
    waves = wavelengths(sizes.d_model, sizes.base).numpy()
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.table_plot(table, waves), "pe_table")
        st.caption(plain(same_as_model(sizes, described)))
    with right:
        # One of them at a time: each figure takes its share of the wait for a slider.
        beside = st.segmented_control("Beside it", BESIDE, default=BESIDE[0], required=True, key="pe_beside", bind=URL)
        if beside == "curves":
            draw_plot(figures.curves_plot(table, waves, _dimensions(sizes.d_model)), "pe_curves")
        elif beside in ("dot product", "distance"):
            draw_plot(figures.product_plot(table, distance=beside == "distance"), "pe_products")
        else:
            draw_plot(figures.wavelength_plot(waves, sizes.length), "pe_waves")
        st.latex(
            r"\begin{aligned}PE_{(pos,\,2i)}&=\sin\left(pos / base^{2i/d}\right)\\"
            r"PE_{(pos,\,2i+1)}&=\cos\left(pos / base^{2i/d}\right)\\"
            r"\text{wavelength}_i&=2\pi\, base^{2i/d}\text{ positions}\end{aligned}"
        )


def _dimensions(d_model: int) -> list[int]:
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


def same_as_model(sizes: Sizes, described: ModelDescription) -> str:
    """Whether the loaded model adds these very rows."""
    config = described.model_config
    if config.positions != "sinusoidal":
        what = "learned its positions" if config.positions == "learned" else "has no positions"
        return f"The loaded model {what}; it does not use this table."
    if (sizes.d_model, sizes.base) != (config.d_model, 10_000.0):
        return f"The loaded model adds the rows of d_model {config.d_model} and base 10,000."
    with runtime.model(described.name) as translator:
        kept = translator.loaded.transformer.positions_src.table(sizes.length)
    assert kept is not None
    ours = sinusoidal_table(sizes.length, sizes.d_model, sizes.base).to(kept)
    return (
        f"These are the rows that the loaded model adds: computed in float64, kept in float32; the largest difference "
        f"between the two tables is {float((ours - kept).abs().max()):.1g}."
    )


def draw_word_tab(described: ModelDescription, shown: Translation) -> None:
    """What is added to one token of the current sentence."""
    tokens = shown.trace.src_tokens
    index = st.select_slider(
        "Token",
        range(len(tokens)),
        0,
        format_func=lambda i: f"{i + 1} {plain(tokens[i])}",
        key=f"pe_word_{len(tokens)}",
        bind=URL,
    )
    with runtime.model(described.name) as translator, torch.inference_mode():
        model = translator.loaded.transformer
        ids = torch.tensor([[*shown.source.ids, EOS]])
        embedding = (model.src_embedding(ids) * model.embedding_factor)[0]
        rows, scale = model.positions_src.table(len(tokens)), model.embedding_factor
    row = None if rows is None else rows[index].double().numpy()
    draw_plot(figures.word_plot(tokens[index], index, embedding[index].double().numpy(), row), "pe_word")
    sizes = embedding.norm(dim=-1)
    columns: Table = {
        "position (from 0)": list(range(len(tokens))),
        "token": list(tokens),
        "embedding × √d_model (length)": [round(float(size), 3) for size in sizes],
    }
    if rows is not None:
        added = rows.norm(dim=-1)
        columns["position (length)"] = [round(float(size), 3) for size in added]
        columns["position / embedding (%)"] = [
            round(100 * float(a) / max(float(s), 1e-12), 1) for a, s in zip(added, sizes, strict=True)
        ]
    draw_table(columns, "How long the embedding and the position of each token are")
    config = described.model_config
    named = config.scale_embeddings and not config.embedding_factor
    factor = f"√{config.d_model} = {scale:.2f}" if named else f"{scale:g}"
    st.caption(
        plain(
            f"The embedding is multiplied by {factor} before the position is added, so that the position does not "
            f"drown the word. Row 0 is the first token: the formula counts from 0, tokens on screen from 1."
        )
    )


def draw_rotation_tab(described: ModelDescription) -> None:
    """M_k per frequency, and PE(p + k) = M_k · PE(p) verified at every position."""
    sizes = choose_sizes(described)
    left, middle, right = st.columns(3, gap="large")
    most = sizes.length - 1
    offset = left.slider("Offset k (positions)", 1, most, min(5, most), key="pe_offset", bind=URL)
    last = most - offset
    position = middle.slider("Position p", 0, last, 0, key=f"pe_p_{last}", bind=URL) if last else 0
    pairs = sizes.d_model // 2
    pair = right.slider("Pair (frequency)", 1, pairs, 1, key=f"pe_pair_{pairs}", bind=URL) - 1
    check = verify_rotation(sizes, int(offset))
    table = sinusoidal_table(sizes.length, sizes.d_model, sizes.base).numpy()
    left, right = st.columns([2, 3], gap="large")
    with left:
        draw_plot(figures.rotation_plot(table, int(pair), int(position), int(offset)), "pe_rotation", numbers=False)
    with right:
        st.markdown("##### The matrix M_k, one rotation per frequency")
        st.latex(
            r"\begin{pmatrix}\sin\\ \cos\end{pmatrix}_{p+k}="
            r"\begin{pmatrix}\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega\end{pmatrix}"
            r"\begin{pmatrix}\sin\\ \cos\end{pmatrix}_{p},\quad \omega = base^{-2i/d}"
        )
        draw_table(check.columns, "M_k for each sine–cosine pair and its largest error")
        st.caption(
            f"PE(p + {offset}) = M · PE(p) holds at all {sizes.length - offset} positions: the largest error is "
            f"{check.error:.1e} (float64). M does not depend on p, so looking {offset} tokens back is one linear map, "
            f"which an attention head can learn."
        )


@dataclass(frozen=True, eq=False)
class RotationCheck:
    """M_k by frequency as a table, and the largest error of PE(p + k) = M_k · PE(p) over all p and dimensions."""

    columns: Columns
    error: float


def verify_rotation(sizes: Sizes, offset: int) -> RotationCheck:
    """Turn every row by M_k and compare it with the row `offset` later, in float64."""
    table = sinusoidal_table(sizes.length, sizes.d_model, sizes.base)
    turn = rotations(offset, sizes.d_model, sizes.base)
    errors = (rotate(table[:-offset], turn) - table[offset:]).abs().unflatten(-1, (-1, 2)).amax(dim=(0, 2))
    angle = offset * 2 * np.pi / wavelengths(sizes.d_model, sizes.base).numpy()
    columns: Columns = {
        "pair": list(range(1, len(turn) + 1)),
        "angle k·ω (°)": np.degrees(angle).round(4).tolist(),
        "cos": turn[:, 0, 0].numpy().round(6).tolist(),
        "sin": turn[:, 0, 1].numpy().round(6).tolist(),
        "−sin": turn[:, 1, 0].numpy().round(6).tolist(),
        "largest error (10⁻¹⁵)": (1e15 * errors).numpy().round(2).tolist(),
    }
    return RotationCheck(columns, float(errors.max()))


def draw_alternatives_tab(described: ModelDescription) -> None:
    """Every scheme against every wish, measured at the sliders' sizes, and its table to look at."""
    sizes = choose_sizes(described)
    found = compare(sizes, described)
    columns: Columns = {"scheme": list(found)}
    for wish in schemes.WISHES:
        columns[wish] = [_verdict(found[name][wish]) for name in found]
    st.markdown("##### What one wishes for, and what each scheme fails at")
    draw_table(columns, "Schemes by wishes: yes or no, with the figure that says so")
    st.caption(plain(_summary(found)))
    name = (
        st.segmented_control("Look at", list(found), default="binary", required=True, key="pe_scheme", bind=URL)
        or "binary"
    )
    rows, length, width = _rows(sizes, described).get(name, (schemes.no_table, sizes.length, sizes.d_model))
    draw_plot(figures.scheme_plot(name, rows(length, width).numpy()), f"pe_scheme_{name}")


def compare(sizes: Sizes, described: ModelDescription) -> dict[str, dict[str, schemes.Wish]]:
    """The wishes of every scheme; the learned table is the loaded model's, at its own size."""
    return {
        name: schemes.wishes(rows, length, width, trained=name == LEARNED)
        for name, (rows, length, width) in _rows(sizes, described).items()
    }


LEARNED = "learned (this model)"


def _rows(sizes: Sizes, described: ModelDescription) -> dict[str, tuple[schemes.Rows, int, int]]:
    here = (sizes.length, sizes.d_model)
    found: dict[str, tuple[schemes.Rows, int, int]] = {
        "sinusoidal": (schemes.sinusoidal_rows(sizes.base), *here),
        "none": (schemes.no_table, *here),
        "integer": (schemes.integer_table, *here),
        "normalised": (schemes.normalised_table, *here),
        "binary": (schemes.binary_table, *here),
    }
    if described.model_config.positions == "learned":
        with runtime.model(described.name) as translator:
            weight = translator.loaded.transformer.positions_src.embedding.weight.detach().clone()
        found[LEARNED] = (schemes.learned_rows(weight), *weight.shape)
    return found


def _verdict(wish: schemes.Wish) -> str:
    return f"{'✓' if wish.kept else '✗'} {wish.found}"


def _summary(found: dict[str, dict[str, schemes.Wish]]) -> str:
    told = []
    for name, wishes in found.items():
        missed = [wish for wish, verdict in wishes.items() if not verdict.kept]
        told.append(f"{name}: {'breaks ' + ', '.join(missed) if missed else 'keeps all'}")
    return "; ".join(told) + "."
