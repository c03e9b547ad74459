"""Titles, explanations and formulas of the blocks in a model's diagram.

A formula is a tree that the browser sets as MathML (js/formula.js): a string is a symbol, and a list begins with the
arrangement of its parts: `row`, `sub` (subscript), `sup` (superscript), `frac` or `sqrt`. Symbols are those of
Vaswani et al. (2017).
"""

from __future__ import annotations

from explorer.browser.structs import Formula, MachinePart
from explorer.decoding.model_diagram import Block
from explorer.locale.messages import message, t, translated
from model.config import ModelConfig

_TITLES = {
    "embedding": message("Embedding"),
    "positions": message("Positions"),
    "norm": message("Layer norm"),
    "add": message("Add"),
    "feed_forward": message("Feed-forward"),
    "lstm": "LSTM",
    "initial": message("First state"),
    "combine": message("Combine"),
    "memory": message("Memory"),
    "linear": message("Linear"),
    "softmax": message("Softmax"),
    "word": message("Next word"),
}
_ATTENTION = {
    "encoder": message("Self-attention"),
    "decoder": message("Masked self-attention"),
    "cross": message("Cross-attention"),
}


def title_of(block: Block, config: ModelConfig) -> str:
    """The title of a block, without its layer."""
    if block.kind == "tokens":
        return (
            t("Source") if block.stack == "source" else t("Target so far") if config.has_encoder else t("Text so far")
        )
    if block.attention == "decoder" and not config.causal:
        return t("Self-attention")
    return translated(_ATTENTION[block.attention] if block.attention else _TITLES[block.kind])


def _sub(symbol: Formula, below: Formula) -> Formula:
    return ["sub", symbol, below]


def _sup(symbol: Formula, above: Formula) -> Formula:
    return ["sup", symbol, above]


def _row(*parts: Formula) -> Formula:
    return ["row", *parts]


_MODEL, _KEY = _sub("d", "model"), _sub("d", "k")
_TRANSPOSED = _sup("K", "T")
_PRODUCT = _row("Q", _TRANSPOSED)
_HEADS: tuple[Formula, ...] = ("Concat(", _sub("head", "1"), ",", "…", ",", _sub("head", "h"), ")")
_GATE: tuple[Formula, ...] = ("⊙", "σ(", "x", _sup("W", "G"), ")")


def words_of(block: Block, config: ModelConfig) -> str:
    """Explain what a block does, in a sentence or two."""
    source = block.stack in ("source", "encoder")
    if block.kind == "tokens":
        if source:
            return t(
                "The sentence is split into tokens; <eos> marks its end. Each has an id, its number in the vocabulary."
            )
        if not config.has_encoder:
            return t("The decoder reads the prompt, then every word up to now, and one word more in the next step.")
        return t(
            "The decoder reads the target so far: the start token <sos>, then every word up to now. In the next "
            "step it reads one word more."
        )
    if block.kind == "embedding":
        return _embedding_words(config)
    if block.kind == "positions":
        sines = config.positions == "sinusoidal"
        return t(
            "A vector for the position is added to each embedding ({how}), because attention alone does not know the "
            "order of the tokens. The picture shows the vectors that are added.",
            how=t("sines and cosines of the position") if sines else t("learned in training"),
        )
    if block.kind == "norm":
        return _norm_words(block, config)
    if block.kind == "attention":
        return _attention_words(block, config)
    if block.kind == "add":
        return t(
            "The sublayer's result is added to its input (residual connection): the sublayer only computes a change, "
            "and the vector itself passes by unchanged."
        )
    if block.kind == "feed_forward":
        return t(
            "Each token's vector passes through a small network of its own: from {d_model} numbers to {d_ff} and back. "
            "No token sees another one here.",
            d_model=config.d_model,
            d_ff=config.d_ff,
        )
    return _other_words(block, config)


def _embedding_words(config: ModelConfig) -> str:
    factor = config.embedding_factor or (config.d_model**0.5 if config.scale_embeddings and _paper(config) else 1.0)
    sentences = [
        t(
            "Each token is looked up in a table: its row, a vector of {d_model} numbers, stands for it.",
            d_model=config.d_model,
        )
    ]
    if factor != 1.0:
        sentences.append(t("Then it is multiplied by {factor:.4g}.", factor=factor))
    if config.positions in _NO_POSITION and (config.positions != "none" or _paper(config)):
        sentences.append(translated(_NO_POSITION[config.positions]))
    return " ".join(sentences)


_NO_POSITION = {
    "rope": message("No position is added: this model turns the queries and keys of self-attention instead (RoPE)."),
    "alibi": message("No position is added: this model lowers the scores of self-attention with the distance (ALiBi)."),
    "relative": message(
        "No position is added: this model adds a learned number per distance to self-attention's scores."
    ),
    "none": message("No position is added: this model has none."),
}


def _norm_words(block: Block, config: ModelConfig) -> str:
    if block.layer == 0 and block.stack in ("source", "target"):
        where = t("before the first layer, as in BART")
    elif block.layer == 0:
        where = t("at the end of the stack, since a pre-norm model normalises nothing on the way")
    else:
        where = (
            t("before the sublayer (pre-norm)")
            if config.norm_first
            else t("after the sum (post-norm, as in the paper)")
        )
    if config.layer_norm == "rms":
        return t(
            "Each token's vector is brought to a root mean square of 1, then scaled (RMS norm); {where}.", where=where
        )
    return t(
        "Each token's vector is brought to mean 0 and standard deviation 1, then scaled and shifted; {where}.",
        where=where,
    )


def _attention_words(block: Block, config: ModelConfig) -> str:
    if block.attention == "cross":
        text = t(
            "Each target token asks and the source tokens answer: queries come from the decoder, keys and values from "
            "the encoder's memory. This is where the decoder looks at the source, with {heads}.",
            heads=t("{n} head", "{n:,} heads", n=config.n_heads("cross")),
        )
    elif block.attention == "decoder":
        heads = t("{n} head", "{n:,} heads", n=config.n_heads("decoder"))
        if config.causal:
            text = t(
                "Each target token looks at itself and the tokens before it; the mask closes those that come later. "
                "Queries, keys and values come from the target ({heads}).",
                heads=heads,
            )
        else:
            text = t(
                "Each target token looks at all tokens written so far; this model was trained without the mask. "
                "Queries, keys and values come from the target ({heads}).",
                heads=heads,
            )
    else:
        text = t(
            "Each source token looks at all source tokens, itself too, and takes from them what fits. Queries, keys "
            "and values come from the source ({heads}).",
            heads=t("{n} head", "{n:,} heads", n=config.n_heads("encoder")),
        )
    if config.attention_gate:
        text += " " + t("A gate decides how much of the heads' result may pass.")
    return text


def _other_words(block: Block, config: ModelConfig) -> str:
    if block.kind == "lstm" and block.stack == "encoder":
        return t(
            "{n} layer of LSTM read the tokens one after the other, in both directions; each state depends on the one "
            "before, so the order needs no position.",
            "{n:,} layers of LSTM read the tokens one after the other, in both directions; each state depends on the "
            "one before, so the order needs no position.",
            n=config.n_encoder_layers,
        )
    if block.kind == "lstm":
        return t(
            "{n} layer of LSTM read the tokens one after the other; each state depends on the one before, so the order "
            "needs no position.",
            "{n:,} layers of LSTM read the tokens one after the other; each state depends on the one before, so the "
            "order needs no position.",
            n=config.n_decoder_layers,
        )
    if block.kind == "linear":
        text = t(
            "The last vector of the newest token is compared with one row for each of the {n:,} target tokens: a score "
            "(logit) for each.",
            n=config.tgt_vocab_size,
        )
        shared = config.share_embeddings != "none"
        return f"{text} {t('The rows are those of the target embedding.')}" if shared else text
    return {
        "initial": t("The decoder starts with a state that is computed from the encoder's result at the first token."),
        "combine": t(
            "The result of attention and the decoder's state are joined, multiplied by a matrix, and passed through "
            "tanh."
        ),
        "memory": t(
            "The encoder's result: one vector of {d_model} numbers for each source token. It is all that goes from the "
            "encoder to the decoder; cross-attention in each decoder layer makes keys and values from it.",
            d_model=config.d_model,
        ),
        "softmax": t("The scores become probabilities that sum to 1."),
        "word": t("The next word is chosen from these probabilities. In the next step the decoder reads it."),
    }[block.kind]


def _paper(config: ModelConfig) -> bool:
    """Whether the model is a Transformer, with or without encoder: its embeddings may be scaled and have positions."""
    return config.architecture != "lstm"


def formula_of(block: Block, config: ModelConfig) -> Formula:
    """The formula of a block, with the symbols of the paper."""
    if block.kind == "attention":
        return attention_formula(config)
    if block.kind == "embedding":
        scaled = _paper(config) and config.scale_embeddings and not config.embedding_factor
        factor = ["sqrt", _MODEL] if scaled else f"{config.embedding_factor:g}" if config.embedding_factor else ""
        return _row(_sub("x", "i"), "=", _sub("E", _sub("t", "i")), *(("·", factor) if factor else ()))
    if block.kind == "positions":
        if config.positions == "learned":
            return _row(_sub("x", "pos"), "+", _sub("P", "pos"))
        angle = ["frac", "pos", _sup("10000", _row("2i", "/", _MODEL))]
        return _row(
            _sub("PE", _row("(", "pos,", "2i", ")")), "=", "sin", "(", angle, ")", ",", " ",
            _sub("PE", _row("(", "pos,", "2i+1", ")")), "=", "cos", "(", angle, ")",
        )  # fmt: skip
    if block.kind == "feed_forward":
        inner = _row("x", _sub("W", "1"), *(("+", _sub("b", "1")) if config.bias else ()))
        name = config.activation.removesuffix("_tanh").upper()
        hidden = ["max(0, ", inner, ")"] if config.activation == "relu" else [f"{name}(", inner, ")"]
        gate = ("⊙", "x", _sub("W", "g")) if config.feed_forward == "gated" else ()
        return _row("FFN(x)", "=", *hidden, *gate, _sub("W", "2"), *(("+", _sub("b", "2")) if config.bias else ()))
    if block.kind == "norm" and config.layer_norm == "rms":
        spread: Formula = ["sqrt", _row("mean(", _sup("x", "2"), ")", "+", "ε")]
        return _row("RMSNorm(x)", "=", "γ", "·", ["frac", "x", spread])
    return _FORMULAS[block.kind]


_SPREAD: Formula = ["sqrt", _row(_sup("σ", "2"), "+", "ε")]
_EXPONENTIAL: Formula = _sup("e", _sub("z", "j"))
_FORMULAS: dict[str, Formula] = {
    "tokens": _row(_sub("t", "1"), ",", "…", ",", _sub("t", "n")),
    "norm": _row("LayerNorm(x)", "=", "γ", "·", ["frac", _row("x", "−", "μ"), _SPREAD], "+", "β"),
    "add": _row("x", "+", "Sublayer(x)"),
    "lstm": _row(_sub("h", "t"), "=", "LSTM(", _sub("x", "t"), ",", _sub("h", _row("t", "−", "1")), ")"),
    "initial": _row(_sub("h", "0"), "=", "tanh(", "W", _sub("m", "1"), "+", "b", ")"),
    "combine": _row("tanh(", "W", "[c; h]", ")"),
    "memory": _row("m", "=", "(", _sub("m", "1"), ",", "…", ",", _sub("m", "n"), ")"),
    "linear": _row("z", "=", "x", _sup("W", "T")),
    "softmax": _row(_sub("p", "i"), "=", ["frac", _sup("e", _sub("z", "i")), _row(_sub("Σ", "j"), _EXPONENTIAL)]),
    "word": _row(_sub("t", _row("n", "+", "1")), "∼", "p"),
}  # fmt: skip


def _scaled(config: ModelConfig) -> Formula:
    """The formula of the scores, before the mask."""
    return ["frac", _PRODUCT, ["sqrt", _KEY]] if config.scale_scores else _PRODUCT


def attention_formula(config: ModelConfig) -> Formula:
    """The formula of an attention block: all heads, concatenated and projected."""
    if not _paper(config):
        return _row("softmax", "(", _scaled(config), ")", "V")
    gate = _GATE if config.attention_gate else ()
    return _row("MultiHead(Q, K, V)", "=", _row(*_HEADS), *gate, _sup("W", "O"))


def parts_of(block: Block, config: ModelConfig) -> dict[str, MachinePart]:
    """Title, explanation and formula of each part of a block, by the last part of its point's name.

    The entry "head" is about the head as a whole. What follows the heads belongs to the block.
    """
    learned = _paper(config)
    query, key, value = _projection_words(block, config)
    nothing = (
        t("The mask closes later tokens: such a score becomes the lowest possible number, so that softmax gives it 0.")
        if block.attention == "decoder" and config.causal
        else t(
            "A closed score becomes the lowest possible number, so that softmax gives it 0. Only padding would be "
            "closed here, which fills up shorter sentences of a batch; a single sentence has none, so nothing changes."
        )
    )
    biased = config.positions in ("alibi", "relative") and block.attention != "cross"
    distance = ""
    if biased and config.positions == "relative":
        distance = t("The learned number for the distance is already added.")
    elif biased:
        distance = t("The penalty for the distance is already subtracted (ALiBi).")
    scaled = config.scale_scores
    head = (
        t(
            "One head: it takes its slices of the queries, keys and values, which are computed from whole vectors, "
            "and so has its own pattern of weights."
        )
        if learned
        else t("The only head: it compares the decoder's state with what the encoder has made of each token.")
    )
    gate = _GATE if config.attention_gate else ()
    bias = ["−", "m", "·", "|i − j|"] if biased else []
    if biased and config.positions == "relative":
        bias = ["+", _sub("b", "j − i")]
    softmax = _row("softmax", "(", _scaled(config), *bias, ")")
    product = t("How well each query fits each key: the product of the two vectors, number by number, added up.")
    divided = t(
        "Each product is divided by √d_head: sums of more products are larger, and without the division wider heads "
        "would have more one-sided weights for that reason alone."
    )
    mean = t("Each token receives the mean of the values, weighted by its row of weights.")
    joined = t("Concatenation: the results of all heads stand side by side again, one vector for each token.")
    mixed = t(
        "The joined vector times the learned matrix W_O. Until here each head had numbers of its own. Each number of "
        "this result is a sum over all numbers of all heads: so W_O mixes what the heads have found into one vector, "
        "which is then added to the token's."
    )
    return {
        "head": MachinePart(t("Head"), head, _row(_sub("head", "i"), "=", softmax, "V")),
        "query": MachinePart(t("Queries Q"), query, _projected("Q") if learned else _row("Q", "=", "h")),
        "key": MachinePart(t("Keys K"), key, _projected("K")),
        "value": MachinePart(t("Values V"), value, _projected("V") if learned else _row("V", "=", "m")),
        "product": MachinePart(t("Products Q·Kᵀ"), product, _PRODUCT),
        "scores": MachinePart(
            t("Scores ÷ √d_head") if scaled else t("Scores"),
            " ".join(filter(None, [divided if scaled else product, distance])),
            _row(_scaled(config), *bias),
        ),
        "masked": MachinePart(t("Mask"), nothing, _row(t("score"), "=", "−∞", f" {t('where closed')}")),
        "weights": MachinePart(t("Softmax"), t("The scores of each row become weights that sum to 1."), softmax),
        "output": MachinePart(t("Weighted values"), mean, _row(softmax, "V")),
        "joined": MachinePart(t("Concatenation"), joined, _row(*_HEADS)),
        "gated": MachinePart(
            t("Gate"), t("Each number is multiplied by its gate, between 0 and 1."), _row(*_HEADS, *_GATE)
        ),
        "out_proj": MachinePart(t("Output matrix W_O"), mixed, _row(*_HEADS, *gate, _sup("W", "O"))),
    }


def _projection_words(block: Block, config: ModelConfig) -> tuple[str, str, str]:
    """What the queries, keys and values of a block are computed from."""
    if not _paper(config):
        return (
            t("What this token looks for: the decoder's state itself, without a matrix."),
            t("What each token can be found by: its memory times the matrix W_K."),
            t("What each token passes on: the encoder's result itself, without a matrix."),
        )
    if block.attention == "cross":
        return (
            t("What this token looks for: its whole vector times the matrix W_Q; this head takes a slice."),
            t("What each token can be found by: its memory times the matrix W_K; this head takes a slice."),
            t(
                "What each token passes on if it is looked at: its memory times the matrix W_V; this head "
                "takes a slice."
            ),
        )
    value = t(
        "What each token passes on if it is looked at: its whole vector times the matrix W_V; this head takes a slice."
    )
    if config.positions == "rope":
        return (
            t(
                "What this token looks for: its whole vector times the matrix W_Q; this head takes a slice, and turns "
                "it by an angle that grows with the position (RoPE)."
            ),
            t(
                "What each token can be found by: its whole vector times the matrix W_K; this head takes a slice, and "
                "turns it by an angle that grows with the position (RoPE)."
            ),
            value,
        )
    return (
        t("What this token looks for: its whole vector times the matrix W_Q; this head takes a slice."),
        t("What each token can be found by: its whole vector times the matrix W_K; this head takes a slice."),
        value,
    )


def _projected(letter: str) -> Formula:
    """The formula of a projection, such as Q = x W_i^Q."""
    return _row(letter, "=", "x", _sup(_sub("W", "i"), letter))
