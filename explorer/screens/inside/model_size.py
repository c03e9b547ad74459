"""The tab Sizes: parameters and FLOPs of a Transformer, part by part, for chosen sizes."""

from __future__ import annotations

import streamlit as st

from explorer.charts import model_internals as figures
from explorer.decoding.model_description import ModelDescription
from explorer.locale.messages import message, t, translated
from explorer.locale.text import count
from explorer.web.page_parts import URL, controls, draw_caption, draw_plot
from model.analysis.size import PAPER, PAPER_VOCABULARY, budget
from model.config import ModelConfig

PRESETS: dict[str, dict[str, int]] = {
    message("tiny"): {"d_model": 64, "d_ff": 128, "heads": 4, "layers": 2, "vocabulary": 100},
    message("small"): {"d_model": 128, "d_ff": 256, "heads": 4, "layers": 4, "vocabulary": 6000},
} | {name: {**sizes, "vocabulary": PAPER_VOCABULARY} for name, (sizes, _) in PAPER.items()}
INITIAL = {**PRESETS["paper base"], "tokens": 20}
_SLIDERS = {
    "d_model": ("d_model", (16, 32, 64, 128, 256, 512, 768, 1024)),
    "d_ff": ("d_ff", (32, 64, 128, 256, 512, 1024, 2048, 3072, 4096)),
    "layers": (message("Layers of each stack"), tuple(range(1, 13))),
    "heads": (message("Heads"), (1, 2, 4, 8, 16)),
    "vocabulary": (message("Pieces in the vocabulary"), (30, 100, 1000, 6000, 10_000, 20_000, 37_000, 50_000)),
    "tokens": (message("Tokens on each side"), (5, 10, 20, 50, 100, 200, 500, 1000)),
}


def draw_size_tab(model: ModelDescription) -> None:
    """Draw parameters and FLOPs by part, for the sizes set with the sliders."""
    with controls("sizes"):
        presets = st.columns([1] * len(PRESETS) + [2])
        sliders = st.columns(3, gap="large") + st.columns(3, gap="large")
    for column, name in zip(presets, PRESETS, strict=False):
        column.button(translated(name), key=f"budget_{name}", on_click=_apply_preset, args=(name,), width="stretch")
    sizes = {}
    for i, column in enumerate(sliders):
        name, (title, options) = list(_SLIDERS.items())[i]
        sizes[name] = int(
            column.select_slider(
                translated(title),
                options,
                INITIAL[name],
                format_func=lambda n: f"{n:,}",
                key=f"budget_size_{name}",
                bind=URL,
            )
        )
    if sizes["d_model"] % sizes["heads"]:
        unfit = t(
            "{width} does not divide into {heads} equal heads; choose fewer heads.",
            width=sizes["d_model"],
            heads=sizes["heads"],
        )
        st.info(unfit)
        return
    whole = budget(config_of(sizes), sizes["tokens"], sizes["tokens"])
    parts = [part for part in whole if part.parameters or part.flops]
    draw_plot(figures.budget_plot(parts), "budget")
    total = sum(part.parameters for part in parts)
    draw_caption(beside_the_paper(sizes, total))
    loaded = sum(part.parameters for part in budget(model.model_config, 1, 1))
    draw_caption(
        t(
            "Source, target and output share one vocabulary and one matrix here, and positions are sinusoidal. The "
            "loaded model has {n} parameters. FLOPs are those of the matrix products of one teacher-forced pass, a "
            "multiplication and its addition counted as two. The number of heads changes neither: each head has its "
            "own projections from all d_model numbers to d_model / heads, so more heads are smaller ones.",
            n=count(loaded),
        )
    )


def config_of(sizes: dict[str, int]) -> ModelConfig:
    """A model of these sizes, built as in the paper: one vocabulary, one matrix, sinusoidal positions, post-norm."""
    return ModelConfig(
        src_vocab_size=sizes["vocabulary"],
        tgt_vocab_size=sizes["vocabulary"],
        d_model=sizes["d_model"],
        d_ff=sizes["d_ff"],
        n_encoder_layers=sizes["layers"],
        n_decoder_layers=sizes["layers"],
        n_encoder_heads=sizes["heads"],
        n_decoder_heads=sizes["heads"],
        share_embeddings="all",
    )


def beside_the_paper(sizes: dict[str, int], total: int) -> str:
    """The number of parameters in a sentence, beside the paper's if the sizes are those of a model in the paper."""
    for name, (paper, printed) in PAPER.items():
        if all(sizes[key] == value for key, value in paper.items()):
            model = translated(name)
            return t(
                "{model}: {total:.0f} million parameters with {n:,} pieces; the paper prints {printed:.0f} million "
                "(Vaswani et al. 2017, Table 3).",
                model=f"{model[0].upper()}{model[1:]}",
                total=total / 1e6,
                n=sizes["vocabulary"],
                printed=printed / 1e6,
            )
    return t("{n:,} parameters, {size:,.1f} MB in float32.", n=total, size=4 * total / 1e6)


def _apply_preset(name: str) -> None:
    """Set the sliders to a preset; call it before they are drawn, as in a callback."""
    for key, value in PRESETS[name].items():
        st.session_state[f"budget_size_{key}"] = value
