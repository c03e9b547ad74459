"""What the causal mask is for: lifted on a given target, lifted while decoding, and never there in training."""

from __future__ import annotations

import numpy as np
import streamlit as st

from explorer.figures import masks as figures
from explorer.figures.plotly_charts import Columns, numbered
from explorer.runs.lifecycle import Runs
from explorer.screens.masks.padded_sentences import reading, right_share, sentences
from explorer.text import plain
from explorer.translation.examples import examples_of
from explorer.translation.model_description import ModelDescription
from explorer.translation.translator import InputError, Translation
from explorer.web import runtime
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from explorer.web.run_metrics import metrics_of
from model.analysis.mask_effects import Spoken, Switches, last_look, say
from model.config import EOS, SOS, DecodeConfig
from model.folder import METRICS, CheckpointError
from model.trace import VISIBLE, future_mask

WITH, WITHOUT = "adjective-swap", "adjective-swap-unmasked"


def draw_target_tab(described: ModelDescription, shown: Translation) -> None:
    """The complete target given (teacher forcing), with the triangle closed or open."""
    lifted = st.toggle("Lift the causal mask", False, key="lift_mask", bind=URL)
    _, layer, head = choose_head(described, "lift", ("decoder",))
    found = sentences(shown, described.target)
    closed = reading(shown, found, Switches(), ("decoder", layer, head))
    opened = reading(shown, found, Switches(causal=False), ("decoder", layer, head))
    done, switches = (opened, Switches(causal=False)) if lifted else (closed, Switches())
    weights = done.recorder.weights("decoder")[layer, head]
    codes = found.codes("decoder", 0, switches)
    future = 100 * float(np.triu(weights, k=1).sum(axis=1).mean())
    left, right = st.columns([2, 3], gap="large")
    with left:
        told = f"Layer {layer + 1}, head {head + 1}: rows give {future:.0f} % of their attention to what comes later."
        title = "Decoder self-attention, " + ("mask lifted" if lifted else "masked")
        tokens = found.read_tokens[0]
        draw_plot(figures.weight_plot(weights, codes, "decoder", tokens, tokens, title, told), "lift_map")
    with right:
        columns: Columns = {
            "reads": numbered(found.read_tokens[0]),
            "must predict": list(found.label_tokens[0]),
            "masked (%)": [round(100 * float(p), 2) for p in closed.probabilities[0]],
            "lifted (%)": [round(100 * float(p), 2) for p in opened.probabilities[0]],
            "likeliest, lifted": [described.target.label(int(i)) for i in opened.likeliest[0]],
        }
        st.markdown("##### Probability of the right token")
        draw_table(columns, "The probability of the right token with the mask and without it")
        masked, bare = right_share(closed, found, 0), right_share(opened, found, 0)
        causal = described.model_config.causal
        st.caption(
            f"The right token gets {100 * masked:.1f} % on average with the mask and {100 * bare:.1f} % without it. "
            + (
                "This model learned with the mask: open cells show it rows in a state that it never met, which helps "
                "nothing. A model that learns without it is another matter: see 'Trained without it'."
                if causal
                else "This model learned without the mask: the next token stands one column to the right, it only has "
                "to copy it."
            )
        )


def draw_decoding_tab(described: ModelDescription, shown: Translation) -> None:
    """The same while decoding: nothing is there to see yet, unless the whole prefix is run again with an open mask."""
    target = described.target
    ids = (*shown.source.ids, EOS)
    version = runtime.fingerprint(shown.model)
    closed, opened = (_say(shown.model, version, ids, causal) for causal in (True, False))
    lifted = st.toggle("Lift the causal mask", False, key="decode_mask", bind=URL)
    spoken = opened if lifted else closed
    st.markdown(f"**{plain(target.decode(spoken.path)) or '(nothing)'}**")
    st.caption(
        "With kept keys and values a step has one query, the newest token, and all it can see is its past: there is no "
        "future to hide. Lifted, each step runs the whole prefix again and lets earlier rows look at later ones."
    )
    last = len(spoken.path)
    step = int(st.slider("Step", 1, last, last, key=f"decode_step_{last}", bind=URL)) if last > 1 else 1
    _, layer, head = choose_head(described, "decode", ("decoder",))
    read = (SOS, *spoken.path[: step - 1])
    with runtime.model(shown.model) as translator:
        weights = last_look(translator.loaded.transformer, ids, read, causal=not lifted)[layer, head]
    names = tuple(target.label(i) for i in read)
    codes = np.full(weights.shape, VISIBLE, dtype=np.uint8) if lifted else future_mask(len(read))
    left, right = st.columns([2, 3], gap="large")
    with left:
        title = f"What step {step} reads"
        told = f"Layer {layer + 1}, head {head + 1}: {len(read)} tokens read, the last row predicts the next one."
        draw_plot(figures.weight_plot(weights, codes, "decoder", names, names, title, told), "decode_map")
    with right:
        longest = max(len(closed.path), len(opened.path))
        columns: Columns = {"step": list(range(1, longest + 1))}
        for name, run in (("masked", closed), ("lifted", opened)):
            missing = longest - len(run.path)
            columns[name] = [*(target.label(i) for i in run.path), *[""] * missing]
            columns[f"{name} (%)"] = [
                *(round(100 * p, 2) for p in run.probabilities),
                *[None] * missing,
            ]
        st.markdown("##### Predicted token and its probability")
        draw_table(columns, "Each step with the mask and with the mask lifted")
        parts = next((i for i, (a, b) in enumerate(zip(closed.path, opened.path, strict=False)) if a != b), None)
        st.caption(
            "Step 1 is always the same: one token, no future. "
            + (f"The two part at step {parts + 1}." if parts is not None else "The two say the same tokens here.")
        )


def draw_pair_tab() -> None:
    """Two models that differ in the causal mask and in nothing else: the losses, the translations, the heads."""
    summaries = runtime.models()
    missing = [name for name in (WITH, WITHOUT) if name not in summaries]
    if missing:
        st.info(plain(f"The models trained with and without the mask come with the program; {missing[0]} is not here."))
        return
    runs = Runs(runtime.CHECKPOINTS)
    known = {
        "with the mask": metrics_of(runs, WITH) if (runs.folder(WITH) / METRICS).is_file() else None,
        "without it": metrics_of(runs, WITHOUT) if (runs.folder(WITHOUT) / METRICS).is_file() else None,
    }
    metrics = {name: found for name, found in known.items() if found is not None}
    left, right = st.columns(2, gap="large")
    with left:
        draw_plot(figures.loss_plot(metrics), "pair_loss")
    with right:
        draw_plot(figures.right_plot(metrics), "pair_right")
    prompts = [prompt.source for prompt in examples_of(summaries[WITH])]
    text = st.selectbox("Sentence", prompts, key="pair_text", bind=URL, accept_new_options=True) if prompts else None
    if not text:
        st.caption("Choose or type a sentence.")
        return
    _pair_at_work(text)


def _pair_at_work(text: str) -> None:
    try:
        good, bad = (runtime.translate(name, text, DecodeConfig()) for name in (WITH, WITHOUT))
    except (InputError, CheckpointError) as refused:
        st.info(plain(str(refused)))
        return
    described = runtime.describe(WITHOUT)
    # Both read the right translation (that of the model with the mask), as in training; the unmasked one as it learned.
    given = runtime.translate(WITHOUT, text, DecodeConfig(), good.path)
    target = sentences(given, described.target)
    masked_target = sentences(good, runtime.describe(WITH).target)
    cheat = reading(given, target, Switches(causal=False), ("decoder", 0, 0))
    honest = reading(good, masked_target, Switches(), ("decoder", 0, 0))
    columns: Columns = {
        "trained": ["with the mask", "without it"],
        "target given: right token (%)": [
            round(100 * right_share(honest, masked_target, 0), 2),
            round(100 * right_share(cheat, target, 0), 2),
        ],
        "on its own it says": [good.text, bad.text],
    }
    draw_table(columns, "What both models make of a given target, and what they say by themselves")
    weights = cheat.recorder.weights("decoder")  # [layer, head, query, key]
    ahead = np.diagonal(weights, offset=1, axis1=2, axis2=3).mean(axis=-1) if weights.shape[-1] > 1 else weights[..., 0]
    layer, head = np.unravel_index(int(ahead.argmax()), ahead.shape)
    left, right = st.columns([2, 3], gap="large")
    tokens = target.read_tokens[0]
    codes = target.codes("decoder", 0, Switches(causal=False))
    with left:
        told = (
            f"Trained without the mask, layer {layer + 1}, head {head + 1} looks one token ahead with "
            f"{100 * float(ahead[layer, head]):.0f} % of its attention: at the very token that it must predict."
        )
        plot = figures.weight_plot(weights[layer, head], codes, "decoder", tokens, tokens, "How it cheats", told)
        draw_plot(plot, "pair_map")
    with right:
        st.markdown("##### Why a class should not trust a loss")
        st.markdown(
            "In training the whole target lies in front of the decoder. Without the mask, row *t* can look at token "
            "*t* + 1, which is what it is asked for: it copies, and the loss falls as low as that of an honest model. "
            "When it translates, token *t* + 1 does not exist yet, and it has learned nothing else."
        )


@st.cache_resource(max_entries=128, show_spinner=False)
def _say(name: str, version: str, ids: tuple[int, ...], causal: bool) -> Spoken:
    del version  # part of the key only
    with runtime.model(name) as translator:
        return say(translator.loaded.transformer, ids, causal=causal)
