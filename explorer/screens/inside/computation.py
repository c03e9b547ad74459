"""The tab All operations: the operations of one part of the model as a diagram, and one operation in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.browser.walk import WalkRow, walk_view
from explorer.byte_cache import cached
from explorer.charts import model_internals as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.examples import opening_step
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import name_in_layer
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.locale.text import plain, quoted
from explorer.screens.inside.operation_names import (
    axes_of,
    meaning_of,
    name_from_link,
    parameter_words,
    part_of,
    parts,
    read_words,
    rows_of,
    shape_words,
    summary,
    title_of,
)
from explorer.web import runtime, session
from explorer.web.address import Parameter
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_numbers, draw_plot
from model.analysis.operations import Operation, Walk, walk
from model.config import ModelConfig

ONE, ALL = "this step", "all rows at once"
_OPERATION = Parameter("op")


def choose_step(shown: Translation, key: str = "inside_step") -> int:
    """Draw the step slider; return the step, from 1 and shared with other pages, initially the one worth seeing."""
    last = len(shown.path)
    if last < 2:
        return 1
    reads, predicts = shown.trace.read_tokens, shown.trace.predicted_tokens
    # The session holds the step: the widget shows it and reports changes to it.
    here, widget = session.selection().step, f"{key}_{last}"
    summary = runtime.models().get(shown.model)
    st.session_state[widget] = min(here, last) if here else opening_step(summary, shown) if summary else last
    return int(
        st.select_slider(
            "Step",
            range(1, last + 1),
            format_func=lambda t: f"{t}: reads {plain(reads[t - 1])}, predicts {plain(predicts[t - 1])}",
            key=widget,
            on_change=_stepped,
            args=(widget,),
        )
    )


def _stepped(widget: str) -> None:
    session.move(step=st.session_state[widget])


def walked(shown: Translation, step: int, *, whole: bool) -> Walk:
    """The recorded run of one step, computed once for all sessions."""
    return _walk(shown.model, runtime.fingerprint(shown.model), shown.source.ids, shown.path, step, whole)


@cached
def _walk(name: str, version: str, source: tuple[int, ...], path: tuple[int, ...], step: int, whole: bool) -> Walk:
    del version  # part of the key only
    with runtime.model(name) as translator:
        return walk(translator.loaded.model, source, path, step, whole=whole)


def draw_computation_tab(shown: Translation, model: ModelDescription) -> None:
    """Draw the diagram of one part, and the operation chosen in it."""
    config = model.model_config
    left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    with left:
        step = choose_step(shown)
    with right:
        way = st.segmented_control(
            "What is run",
            [ONE, ALL],
            default=ALL,
            required=True,
            key="inside_way",
            bind=URL,
            help="A decoding step reads one token; the keys and values of earlier ones are cached. In training all "
            "rows are read at once. Both give the same prediction.",
        )
    run = walked(shown, step, whole=way == ALL)
    names = parts(config)
    part = (
        st.segmented_control(
            "Part of the model",
            names,
            default="Encoder 1",
            required=True,
            key=f"inside_part_{len(names)}",
            bind=URL,
        )
        or names[0]
    )
    norm = "pre-norm: the norm stands before each sublayer" if config.norm_first else "post-norm: after each sum"
    left, right = st.columns([9, 4], gap="small")
    with left:
        opened = _choose_operation(part, rows_of(run, part, config))
        st.caption(
            explained(
                f"{part}, {norm}. A line leads from a result to the operation that reads it, and the last column names "
                f"the rows; heavy lines are residual connections, filled dots have parameters. Choose an operation to "
                f"open it."
            )
        )
    with right:
        _open(model, shown, run, run[opened], config)
    st.caption(explained(f"The whole run: {summary(run)}"))
    columns = _everything(run, config)
    draw_numbers(columns, "Every operation of the run", "inside_all", "Every operation in order, as a table")


def _choose_operation(part: str, rows: Sequence[WalkRow]) -> str:
    """Draw the diagram; return the open operation, which the address names unless it is the first of its part."""
    asked = _OPERATION.asked()
    asked = _OPERATION.written() if asked is None else asked
    opened = walk_view(part, rows, key="inside_walk", asked=name_from_link(asked))
    _OPERATION.write("" if opened == rows[0].name else opened)
    return opened


def _everything(run: Walk, config: ModelConfig) -> Columns:
    operations = list(run.operations.values())
    return {
        "order": list(range(1, len(operations) + 1)),
        "part": [part_of(o.name, config) for o in operations],
        "operation": [title_of(o.name) for o in operations],
        "shape": [shape_words(o) for o in operations],
        "axes": [axes_of(o) for o in operations],
        "parameters": [o.parameters for o in operations],
        "mean": [round(o.mean, 4) for o in operations],
        "standard deviation": [round(o.standard_deviation, 4) for o in operations],
        "reads": [read_words(o, part_of(o.name, config), config) for o in operations],
        "name in the code": [o.name for o in operations],
    }


def _open(model: ModelDescription, shown: Translation, run: Walk, operation: Operation, config: ModelConfig) -> None:
    """Draw one operation: its purpose, its inputs and its output."""
    st.markdown(f"##### {plain(title_of(operation.name))}")
    st.markdown(explained(meaning_of(operation.name, config)))
    read = read_words(operation, part_of(operation.name, config), config)
    st.caption(
        explained(
            f"Reads {read}. Writes {shape_words(operation)} ({axes_of(operation)}). Parameters: "
            f"{parameter_words(operation)}. Mean {operation.mean:.4f}, standard deviation "
            f"{operation.standard_deviation:.4f}. In the code: {operation.name}."
        )
    )
    rows, first = rows_tokens(shown, run, operation.name), first_position(run, operation.name)
    value = operation.value[0].float().numpy()
    if operation.name in ("logits", "softmax"):
        _open_scores(model, value if value.ndim == 1 else value[-1], chances=operation.name == "softmax")
        return
    if operation.short in ("scores", "masked", "weights"):
        head = _head(value.shape[0])
        keys = key_tokens(shown, run, operation.name)
        title = name_in_layer(head + 1).capitalize()
        plot = figures.matrix_plot(value[head], rows, keys, title, weights=operation.short == "weights", first=first)
        draw_plot(plot, f"open_{operation.short}")
        return
    if value.ndim == 3:
        head = _head(value.shape[0])
        inside = operation.short in ("key", "value")
        tokens = key_tokens(shown, run, operation.name) if inside else rows
        side = "position (key)" if inside else "position (query)"
        start = 1 if inside else first
        plot = figures.activation_plot(
            value[head], tokens, name_in_layer(head + 1).capitalize(), side=side, first=start
        )
        draw_plot(plot, "open_head")
        return
    if operation.short in ("k_proj", "v_proj") and "cross" in operation.name:
        rows, first = shown.trace.src_tokens, 1
    draw_plot(figures.activation_plot(value, rows, "", side="position", first=first), "open_plain")
    _open_more(run, operation, value, rows, first)


def _open_more(run: Walk, operation: Operation, value: NDArray[np.float32], rows: tuple[str, ...], first: int) -> None:
    """Draw a table or figure for norms, residuals, the feed-forward network, scaling and embeddings."""
    before = [run[name].value[0].float().numpy() for name in operation.reads]
    if operation.short.startswith("norm"):
        table = figures.row_table(
            rows,
            first,
            mean_before=before[0].mean(axis=1).tolist(),
            standard_deviation_before=before[0].std(axis=1).tolist(),
            mean_after=value.mean(axis=1).tolist(),
            standard_deviation_after=value.std(axis=1).tolist(),
        )
        draw_table(table, "Mean and standard deviation of each position before and after the norm")
    elif operation.short.startswith("residual"):
        sizes = [np.linalg.norm(each, axis=1) for each in (*before, value)]
        table = figures.row_table(
            rows,
            first,
            length_of_input=sizes[0].tolist(),
            length_of_sublayer=sizes[1].tolist(),
            length_of_sum=sizes[2].tolist(),
        )
        draw_table(table, "Length of the input, of what the sublayer added, and of their sum")
    elif operation.short == "activation":
        draw_plot(figures.firing_plot(value, rows, first=first), "open_firing")
    elif operation.short in ("scaled", "positions"):
        sizes = [np.linalg.norm(each, axis=1) for each in (before[0], value)]
        table = figures.row_table(rows, first, length_before=sizes[0].tolist(), length_after=sizes[1].tolist())
        draw_table(table, "Length of each vector before and after")
    elif operation.short == "embedding":
        ids = run.src_ids if operation.name.startswith("src") else run.read_ids
        draw_table(
            figures.row_table(rows, first, id=ids[-len(rows) :]),
            "The id of each token, which is its row in the embedding table",
        )


def _open_scores(model: ModelDescription, values: NDArray[np.float32], *, chances: bool) -> None:
    """Draw the highest logits, or probabilities, with their tokens."""
    order = np.argsort(-values, kind="stable")[:12]
    tokens = [model.target.label(int(i)) for i in order]
    name = "probability (%)" if chances else "logit"
    numbers = [round(float(100 * values[i] if chances else values[i]), 4) for i in order]
    columns: Columns = {"rank": list(range(1, len(order) + 1)), "token": tokens, "id": order.tolist(), name: numbers}
    draw_table(columns, f"The highest values of {len(values):,} tokens")
    st.caption(
        plain(f"{quoted(tokens[0])} is first of {len(values):,} tokens, with {numbers[0]:g}{' %' if chances else ''}.")
    )


def _head(n_heads: int) -> int:
    """Draw the head selector; return the head, counted from 0."""
    if n_heads == 1:
        return 0
    heads = range(1, n_heads + 1)
    chosen = st.segmented_control("Head", heads, default=1, required=True, key=f"inside_head_{n_heads}", bind=URL)
    return (chosen or 1) - 1


def rows_tokens(shown: Translation, run: Walk, name: str) -> tuple[str, ...]:
    """The tokens of the positions (queries) of an operation's result."""
    if name.startswith(("src.", "encoder.")):
        return shown.trace.src_tokens
    read = shown.trace.read_tokens[: len(run.read_ids)]
    return read if run.whole else read[-1:]


def first_position(run: Walk, name: str) -> int:
    """The position, counted from 1, of the first row of an operation's result; a single step has only the last row."""
    of_target = not name.startswith(("src.", "encoder."))
    return len(run.read_ids) if of_target and not run.whole else 1


def key_tokens(shown: Translation, run: Walk, name: str) -> tuple[str, ...]:
    """The tokens of the keys of an operation within attention."""
    if name.startswith("encoder") or ".cross_attn." in name:
        return shown.trace.src_tokens
    return shown.trace.read_tokens[: len(run.read_ids)]
