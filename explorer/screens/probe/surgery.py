"""The Probe page's Surgery tab: change heads, and see the translation change, step by step and over the sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.decoding.head_change import WHOLE, Changes, describe, for_any_sentence, to_link
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import InputError, Translation
from explorer.decoding.word_changes import changes_in_words, word_spans
from explorer.locale.text import plain, plural, quoted
from explorer.probing.edit_effect import Effect, effect_of, step_rows
from explorer.probing.importance import SENTENCES, progress_check
from explorer.probing.quality import Quality, quality_of, quality_words, subsample
from explorer.probing.reporting import Report
from explorer.probing.sample import Measured
from explorer.screens.probe.sample_choice import chosen
from explorer.screens.probe.surgery_tools import draw_tools
from explorer.web import changes_in_force, runtime
from explorer.web.figures import draw_table
from explorer.web.long_work import with_progress
from explorer.web.measurements import Key, store
from model.analysis.importance import batches_of, mean_outputs
from model.checkpoint import LoadedModel
from model.config import DecodeConfig
from model.edits import EditError, HeadEdits
from model.points import Head

_NOTHING = "(nothing: the model ended at once)"


def draw_surgery(described: ModelDescription, text: str, measured: Measured | None) -> None:
    """Draw the translation before and after the changes, then the tools, then the effect step by step and in all."""
    for problem in changes_in_force.problems():
        st.warning(plain(problem))
    try:
        before = runtime.translate(described.name, text, DecodeConfig())
    except InputError as nothing:
        st.info(plain(str(nothing)))
        return
    changes = changes_in_force.changes()
    made = _made(described, text, before, changes, measured)
    _draw_in_force(changes)
    draw_tools(described, before, measured)
    if made is not None:
        effect, edit = made
        _draw_steps(effect)
        _draw_sample(described, text, changes, edit, measured)
    _draw_log()


def _draw_in_force(changes: Changes) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if changes:
            st.badge("edited", color="orange", icon=":material/content_cut:")
        st.markdown(f"**In force:** {plain(describe(changes))}")
        st.button("Undo", key="surgery_undo", disabled=not changes_in_force.can_undo(), on_click=changes_in_force.undo)
        st.button("Clear all", key="surgery_clear", disabled=not changes, on_click=changes_in_force.clear)


def _made(
    described: ModelDescription, text: str, before: Translation, changes: Changes, measured: Measured | None
) -> tuple[Effect, HeadEdits] | None:
    """Draw the sentence before and after; return the effect and the edits, None without any or after a message."""
    if not changes:
        st.markdown(f"Translation, unchanged: **{plain(before.text) or _NOTHING}**")
        st.caption(
            "Choose heads and change them; the translation is then decoded again from its first word. Guess before you "
            "look: which words will change?"
        )
        return None
    try:
        edit = _edit_for(described, text, changes, measured)
        if edit is None:
            return None
        effect = _effect(described, text, changes, edit)
    except (EditError, InputError) as unfit:
        st.warning(plain(str(unfit)))
        return None
    _draw_translations(effect)
    changes_in_force.log_attempt(
        described.name,
        text,
        changes,
        before=effect.before.text,
        after=effect.after.text,
        **{"mean KL (nats)": round(effect.divergence, 4)},
    )
    return effect, edit


def _edit_for(described: ModelDescription, text: str, changes: Changes, measured: Measured | None) -> HeadEdits | None:
    """The edits; None, after a message on the page, if a mean is required and there is no sample."""
    averaged = [change.place for change in changes if change.op == "mean"]
    if averaged and measured is None:
        st.info("A head's mean is taken over the sample, and there is none yet: measure first.")
        return None

    def means(heads: Sequence[Head]) -> dict[Head, NDArray[np.float32]]:
        assert measured is not None
        wanted = tuple(heads)
        pairs = subsample(measured.sample, SENTENCES).pairs
        key = _key(described, f"means {wanted}")

        def make() -> dict[Head, NDArray[np.float32]]:
            with runtime.model(described.name) as translator:
                return mean_outputs(translator.loaded.transformer, pairs, wanted)

        return store().quick(key, make)

    return changes_in_force.edits_of(described.name, text, changes, means)


def _key(described: ModelDescription, what: str) -> Key:
    name = described.name
    return (what, name, runtime.fingerprint(name), chosen(name).key)


def _effect(described: ModelDescription, text: str, changes: Changes, edit: HeadEdits) -> Effect:
    key = _key(described, f"effect {to_link(changes)} {text}")
    name = described.name
    before, after = (runtime.translate(name, text, DecodeConfig(), edit=one) for one in (None, edit))

    def make() -> Effect:
        with runtime.model(name) as translator:
            return effect_of(translator, before, after, edit)

    return store().quick(key, make)


def _draw_translations(effect: Effect) -> None:
    """Both sentences, one under the other, with the words that differ struck through above and bold below."""
    spans = word_spans(effect.before.text, effect.after.text)
    old = "".join(_marked(span.before, span.changed, "~~") for span in spans)
    new = "".join(_marked(span.after, span.changed, "**") for span in spans)
    st.markdown(f"Before: {old or _NOTHING}  \nAfter (edited): {new or _NOTHING}")
    worst = max(effect.steps, key=lambda step: step.divergence)
    same = effect.before.path == effect.after.path
    st.caption(
        plain(
            f"The translation {'stays the same' if same else 'changes'}. "
            f"{'' if same else changes_in_words(spans) + ' '}"
            f"Over its {plural(len(effect.steps), 'step')} "
            f"the distribution of the next token changes by {effect.divergence:.3f} nats on average (KL divergence), "
            f"most where the model predicts {quoted(worst.predicts)} after {quoted(worst.reads)} "
            f"({worst.divergence:.3f}). Words that differ are struck through above and bold below. The change holds on "
            f"every page until it is cleared."
        )
    )


def _marked(words: str, changed: bool, sign: str) -> str:
    """Words as Markdown; changed ones between signs, on a ground of their own."""
    bare = words.rstrip()
    if not changed or not bare:
        return plain(words)
    return f":orange-background[{sign}{plain(bare)}{sign}]{words[len(bare) :]}"


def _draw_steps(effect: Effect) -> None:
    draw_table(
        step_rows(effect),
        "Every step before and after the change",
        file="steps",
        column_config={
            name: st.column_config.ProgressColumn(name, min_value=0.0, max_value=1.0, format="%.3f")
            for name in ("probability before", "probability after")
        },
    )
    st.caption("Along the path of the unchanged translation, so that both distributions follow the same words.")


def _draw_sample(
    described: ModelDescription, text: str, changes: Changes, edit: HeadEdits, measured: Measured | None
) -> None:
    st.markdown("##### Over the sample")
    if measured is None:
        st.caption("There is no sample to measure the change on yet.")
        return
    whole = for_any_sentence(changes)
    if len(whole) < len(changes):
        st.caption(
            "Rows edited by hand and parts of other sentences belong to one sentence: others have other tokens at "
            "these places, and as a rule not as many. They are left out here."
        )
    if not whole:
        return
    whole_edits = tuple(item for item in edit.edits if item.op in WHOLE)
    part = subsample(measured.sample, SENTENCES)
    steps = len(batches_of(part.pairs)) * 2

    def make(edits: HeadEdits | None, words: str) -> Callable[[Report], Quality]:
        def work(loaded: LoadedModel, report: Report) -> Quality:
            return quality_of(loaded, part, measured.task, edits, progress_check(report, steps, words))

        return partial(runtime.compute_in_parts, described.name, work)

    before = with_progress(_key(described, "quality"), make(None, "Scoring the whole model"), "Scoring the whole model")
    after = with_progress(
        _key(described, f"quality {to_link(whole)}"),
        make(HeadEdits(whole_edits), "Scoring the changed model"),
        "Scoring the changed model",
    )
    if before is None or after is None:
        return
    st.caption(plain(quality_words(before, after, len(part))))
    known: dict[str, Any] = {"loss change": round(after.loss - before.loss, 4)}
    if before.exact is not None and after.exact is not None:
        known["exact match change (points)"] = round(100 * (after.exact - before.exact), 1)
    if before.bleu is not None and after.bleu is not None:
        known["BLEU change"] = round(after.bleu - before.bleu, 1)
    if whole == changes:
        changes_in_force.log_attempt(described.name, text, changes, **known)


def _draw_log() -> None:
    if changes_in_force.log():
        st.markdown("##### Everything tried so far")
        draw_table(changes_in_force.log(), "Everything tried so far", file="tried")
