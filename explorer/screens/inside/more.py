"""Queries and keys in a plane, the prediction layer by layer, temperature and label smoothing, the budget."""

from __future__ import annotations

import streamlit as st
import torch

from explorer.figures import model_internals as figures
from explorer.figures.plotly_charts import Columns
from explorer.screens.inside.computation import choose_step, key_tokens, rows_tokens, walked
from explorer.text import count, plain
from explorer.translation.model_description import ModelDescription
from explorer.translation.translator import Translation
from explorer.web import runtime
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.operations import flatten, layer_by_layer, least_loss, smoothed, smoothed_loss, tempered
from model.analysis.size import PAPER, PAPER_VOCABULARY, budget
from model.config import ModelConfig
from model.decoding.search import allowed_log_probs
from model.recorder import BLOCKS

BARS = 8


def draw_similarity_tab(described: ModelDescription, shown: Translation) -> None:
    """Queries and keys of one head together in a plane, or its values."""
    kind, layer, head = choose_head(described, "similar", ("encoder", "decoder", "cross"))
    pictures = ("queries and keys", "values")
    what = st.segmented_control("Picture", pictures, default=pictures[0], required=True, key="similar_what", bind=URL)
    found = walked(shown, len(shown.path), whole=True)
    stack, block = BLOCKS[kind]
    at = f"{stack}.layers.{layer}.{block}"
    rows, keys = rows_tokens(shown, found, f"{at}.query"), key_tokens(shown, found, f"{at}.key")
    query, key, value = (found[f"{at}.{name}"].value[0, head] for name in ("query", "key", "value"))
    weights = found[f"{at}.weights"].value[0, head]
    left, right = st.columns(2, gap="large")
    with left:
        if what == "values":
            plot = figures.projection_plot(flatten(value), [("value", keys)], "Values: what is handed over")
        else:
            both = flatten(torch.cat((query, key)))
            plot = figures.projection_plot(both, [("query", rows), ("key", keys)], "What is similar to what")
        draw_plot(plot, "similar_plot")
    with right:
        best = weights.argmax(dim=-1)
        columns: Columns = {
            "query": [f"{i} {token}" for i, token in enumerate(rows, start=1)],
            "looks most at": [f"{int(k) + 1} {keys[int(k)]}" for k in best],
            "weight (%)": [round(100 * float(weights[q, k]), 1) for q, k in enumerate(best)],
            "query · key": [round(float(query[q] @ key[k]), 3) for q, k in enumerate(best)],
            "cosine": [
                round(float(torch.nn.functional.cosine_similarity(query[q], key[k], dim=0)), 3)
                for q, k in enumerate(best)
            ],
        }
        draw_table(columns, "Where each query looks most, and how alike the two vectors are")
        st.caption(
            "A query looks at the keys with the largest product, and those need not lie next to it: the product grows "
            "with the length of a key as well as with its direction, and it is taken in all dimensions of the head."
        )


def draw_lens_tab(described: ModelDescription, shown: Translation) -> None:
    """The output projection after each decoder layer."""
    config = described.model_config
    step = choose_step(shown, "lens_step")
    found = walked(shown, step, whole=True)
    with runtime.model(shown.model) as translator:
        log_probs = allowed_log_probs(
            layer_by_layer(translator.loaded.transformer, found)
        )  # [layer + 1, row, vocabulary]
    chances, ids = log_probs.exp().max(dim=-1)
    target = described.target
    words = [[target.label(int(i)) for i in row] for row in ids]
    stages = ["embedding", *(f"layer {i}" for i in range(1, config.n_decoder_layers + 1))]
    left, right = st.columns(2, gap="large")
    with left:
        rows = shown.trace.read_tokens[:step]
        draw_plot(figures.lens_plot(chances.numpy(), words, rows, stages), "lens_plot")
    with right:
        final = int(ids[-1, -1])
        ranks = (log_probs[:, -1] > log_probs[:, -1, final, None]).sum(dim=-1) + 1
        columns: Columns = {
            "read off after": stages,
            "likeliest": [row[-1] for row in words],
            "its probability (%)": [round(100 * float(p[-1]), 2) for p in chances],
            f"{target.label(final)} (%)": [round(100 * float(p), 2) for p in log_probs[:, -1, final].exp()],
            "its rank": [int(rank) for rank in ranks],
        }
        st.markdown(f"##### Step {step}, stage by stage")
        draw_table(columns, "The last row's prediction after each stage")
        norm = "the last layer norm and " if config.norm_first else ""
        st.caption(
            f"What to keep in mind: {norm}the output projection learned to read the last layer only. Earlier layers "
            f"write for the next layer and not for it, so a strange word there does not mean that the model 'thinks' "
            f"it. The last line is the real prediction."
        )


def draw_prediction_tab(described: ModelDescription, shown: Translation) -> None:
    """Logits to probabilities with a temperature, and what label smoothing would have asked for."""
    step = choose_step(shown, "chance_step")
    found = walked(shown, step, whole=False)
    target, right = described.target, shown.path[step - 1]
    left, middle = st.columns(2, gap="large")
    temperature = float(left.slider("Temperature T", 0.1, 5.0, 1.0, 0.1, key="chance_temperature", bind=URL))
    epsilon = float(middle.slider("Label smoothing ε", 0.0, 0.5, 0.1, 0.01, key="chance_epsilon", bind=URL))
    plain_chances = tempered(found.logits, 1.0)
    warm = tempered(found.logits, temperature)
    top = plain_chances.topk(min(BARS, len(plain_chances))).indices.tolist()
    shown_ids = top if right in top else [*top[:-1], right]
    tokens = [target.label(i) for i in shown_ids]
    left, middle = st.columns(2, gap="large")
    with left:
        named = {
            "T = 1": [float(plain_chances[i]) for i in shown_ids],
            f"T = {temperature:.1f}": [float(warm[i]) for i in shown_ids],
        }
        entropy = [float(torch.special.entr(p).sum().exp()) for p in (plain_chances, warm)]
        told = (
            f"softmax(logits / T): at T = {temperature:.1f} {tokens[0]} gets {100 * float(warm[top[0]]):.1f} % and the "
            f"choice is as wide as {entropy[1]:.2f} equally likely tokens; at T = 1 as {entropy[0]:.2f}."
        )
        draw_plot(figures.chances_plot(tokens, named, told, "Softmax with temperature"), "chance_plot")
    with middle:
        wanted = smoothed(len(plain_chances), right, epsilon)
        named = {
            "the model": [float(plain_chances[i]) for i in shown_ids],
            "asked for": [float(wanted[i]) for i in shown_ids],
        }
        loss = smoothed_loss(found.logits, right, epsilon)
        told = (
            f"If {target.label(right)} is the right token, label smoothing asks for {100 * float(wanted[right]):.1f} % "
            f"there and {100 * epsilon / len(wanted):.3f} % everywhere else: a loss of {loss:.3f} nats."
        )
        draw_plot(figures.chances_plot(tokens, named, told, "Label smoothing"), "smooth_plot")
    grid = [round(0.01 * i, 2) for i in range(51)]
    losses = [smoothed_loss(found.logits, right, e) for e in grid]
    least = [least_loss(len(plain_chances), e) for e in grid]
    draw_plot(figures.smoothing_plot(grid, losses, least, epsilon), "smooth_curve")
    used = described.train_config.label_smoothing
    st.caption(
        f"This model was trained with label smoothing {used:g}. Temperature is for sampling; greedy search takes the "
        f"likeliest token at any temperature."
    )


PRESETS: dict[str, dict[str, int]] = {
    "tiny": {"d_model": 64, "d_ff": 128, "heads": 4, "layers": 2, "vocabulary": 100},
    "small": {"d_model": 128, "d_ff": 256, "heads": 4, "layers": 4, "vocabulary": 6000},
} | {name: {**sizes, "vocabulary": PAPER_VOCABULARY} for name, (sizes, _) in PAPER.items()}
FIRST = {**PRESETS["paper base"], "tokens": 20}
_SLIDERS = {
    "d_model": ("d_model", (16, 32, 64, 128, 256, 512, 768, 1024)),
    "d_ff": ("d_ff", (32, 64, 128, 256, 512, 1024, 2048, 3072, 4096)),
    "layers": ("Layers of each stack", tuple(range(1, 13))),
    "heads": ("Heads", (1, 2, 4, 8, 16)),
    "vocabulary": ("Pieces in the vocabulary", (30, 100, 1000, 6000, 10_000, 20_000, 37_000, 50_000)),
    "tokens": ("Tokens on each side", (5, 10, 20, 50, 100, 200, 500, 1000)),
}


def draw_budget_tab(described: ModelDescription) -> None:
    """Parameters and FLOPs as a function of the sizes."""
    columns = st.columns([1] * len(PRESETS) + [2])
    for column, name in zip(columns, PRESETS, strict=False):
        column.button(name, key=f"budget_{name}", on_click=_take, args=(name,), width="stretch")
    sizes = {}
    for i, column in enumerate(st.columns(3, gap="large") + st.columns(3, gap="large")):
        name = list(_SLIDERS)[i]
        title, options = _SLIDERS[name]
        sizes[name] = int(
            column.select_slider(
                title, options, FIRST[name], format_func=lambda n: f"{n:,}", key=f"budget_size_{name}", bind=URL
            )
        )
    if sizes["d_model"] % sizes["heads"]:
        st.info(f"{sizes['d_model']} does not divide into {sizes['heads']} equal heads; choose fewer heads.")
        return
    config = config_of(sizes)
    found = budget(config, sizes["tokens"], sizes["tokens"])
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.budget_plot(found, flops=False), "budget_parameters")
    with right:
        draw_plot(figures.budget_plot(found, flops=True), "budget_flops")
    total = sum(part.parameters for part in found)
    st.caption(plain(_compared(sizes, total)))
    loaded = described.model_config
    st.caption(
        plain(
            f"Both sides and the output share one vocabulary and one matrix here, positions are sinusoidal. The loaded "
            f"model has {count(sum(p.parameters for p in budget(loaded, 1, 1)))} parameters. FLOPs are those of the "
            f"matrix products of one teacher-forced pass, a multiplication and its addition counted as two; heads only "
            f"cut d_model into slices, so their number changes neither."
        )
    )


def config_of(sizes: dict[str, int]) -> ModelConfig:
    """A model of these sizes as the paper builds it: one vocabulary, one matrix, sinusoidal positions, post-norm."""
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


def _compared(sizes: dict[str, int], total: int) -> str:
    for name, (paper, printed) in PAPER.items():
        if all(sizes[key] == value for key, value in paper.items()):
            told = (
                f"{name[0].upper()}{name[1:]}: {total / 1e6:.0f} million parameters with {sizes['vocabulary']:,} pieces"
            )
            return f"{told}; the paper prints {printed / 1e6:.0f} million (Vaswani et al. 2017, Table 3)."
    return f"{total:,} parameters, {4 * total / 1e6:,.1f} MB in float32."


def _take(name: str) -> None:
    for key, value in PRESETS[name].items():
        st.session_state[f"budget_size_{key}"] = value
