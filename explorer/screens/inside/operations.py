"""The tab All operations: the operations of one part of the model as a table, and one operation in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer.charts import model_internals as figures
from explorer.charts.plotly_charts import Columns
from explorer.decoding.examples import opening_step
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.operation_names import (
    axes_of,
    meaning_of,
    name_from_link,
    operation_map,
    parameter_words,
    part_of,
    part_words,
    parts,
    read_words,
    run_summary,
    shape_words,
    title_of,
    title_of_part,
)
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.locale.messages import message, t
from explorer.locale.text import plain, quoted
from explorer.web import address, bound, runtime, session
from explorer.web.figures import draw_map, draw_table
from explorer.web.page_parts import URL, draw_caption, draw_plot
from model.analysis.operations import Operation, Recording, record
from model.config import ModelConfig

ONE_STEP, ALL_ROWS = message("this step"), message("all rows at once")


def choose_step(translation: Translation, key: str = "inside_step") -> int:
    """Draw the step slider; return the step, from 1 and shared with other pages, initially an instructive one."""
    last = len(translation.path)
    if last < 2:
        return 1
    trace = translation.trace
    # The session holds the step: the widget shows it and reports changes to it.
    here, widget = session.selection().step, f"{key}_{last}"
    summary = runtime.models().get(translation.model)
    st.session_state[widget] = min(here, last) if here else opening_step(summary, translation) if summary else last

    def label(step: int) -> str:
        reads, predicts = plain(trace.read_tokens[step - 1]), plain(trace.predicted_tokens[step - 1])
        if step <= translation.n_prompt:
            return t("{step}: reads {reads}, the prompt goes on: {next}", step=step, reads=reads, next=predicts)
        return t("{step}: reads {reads}, predicts {predicts}", step=step, reads=reads, predicts=predicts)

    options = range(1, last + 1)
    step = st.select_slider(t("Step"), options, format_func=label, key=widget, on_change=_stepped, args=(widget,))
    return int(step)


def _stepped(widget: str) -> None:
    session.move(step=st.session_state[widget])


def recorded_run(translation: Translation, step: int, *, whole: bool) -> Recording:
    """The model's run at one step, or over all rows (`whole`), with its operations; computed once for all sessions."""
    return runtime.computed(translation.model, record, translation.source.ids, translation.path, step, whole=whole)


def draw_computation_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw the operations of one part of the model, and the chosen operation in numbers."""
    config = model.model_config
    left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    with left:
        step = choose_step(translation)
    with right:
        extent = bound.segmented(
            t("What is run"),
            [ONE_STEP, ALL_ROWS],
            default=ALL_ROWS,
            key="inside_way",
            help=t(
                "A decoding step reads one token; the keys and values of earlier ones are cached. In training all rows "
                "are read at once. Both give the same prediction."
            ),
        )
    run = recorded_run(translation, step, whole=extent == ALL_ROWS)
    names = parts(config)
    label, key = t("Part of the model"), f"inside_part_{len(names)}"
    first = names[1]  # the first layer
    part = bound.segmented(label, names, default=first, key=key, title_of=title_of_part)
    draw_caption(part_words(part, config))
    operations = [operation for operation in run.operations.values() if part_of(operation.name, config) == part]
    left, right = st.columns([9, 7], gap="large")
    with left:
        opened = _choose_operation(part, [operation.name for operation in operations], config)
        draw_table(operation_columns(operations, config), t("The operations of this part, in order"), file="operations")
        norm = (
            t("{part}, pre-norm: the norm stands before each sublayer.", part=title_of_part(part))
            if config.norm_first
            else t("{part}, post-norm: after each sum.", part=title_of_part(part))
        )
        draw_caption(f"{norm} {run_summary(run)}")
    with right:
        _open(model, translation, run, run[opened], config)


def _choose_operation(part: str, names: Sequence[str], config: ModelConfig) -> str:
    """Draw the list of operations; return the chosen one, which the address names unless it is the first."""
    key = f"inside_operation_{part}"
    asked = address.OPERATION.asked()
    if asked or key not in st.session_state:
        name = name_from_link((asked or address.OPERATION.current()).get("op", ""))
        st.session_state[key] = name if name in names else names[0]
    opened: str = st.selectbox(t("Operation"), names, format_func=lambda name: title_of(name, config), key=key)
    address.OPERATION.write({"op": "" if opened == names[0] else opened})
    return opened


def operation_columns(operations: Sequence[Operation], config: ModelConfig) -> Columns:
    """Operations of one part with their shapes, numbers and inputs, as the columns of a table."""
    return {
        t("operation"): [title_of(o.name, config) for o in operations],
        t("shape"): [shape_words(o) for o in operations],
        t("parameters"): [o.parameters for o in operations],
        t("mean"): [round(o.mean, 4) for o in operations],
        t("standard deviation"): [round(o.standard_deviation, 4) for o in operations],
        t("reads"): [read_words(o, part_of(o.name, config), config) for o in operations],
        t("axes"): [axes_of(o) for o in operations],
        t("name in the code"): [o.name for o in operations],
    }


def _open(
    model: ModelDescription, translation: Translation, run: Recording, operation: Operation, config: ModelConfig
) -> None:
    """Draw one operation: its purpose, its inputs and its output."""
    name, short, value = operation.name, operation.short, operation.numbers
    st.markdown(f"##### {plain(title_of(name, config))}")
    st.markdown(explained(meaning_of(name, config)))
    facts = t(
        "Reads {reads}. Writes {shape} ({axes}). Parameters: {parameters}. In the code: {name}.",
        reads=read_words(operation, part_of(name, config), config),
        shape=shape_words(operation),
        axes=axes_of(operation),
        parameters=parameter_words(operation),
        name=name,
    )
    draw_caption(facts)
    if name in ("logits", "softmax"):
        _open_scores(model, operation)
        return
    rows, first = rows_tokens(translation, run, name), first_position(run, name)
    keys = key_tokens(translation, run, name)
    if value.ndim == 3:
        head = _choose_head(value.shape[0])
        title, numbers = t("Head {head}", head=head + 1), value[head]
        if short in ("scores", "masked", "weights"):
            draw_map(operation_map(operation, head, rows, keys, first), key=f"open_{short}", numbers=False)
        elif short in ("key", "value"):
            draw_plot(figures.activation_plot(numbers, keys, title, side=t("position (key)"), first=1), "open_head")
        else:
            draw_plot(
                figures.activation_plot(numbers, rows, title, side=t("position (query)"), first=first), "open_head"
            )
        return
    if short in ("k_proj", "v_proj") and "cross" in name:
        rows, first = translation.trace.src_tokens, 1
    draw_plot(figures.activation_plot(value, rows, "", side=t("position"), first=first), "open_plain")
    if short == "activation":
        draw_caption(figures.active_units(value))
    elif table := figures.operation_table(run, operation, rows, first):
        draw_table(*table, file="values")


def _open_scores(model: ModelDescription, operation: Operation) -> None:
    """Draw the highest logits, or probabilities, with their tokens."""
    columns, n_tokens = figures.highest_values(operation, model.target.label), operation.shape[-1]
    draw_table(
        columns,
        t("The highest values of {n} token", "The highest values of {n:,} tokens", n=n_tokens),
        file="highest-values",
    )
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


def rows_tokens(translation: Translation, run: Recording, name: str) -> tuple[str, ...]:
    """The tokens of the positions (queries) of an operation's result."""
    if name.startswith(("src.", "encoder.")):
        return translation.trace.src_tokens
    read = translation.trace.read_tokens[: len(run.read_ids)]
    return read if run.whole else read[-1:]


def first_position(run: Recording, name: str) -> int:
    """The position, counted from 1, of the first row of an operation's result; a single step has only the last row."""
    of_target = not name.startswith(("src.", "encoder."))
    return len(run.read_ids) if of_target and not run.whole else 1


def key_tokens(translation: Translation, run: Recording, name: str) -> tuple[str, ...]:
    """The tokens of the keys of an operation within attention."""
    if name.startswith("encoder") or ".cross_attn." in name:
        return translation.trace.src_tokens
    return translation.trace.read_tokens[: len(run.read_ids)]
