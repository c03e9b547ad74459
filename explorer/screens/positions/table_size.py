"""The sliders for the size of a table of positions."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from explorer.web.page_parts import URL
from model.config import ModelConfig

BASES = (2.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0, 1_000_000.0)
MAX_WIDTH, MAX_LENGTH = 512, 128


@dataclass(frozen=True)
class TableSize:
    """The size of a table: numbers per position, positions, and the base of the wavelengths."""

    d_model: int
    length: int
    base: float


def choose_size(config: ModelConfig) -> TableSize:
    """Sliders for width, length and base; the width starts at the loaded model's."""
    left, middle, right = st.columns(3, gap="large")
    first = min(MAX_WIDTH, config.d_model + config.d_model % 2)
    width = left.slider("d_model (numbers per position)", 4, MAX_WIDTH, first, 2, key="pe_width", bind=URL)
    length = middle.slider("Length (positions)", 8, MAX_LENGTH, 64, key="pe_length", bind=URL)
    base = right.select_slider(
        "Base of the wavelengths", BASES, 10_000.0, format_func=lambda b: f"{b:,.0f}", key="pe_base", bind=URL
    )
    return TableSize(int(width), int(length), float(base))
