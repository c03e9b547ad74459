"""The part Surgery of the Probe page: change heads, and see how the translation changes."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer.browser.role_grid import role_grid_view
from explorer.decoding.head_change import (
    WHOLE,
    Change,
    Changes,
    Kind,
    describe,
    for_any_sentence,
    to_link,
)
from explorer.decoding.names import index_name
from explorer.decoding.translator import InputError, Translation
from explorer.decoding.word_changes import changes_in_words, word_spans
from explorer.locale.messages import message, t, translated
from explorer.locale.text import capitalised, fixed, plain, quoted
from explorer.probing.edit_effect import (
    Effect,
    Means,
    Quality,
    effect_of,
    means_over,
    quality_of,
    quality_words,
    step_rows,
)
from explorer.probing.importance import SENTENCES
from explorer.probing.measured import Measured
from explorer.probing.random_heads import measure_random
from explorer.probing.role_grid import Place, role_grids
from explorer.probing.sample import subsample
from explorer.screens.probe.importance import measured_importance
from explorer.screens.probe.sample_choice import Subject
from explorer.web import changes_in_force, runtime
from explorer.web.figures import draw_table
from model.analysis.recorded_batches import Sample
from model.config import ATTENTION_KINDS, AttentionKind, DecodeConfig, ModelConfig
from model.edits import EditError, HeadEdits
from model.points import Head

SURGERY, EFFECT_PART = message("Surgery"), "probe_effect"  # this part; key and URL parameter of the choice of parts
CHOSEN = "✓"


def mark_words() -> dict[Kind, str]:
    """The word on the thumbnail of a changed head, by kind of change."""
    return {
        "zero": t("off"),
        "uniform": t("even"),
        "mean": t("mean"),
        "row": t("row"),
        "pattern": t("pattern"),
        "output": t("output"),
    }


def draw_surgery(subject: Subject, measured: Measured | None) -> None:
    """Draw the translation before and after the changes, the tools, and the effect by step and over the sample."""
    before = subject.translation()
    if before is None:
        return
    changes = changes_in_force.changes()
    effect = _draw_effect(subject, before, changes, measured)
    if changes:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(t("edited"), color="orange", icon=":material/content_cut:")
            st.markdown(t("**In force:** {changes}", changes=plain(describe(changes))))
    _draw_tools(subject.model.model_config, measured, changes)
    if effect is not None:
        _draw_steps(effect)
        _draw_sample(subject, changes, effect.edit, measured)


def _draw_effect(subject: Subject, before: Translation, changes: Changes, measured: Measured | None) -> Effect | None:
    """Draw the sentence before and after; return the effect, None without changes or after a message."""
    if not changes:
        st.markdown(t("Translation, unchanged: **{translation}**", translation=plain(before.text) or _nothing()))
        importance = None if measured is None else measured_importance(subject, measured)
        guess = t("Guess before you look: which words will change?")
        st.caption(plain(f"{guess} {importance.to_try()}" if importance else guess))
        return None
    if measured is None and any(change.op == "mean" for change in changes):
        st.info(t("A head's mean is taken over the sample, and there is none yet: measure first."))
        return None

    def means(heads: Sequence[Head]) -> Means:
        assert measured is not None
        part, wanted = subsample(measured.sample, SENTENCES), tuple(heads)
        return subject.compute(f"means {wanted}", lambda loaded: means_over(loaded, part, wanted))

    try:
        edit = changes_in_force.edits_of(subject.name, subject.text, changes, means) or HeadEdits()
        after = runtime.translate(subject.name, subject.text, DecodeConfig(), edit=edit)
        effect = subject.compute(
            f"effect {to_link(changes)} {subject.text}",
            lambda loaded: effect_of(loaded, before, after, edit),
        )
    except (EditError, InputError) as unfit:
        st.warning(plain(str(unfit)))
        return None
    _draw_translations(effect)
    return effect


def _draw_translations(effect: Effect) -> None:
    """Draw both sentences, one under the other; words that differ are struck through above and bold below."""
    if effect.before.path == effect.after.path:
        same = t("No word changes: {translation}", translation=plain(effect.before.text) or _nothing())
        st.markdown(f"**{same}**")
        return
    spans = word_spans(effect.before.text, effect.after.text)
    old = "".join(_marked(span.before, span.changed, "~~") for span in spans)
    new = "".join(_marked(span.after, span.changed, "**") for span in spans)
    st.markdown(t("Before: {old}  \nAfter (edited): {new}", old=old or _nothing(), new=new or _nothing()))
    changed, marked = t("The translation changes."), t("Words that differ are struck through above and bold below.")
    st.caption(plain(f"{changed} {changes_in_words(spans)} {marked}"))


def _nothing() -> str:
    return t("(nothing: the model ended at once)")


def _marked(words: str, changed: bool, sign: str) -> str:
    """Words as Markdown; changed ones are enclosed in `sign` and highlighted."""
    bare = words.rstrip()
    if not changed or not bare:
        return plain(words)
    return f":orange-background[{sign}{plain(bare)}{sign}]{words[len(bare) :]}"


def _draw_steps(effect: Effect) -> None:
    worst = max(effect.steps, key=lambda step: step.divergence)
    st.markdown(t("##### Step by step"))
    steps = t(
        "Over its {n} step the distribution of the next token changes by {mean} nats on average (KL divergence), "
        "most where the model predicts {predicts} after {reads} ({most}).",
        "Over its {n:,} steps the distribution of the next token changes by {mean} nats on average (KL divergence), "
        "most where the model predicts {predicts} after {reads} ({most}).",
        n=len(effect.steps),
        mean=fixed(effect.divergence, 3),
        predicts=quoted(worst.predicts),
        reads=quoted(worst.reads),
        most=fixed(worst.divergence, 3),
    )
    path = t("Along the path of the unchanged translation, so that both distributions follow the same words.")
    st.caption(plain(f"{steps} {path}"))
    draw_table(step_rows(effect), t("Every step before and after the change"), file="steps")


def _draw_sample(subject: Subject, changes: Changes, edit: HeadEdits, measured: Measured | None) -> None:
    st.markdown(t("##### Over the sample"))
    if measured is None:
        st.caption(t("There is no sample to measure the change on yet."))
        return
    whole = for_any_sentence(changes)
    if len(whole) < len(changes):
        st.caption(
            t(
                "Rows edited by hand and parts of other sentences apply to one sentence only, because others have "
                "other tokens, and usually not as many. They are left out here."
            )
        )
    if not whole:
        return
    part = subsample(measured.sample, SENTENCES)
    edits = HeadEdits(tuple(item for item in edit.edits if item.op in WHOLE))

    def quality(what: str, label: str, edit: HeadEdits | None) -> Quality | None:
        return subject.measure(
            what, label, lambda loaded, report: quality_of(loaded, part, measured.task, edit, report)
        )

    before = quality("quality", t("Scoring the whole model"), None)
    after = quality(f"quality {to_link(whole)}", t("Scoring the changed model"), edits)
    if before is None or after is None:
        return
    st.caption(
        plain(
            t(
                "Over {n} sentence: {change}.",
                "Over {n:,} sentences: {change}.",
                n=len(part),
                change=quality_words(before, after),
            )
        )
    )
    switched_off = [item.place for item in whole if item.op == "zero"]
    if len(switched_off) == len(whole):
        _draw_random(subject, part, switched_off, after.loss - before.loss)


def _draw_random(subject: Subject, part: Sample, heads: Sequence[Head], change: float) -> None:
    """Draw the control beside heads that are switched off: as many random ones, once its button has been pressed."""
    what, label = f"random {sorted(heads)}", t("Compare with as many random heads")
    if subject.asked(what, label):
        control = subject.measure(what, label, lambda loaded, report: measure_random(loaded, part, heads, report))
        if control is not None:
            st.caption(plain(t("The change of the loss with {random}.", random=control.beside(change))))


def _draw_tools(config: ModelConfig, measured: Measured | None, changes: Changes) -> None:
    """Draw all tools; each applies its changes at once."""
    chosen = [(kind, *place) for kind in ATTENTION_KINDS for place in _chosen(kind)]
    tools = st.container(horizontal=True, vertical_alignment="center")
    ops = {"zero": t("switch off (zero)"), "uniform": t("make uniform"), "mean": t("replace by mean")}
    op = tools.segmented_control(
        t("What to do with the chosen heads"),
        list(WHOLE),
        format_func=ops.__getitem__,
        default="zero",
        required=True,
        key="surgery_op",
        label_visibility="collapsed",
    )
    label = t("Change {n} head", "Change {n:,} heads", n=len(chosen)) if chosen else t("Choose heads first")
    tools.button(
        label,
        type="primary",
        key="surgery_do",
        disabled=not chosen,
        on_click=_put_heads,
        args=([Change(kind, layer + 1, head + 1, op) for kind, layer, head in chosen],),
    )
    undo, clear = changes_in_force.undo, changes_in_force.clear
    tools.button(t("Undo"), key="surgery_undo", disabled=not changes_in_force.can_undo(), on_click=undo)
    tools.button(t("Clear all"), key="surgery_clear", disabled=not changes, on_click=clear)
    _draw_choice_of_heads(config, measured)
    st.caption(
        t(
            "zero: the head adds nothing. uniform: it looks everywhere equally. mean: its output is always its average "
            "over the sample. A single row is changed in the machine on Inside: open a head there and drag one of its "
            "weights. All changes hold on Translate, Attention and Inside, too, until they are cleared; all else that "
            "Probe measures is of the unchanged model."
        )
    )


def _put_heads(new: list[Change]) -> None:
    """Apply the changes and clear the choice of heads, so that it does not apply to the next operation."""
    changes_in_force.put(new)
    for kind in ATTENTION_KINDS:
        if _names_key(kind) in st.session_state:
            st.session_state[_names_key(kind)] = []


def _draw_choice_of_heads(config: ModelConfig, measured: Measured | None) -> None:
    """Draw the thumbnails of all heads, where they have been measured, and the names of all heads."""
    if measured is not None:
        _draw_grids(measured, config)
        st.caption(
            plain(
                t(
                    "Click a thumbnail to choose the head ({mark}), and again to deselect it. Words on a thumbnail "
                    "say what is in force.",
                    mark=CHOSEN,
                )
            )
        )
    with st.expander(t("Choose heads by name"), expanded=measured is None):
        for kind, column in zip(config.kinds, st.columns(len(config.kinds)), strict=True):
            column.pills(
                capitalised(translated(kind)),
                _places(config, kind),
                selection_mode="multi",
                format_func=lambda place: index_name(*place),
                key=_names_key(kind),
            )


def _places(config: ModelConfig, kind: AttentionKind) -> list[Place]:
    """All heads of a kind, counted from 0."""
    return [(layer, head) for layer in range(config.n_layers(kind)) for head in range(config.n_heads(kind))]


def marks_of(kind: AttentionKind, changes: tuple[Change, ...], chosen: list[Place]) -> dict[Place, str]:
    """The words on the thumbnails of one kind: what is in force, and which heads are chosen."""
    words = mark_words()
    marks = {change.place[1:]: words[change.op] for change in changes if change.kind == kind and change.layer}
    return marks | {place: f"{CHOSEN} {marks.get(place, '')}".strip() for place in chosen}


def _draw_grids(measured: Measured, config: ModelConfig) -> None:
    chosen = {kind: _chosen(kind) for kind in config.kinds}
    marks = {kind: marks_of(kind, changes_in_force.changes(), chosen[kind]) for kind in config.kinds}
    role_grid_view(role_grids(measured, config, marks, chosen), key="surgery_grid", on_click=_toggle, choosing=True)


def _toggle(clicked: Head) -> None:
    """Choose the head that was clicked, or deselect it if it was chosen."""
    kind, layer, head = clicked
    chosen, place = _chosen(kind), (layer, head)
    others = [other for other in chosen if other != place]
    st.session_state[_names_key(kind)] = others if place in chosen else [*chosen, place]


def _chosen(kind: AttentionKind) -> list[Place]:
    """The chosen heads of a kind, counted from 0."""
    return list(st.session_state.get(_names_key(kind)) or ())


def _names_key(kind: AttentionKind) -> str:
    return f"surgery_heads_{kind}"
