"""The tab All operations: the operations of one part of the model as a diagram, and one operation in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer.browser.structs import WalkRow
from explorer.browser.walk import walk_view
from explorer.charts import model_internals as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.examples import opening_step
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import name_in_layer
from explorer.decoding.operation_names import (
    axes_of,
    meaning_of,
    name_from_link,
    parameter_words,
    part_of,
    parts,
    read_words,
    run_summary,
    shape_words,
    title_of,
)
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.locale.messages import t
from explorer.locale.text import plain, quoted
from explorer.web import address, runtime, session
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_caption, draw_numbers, draw_plot
from model.analysis.operations import Operation, Walk, walk
from model.config import ModelConfig

ONE, ALL = "this step", "all rows at once"


def choose_step(shown: Translation, key: str = "inside_step") -> int:
    """Draw the step slider; return the step, from 1 and shared with other pages, initially the one worth seeing."""
    last = len(shown.path)
    if last < 2:
        return 1
    trace = shown.trace
    # The session holds the step: the widget shows it and reports changes to it.
    here, widget = session.selection().step, f"{key}_{last}"
    summary = runtime.models().get(shown.model)
    st.session_state[widget] = min(here, last) if here else opening_step(summary, shown) if summary else last

    def label(step: int) -> str:
        reads, predicts = plain(trace.read_tokens[step - 1]), plain(trace.predicted_tokens[step - 1])
        return t("{step}: reads {reads}, predicts {predicts}", step=step, reads=reads, predicts=predicts)

    options = range(1, last + 1)
    step = st.select_slider(t("Step"), options, format_func=label, key=widget, on_change=_stepped, args=(widget,))
    return int(step)


def _stepped(widget: str) -> None:
    session.move(step=st.session_state[widget])


def walked(shown: Translation, step: int, *, whole: bool) -> Walk:
    """The recorded run of one step, computed once for all sessions."""
    return runtime.computed(shown.model, walk, shown.source.ids, shown.path, step, whole=whole)


def draw_computation_tab(shown: Translation, model: ModelDescription) -> None:
    """Draw the diagram of one part, and the operation chosen in it."""
    config = model.model_config
    left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    with left:
        step = choose_step(shown)
    with right:
        way = st.segmented_control(
            t("What is run"),
            [ONE, ALL],
            default=ALL,
            required=True,
            key="inside_way",
            bind=URL,
            help=t(
                "A decoding step reads one token; the keys and values of earlier ones are cached. In training all rows "
                "are read at once. Both give the same prediction."
            ),
        )
    run = walked(shown, step, whole=way == ALL)
    names = parts(config)
    label, key = t("Part of the model"), f"inside_part_{len(names)}"
    part = st.segmented_control(label, names, default="Encoder 1", required=True, key=key, bind=URL) or names[0]
    left, right = st.columns([9, 4], gap="small")
    with left:
        opened = _choose_operation(part, rows_of(run, part, config))
        norm = (
            t("{part}, pre-norm: the norm stands before each sublayer.", part=part)
            if config.norm_first
            else t("{part}, post-norm: after each sum.", part=part)
        )
        diagram = t(
            "A line leads from a result to the operation that reads it, and the last column names the rows; heavy "
            "lines are residual connections, filled dots have parameters. Choose an operation to open it."
        )
        draw_caption(f"{norm} {diagram}")
    with right:
        _open(model, shown, run, run[opened], config)
    draw_caption(run_summary(run))
    alt, fold = t("Every operation of the run"), t("Every operation in order, as a table")
    draw_numbers(_everything(run, config), alt, "inside_all", fold)


def _choose_operation(part: str, rows: Sequence[WalkRow]) -> str:
    """Draw the diagram; return the open operation, which the address names unless it is the first of its part."""
    asked = (address.OPERATION.asked() or address.OPERATION.written()).get("op", "")
    opened = walk_view(part, rows, key="inside_walk", asked=name_from_link(asked))
    address.OPERATION.write({"op": "" if opened == rows[0].name else opened})
    return opened


def rows_of(run: Walk, part: str, config: ModelConfig) -> list[WalkRow]:
    """The operations of one part as rows of the diagram, preceded by their inputs from other parts."""
    own = [operation for name, operation in run.operations.items() if part_of(name, config) == part]
    ours = {operation.name for operation in own}
    given = dict.fromkeys(name for operation in own for name in operation.reads if name not in ours)
    operations = [*(run[name] for name in given), *own]
    names = [operation.name for operation in operations]
    rows = []
    for operation in operations:
        name, is_own = operation.name, operation.name in ours
        reads = [names.index(each) for each in operation.reads if is_own]
        cells = [
            shape_words(operation),
            parameter_words(operation) if is_own else "",
            f"{operation.mean:.3f}",
            f"{operation.standard_deviation:.3f}",
            ", ".join(str(i + 1) for i in reads),
        ]
        title = title_of(name) if is_own else t("In: {part}", part=part_of(name, config))
        words = read_words(operation, part_of(name, config), config)
        learned = bool(operation.parameters or operation.shared_with)
        is_sum = is_own and operation.short.startswith("residual")
        rows.append(WalkRow(name, title, cells, words, reads, learned, is_sum, given=not is_own))
    return rows


def _everything(run: Walk, config: ModelConfig) -> Columns:
    operations = list(run.operations.values())
    return {
        t("order"): list(range(1, len(operations) + 1)),
        t("part"): [part_of(o.name, config) for o in operations],
        t("operation"): [title_of(o.name) for o in operations],
        t("shape"): [shape_words(o) for o in operations],
        t("axes"): [axes_of(o) for o in operations],
        t("parameters"): [o.parameters for o in operations],
        t("mean"): [round(o.mean, 4) for o in operations],
        t("standard deviation"): [round(o.standard_deviation, 4) for o in operations],
        t("reads"): [read_words(o, part_of(o.name, config), config) for o in operations],
        t("name in the code"): [o.name for o in operations],
    }


def _open(model: ModelDescription, shown: Translation, run: Walk, operation: Operation, config: ModelConfig) -> None:
    """Draw one operation: its purpose, its inputs and its output."""
    name, short, value = operation.name, operation.short, operation.numbers
    st.markdown(f"##### {plain(title_of(name))}")
    st.markdown(explained(meaning_of(name, config)))
    facts = t(
        "Reads {reads}. Writes {shape} ({axes}). Parameters: {parameters}. Mean {mean:.4f}, standard deviation "
        "{deviation:.4f}. In the code: {name}.",
        reads=read_words(operation, part_of(name, config), config),
        shape=shape_words(operation),
        axes=axes_of(operation),
        parameters=parameter_words(operation),
        mean=operation.mean,
        deviation=operation.standard_deviation,
        name=name,
    )
    draw_caption(facts)
    if name in ("logits", "softmax"):
        _open_scores(model, operation)
        return
    rows, first = rows_tokens(shown, run, name), first_position(run, name)
    keys = key_tokens(shown, run, name)
    if value.ndim == 3:
        head = _choose_head(value.shape[0])
        title, numbers = name_in_layer(head + 1).capitalize(), value[head]
        if short in ("scores", "masked", "weights"):
            plot = figures.matrix_plot(numbers, rows, keys, title, weights=short == "weights", first=first)
            draw_plot(plot, f"open_{short}")
        elif short in ("key", "value"):
            draw_plot(figures.activation_plot(numbers, keys, title, side="position (key)", first=1), "open_head")
        else:
            draw_plot(figures.activation_plot(numbers, rows, title, side="position (query)", first=first), "open_head")
        return
    if short in ("k_proj", "v_proj") and "cross" in name:
        rows, first = shown.trace.src_tokens, 1
    draw_plot(figures.activation_plot(value, rows, "", side="position", first=first), "open_plain")
    if short == "activation":
        draw_plot(figures.firing_plot(value, rows, first=first), "open_firing")
    elif table := figures.operation_table(run, operation, rows, first):
        draw_table(*table)


def _open_scores(model: ModelDescription, operation: Operation) -> None:
    """Draw the highest logits, or probabilities, with their tokens."""
    columns, n_tokens = figures.highest_values(operation, model.target.label), operation.shape[-1]
    draw_table(columns, t("The highest values of {n} token", "The highest values of {n:,} tokens", n=n_tokens))
    *_, numbers = columns.values()
    value = f"{numbers[0]:g} %" if operation.name == "softmax" else f"{numbers[0]:g}"
    token = quoted(columns["token"][0])
    st.caption(
        plain(t("{token} is first of {n:,} tokens, with {value}.", token=token, n=n_tokens, value=value)),
    )


def _choose_head(n_heads: int) -> int:
    """Draw the head selector; return the head, counted from 0."""
    if n_heads == 1:
        return 0
    label, heads = t("Head"), range(1, n_heads + 1)
    chosen = st.segmented_control(label, heads, default=1, required=True, key=f"inside_head_{n_heads}", bind=URL)
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
