"""The tabs Given target and Trained without it: a whole target read at once, with and without the causal mask."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.charts.plotly_charts import Columns
from explorer.decoding.cache import cached
from explorer.decoding.examples import examples_of, reference, references
from explorer.decoding.masked_reading import sentence_of
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import name_in_kind, numbered, title_in_kind
from explorer.decoding.translator import InputError, Translation
from explorer.locale.glossary import explained
from explorer.locale.messages import t
from explorer.locale.text import plain, two_decimals
from explorer.runs.lifecycle import Runs
from explorer.screens.masks.readings import masked_reading
from explorer.web import runtime
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_figure, draw_map, draw_table, table_height
from explorer.web.page_parts import URL, controls
from explorer.web.runs import metrics_of
from model.analysis.mask_effects import Switches, attention_to_future, most_ahead
from model.config import DecodeConfig
from model.folder import METRICS, CheckpointError

_MOST_ROWS = 16  # of the table that do not scroll
_SAME = 0.005  # probabilities that differ by less count as the same
REFERENCE = "given_reference"
_FOR = "given_reference_for"  # in the session: the sentence that the typed translation belongs to
WITH, WITHOUT = "adjective-swap", "adjective-swap-unmasked"


def draw_target_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw one decoder head, and the probability of each token of the right translation, with and without the mask."""
    answer = st.container()
    with controls("given"), st.container(horizontal=True, vertical_alignment="bottom"):
        translation, is_right = _with_target(translation, answer)
        _, layer, head = choose_head(model.model_config, "lift", ("decoder",))
        hint = t("Only the map changes; the table always has both.")
        lifted = st.toggle(t("Lift the causal mask"), False, key="lift_mask", bind=URL, help=hint)
    left, right = st.columns([5, 6], gap="medium")
    closed, opened = (
        masked_reading(translation.model, sentence_of(translation), Switches(causal=causal)) for causal in (True, False)
    )
    weights = (opened if lifted else closed).decoder[layer, head]
    tokens = closed.read_tokens
    token = t("right token") if is_right else t("model's own token")
    masked, bare = closed.probability_of_target, opened.probability_of_target
    causal = model.model_config.causal
    answer.markdown(explained(target_caption(masked, bare, causal=causal, token=token)))
    with left:
        caption = t(
            "{head}: rows give {share:.0f} % of their attention to later positions.",
            head=title_in_kind(layer + 1, head + 1),
            share=100 * attention_to_future(weights),
        )
        title = t("Decoder self-attention, mask lifted") if lifted else t("Decoder self-attention, masked")
        draw_map(closed.map("decoder", weights, title, Switches(causal=not lifted)), key="lift_map", prefix=caption)
    with right:
        probabilities = {t("masked (%)"): closed.probabilities, t("lifted (%)"): opened.probabilities}
        shares = {name: [round(100 * float(p), 4) for p in each] for name, each in probabilities.items()}
        texts = {name: [two_decimals(share) for share in each] for name, each in shares.items()}
        columns: Columns = {
            t("reads"): list(numbered(tokens)),
            t("must predict") if is_right else t("predicts"): list(closed.label_tokens),
            **shares,
            t("likeliest, lifted"): [model.target.label(int(i)) for i in opened.likeliest],
        }
        st.markdown(f"##### {t('Probability of the {token}', token=token)}")
        alt = t("The probability of the {token} with the mask and without it", token=token)
        height = table_height(len(tokens), _MOST_ROWS)
        draw_table(columns, alt, file="probabilities", texts=texts, height=height)


def _with_target(translation: Translation, place: DeltaGenerator) -> tuple[Translation, bool]:
    """Draw the field for the target; return the sentence with a target, and whether that is known to be right.

    Why a typed one is refused is said in `place`.

    The target is the typed one, else the one in the task's data, else the model's own translation.
    """
    text = translation.source.text
    if st.session_state.get(_FOR, text) != text:
        st.session_state[REFERENCE] = ""  # it was the translation of another sentence
    st.session_state[_FOR] = text
    right = reference(text, _references(translation.model, runtime.fingerprint(translation.model)))
    typed = st.text_input(
        t("The right translation"),
        key=REFERENCE,
        bind=URL,
        placeholder=right or t("unknown here: type it; until then, the model's own is used"),
        help=t("The target that the decoder is given. If empty: the one in the task's data, if there is one."),
    )
    target = (typed or right).strip()
    if not target:
        return translation, False
    try:
        return runtime.force(translation.model, text, target), True
    except InputError as refused:
        place.info(plain(str(refused)))
        return translation, False


@cached
def _references(name: str, version: str) -> dict[str, str]:
    del version  # part of the key only
    summary = runtime.models().get(name)
    return references(summary) if summary else {}


def target_caption(masked: float, bare: float, *, causal: bool, token: str) -> str:
    """The mean probability of the given tokens with and without the mask, and what it means.

    `causal` says whether the model was trained with the mask; `token` is "right token" or "model's own token".
    """
    first = t(
        "The {token} is given a probability of {masked:.1f} % on average with the mask and {bare:.1f} % without it.",
        token=token,
        masked=100 * masked,
        bare=100 * bare,
    )
    if causal:
        second = t(
            "This model was trained with the mask, so open cells give it an input that it never saw in training."
        )
    elif bare - masked > _SAME:
        second = t(
            "This model was trained without the mask: the next token stands one column to the right, and the model "
            "has learned to copy it."
        )
    else:
        second = t("This model was trained without the mask: yet open cells do not help with this target.")
    return f"{first} {second}"


def draw_pair_tab() -> None:
    """Draw two models that differ only in the causal mask: losses, translations, and the head that looks ahead."""
    from explorer.charts.training_curves import TRAINING_LOSS, comparison_figure  # altair, which the other tabs lack

    summaries = runtime.models()
    missing = [name for name in (WITH, WITHOUT) if name not in summaries]
    if missing:
        message = t(
            "The models trained with and without the mask come with the app, but {model} is not here.", model=missing[0]
        )
        st.info(plain(message))
        return
    pair = t(
        "This tab always compares two models, whatever model and sentence the sidebar names: {one} was trained with "
        "the mask, {other} without it; all else is the same.",
        one=WITH,
        other=WITHOUT,
    )
    st.caption(plain(pair))
    runs = Runs(runtime.CHECKPOINTS)
    metrics = {
        label: metrics_of(runs, name)
        for label, name in ((t("with the mask"), WITH), (t("without it"), WITHOUT))
        if (runs.folder(name) / METRICS).is_file()
    }
    left, right = st.columns(2, gap="large")
    with left:
        draw_figure(comparison_figure(metrics, TRAINING_LOSS))
    with right:
        draw_figure(comparison_figure(metrics, "exact_match"))
    examples = [example.source for example in examples_of(summaries[WITH])]
    label = t("Sentence")
    text = st.selectbox(label, examples, key="pair_text", bind=URL, accept_new_options=True) if examples else None
    if not text:
        st.caption(t("Choose or type a sentence."))
        return
    _draw_pair(text)


def _draw_pair(text: str) -> None:
    try:
        good, bad = (runtime.translate(name, text, DecodeConfig()) for name in (WITH, WITHOUT))
    except (InputError, CheckpointError) as error:
        st.info(plain(str(error)))
        return
    # Both read the right translation (that of the model with the mask), each with the masks that it was trained with.
    forced = runtime.translate(WITHOUT, text, DecodeConfig(), good.path)
    lifted = Switches(causal=False)
    cheat = masked_reading(WITHOUT, sentence_of(forced), lifted)
    honest = masked_reading(WITH, sentence_of(good), Switches())
    columns: Columns = {
        t("trained"): [t("with the mask"), t("without it")],
        t("target given: right token (%)"): [round(100 * run.probability_of_target, 2) for run in (honest, cheat)],
        t("on its own it says"): [good.text, bad.text],
    }
    draw_table(columns, t("Both models with a given target, and their own translations"), file="models")
    layer, head, share = most_ahead(cheat.decoder)
    left, right = st.columns([2, 3], gap="large")
    with left:
        caption = t(
            "Trained without the mask, {head} looks one token ahead with {share:.0f} % of its attention: at the very "
            "token that it must predict.",
            head=name_in_kind(layer + 1, head + 1),
            share=100 * share,
        )
        weights = cheat.map_ahead(cheat.decoder[layer, head], t("How it cheats"), lifted)
        draw_map(weights, key="pair_map", prefix=caption)
    with right:
        st.markdown(f"##### {t('Why a low loss is not enough')}")
        st.markdown(
            t(
                "In training the decoder reads the whole target at once. Without the mask, row *t* can look at token "
                "*t* + 1, which is the token that it must predict: it copies, and the loss falls as low as that of an "
                "honest model. When it translates, token *t* + 1 does not exist yet: what it has learned to copy is "
                "not there."
            )
        )
