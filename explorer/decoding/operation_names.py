"""Titles, descriptions and order of the parts of a model and of their operations."""

from __future__ import annotations

import numpy as np

from explorer.decoding.labelled_map import SCORE, LabelledMap, token_map
from explorer.locale.messages import message, t, translated
from explorer.locale.text import count, listed
from model.analysis.operations import Operation, Recording
from model.config import AttentionKind, ModelConfig
from model.trace import FUTURE, VISIBLE

SOURCE, TARGET, OUTPUT = message("Source in"), message("Target in"), message("Prediction")

_OPERATIONS: dict[str, tuple[str, str]] = {
    "scaled": (
        message("× √d_model"),
        message("The vectors are scaled up, so that the position added next stays small beside them."),
    ),
    "q_proj": (
        message("Queries W_Q·x"),
        message("What each token asks for; the matrix holds the projections of all heads."),
    ),
    "k_proj": (message("Keys W_K·x"), message("What each token can be found by.")),
    "v_proj": (message("Values W_V·x"), message("What each token hands on when it is looked at.")),
    "query": (
        message("Queries, split into heads"),
        message("The result of each head's own projection of all d_model numbers."),
    ),
    "key": (
        message("Keys, split into heads"),
        message("In a decoding step, the cached keys of earlier steps come first."),
    ),
    "value": (
        message("Values, split into heads"),
        message("In a decoding step, the cached values of earlier steps come first."),
    ),
    "bias": (message("Position bias"), message("What a key gains or loses by its distance from the query.")),
    "scores": (message("Scores Q·Kᵀ / √d_head"), message("How well each query fits each key.")),
    "masked": (
        message("Mask"),
        message("Closed cells get the lowest possible number; mean and standard deviation leave them out."),
    ),
    "weights": (message("Softmax over keys"), message("Scores become shares: each row sums to 1.")),
    "output": (message("Weights · values"), message("Each query's mean of the values, weighted by its attention.")),
    "joined": (message("Heads joined (concatenation)"), message("The slices stand next to each other again.")),
    "gate": (
        message("Gate σ(W_G·x)"),
        message("How much of each number may pass, between 0 and 1, as the query's token decides."),
    ),
    "gated": (message("Heads × gate"), message("What the heads found, as far as the gate lets it pass.")),
    "out_proj": (message("Output projection W_O"), message("Mixes what the heads have found.")),
    "linear1": (message("Feed-forward W₁·x + b₁"), message("Each position on its own, into a wider space.")),
    "gate_proj": (message("Feed-forward gate W_g·x"), message("What multiplies each hidden unit; it is linear.")),
    "activation": (message("Activation"), message("Units below zero fall silent (ReLU), or nearly so (GELU, SiLU).")),
    "linear2": (message("Feed-forward W₂·h + b₂"), message("Back to d_model.")),
}
_TOP: dict[str, tuple[str, str]] = {
    "src.embedding": (message("Embedding lookup"), message("Each source token's row of a table.")),
    "tgt.embedding": (message("Embedding lookup"), message("Each target token's row of a table.")),
    "src.positions": (
        message("Add position (positional encoding)"),
        message("The row of the token's position is added."),
    ),
    "tgt.positions": (
        message("Add position (positional encoding)"),
        message("The row of the token's position is added."),
    ),
    "src.norm": (
        message("Layer norm (embedding)"),
        message("Some models, such as BART, normalise the sum before the first layer."),
    ),
    "tgt.norm": (
        message("Layer norm (embedding)"),
        message("Some models, such as BART, normalise the sum before the first layer."),
    ),
    "encoder.norm": (
        message("Last layer norm"),
        message("Pre-norm models end with one, since nothing normalised the sum."),
    ),
    "decoder.norm": (
        message("Last layer norm"),
        message("Pre-norm models end with one, since nothing normalised the sum."),
    ),
    "encoder.memory": (message("LSTM of the encoder"), message("The states of the encoder, in both directions.")),
    "decoder.initial": (message("First state"), message("Computed from the encoder's result at the first token.")),
    "decoder.states": (
        message("LSTM of the decoder"),
        message("The states of the decoder, one for each token that was read."),
    ),
    "decoder.combined": (message("Combine"), message("What attention has found and the state, mixed.")),
    "logits": (message("Output projection (logits)"), message("One score for every word of the target vocabulary.")),
    "softmax": (
        message("Softmax over the vocabulary"),
        message("Scores become probabilities; <pad> and <sos> can never be an answer."),
    ),
}
_NOT_ADDED = {
    "rope": message(
        "Nothing is added here: this model's positions turn the queries and keys of self-attention (RoPE)."
    ),
    "alibi": message("Nothing is added here: this model's self-attention lowers scores with the distance (ALiBi)."),
    "relative": message(
        "Nothing is added here: this model's self-attention adds a learned number per distance to the scores."
    ),
    "none": message("This model has no positions: nothing is added."),
}
_SUBLAYERS = {
    "encoder": (message("self-attention"), message("feed-forward")),
    "decoder": (message("self-attention"), message("cross-attention"), message("feed-forward")),
}


def parts(config: ModelConfig) -> tuple[str, ...]:
    """The parts of a model in order: source in, encoder layers, target in, decoder layers, prediction."""
    encoder = [f"Encoder {i}" for i in range(1, config.n_layers("encoder") + 1)]
    decoder = [f"Decoder {i}" for i in range(1, config.n_decoder_layers + 1)]
    return (*((SOURCE, *encoder) if config.has_encoder else ()), TARGET, *decoder, OUTPUT)


def part_of(name: str, config: ModelConfig) -> str:
    """The part in which an operation is shown."""
    if name == "encoder.norm":
        return f"Encoder {config.n_encoder_layers}"
    if name in ("decoder.norm", "logits", "softmax"):
        return OUTPUT
    first, rest = name.split(".", 1)
    if first in ("encoder", "decoder"):
        return f"{first.capitalize()} {int(rest.split('.')[0]) + 1}"
    return SOURCE if first == "src" else TARGET


def title_of_part(part: str) -> str:
    """The title of a part of the model."""
    stack, _, layer = part.partition(" ")
    if not layer.isdecimal():
        return translated(part)
    return t("Encoder {layer}", layer=layer) if stack == "Encoder" else t("Decoder {layer}", layer=layer)


def part_words(part: str, config: ModelConfig) -> str:
    """Explain what a part of the model does, in a sentence."""
    if part in (SOURCE, TARGET):
        return t("The tokens become vectors here, before the first layer reads them.")
    if part == OUTPUT:
        return t("The decoder's last vectors become a score and a probability for each target token.")
    if part.startswith("Encoder"):
        layer = t(
            "One encoder layer: in self-attention, source tokens look at each other; then a feed-forward network works "
            "on each token alone."
        )
    elif not config.has_encoder:
        layer = t(
            "One decoder layer: masked self-attention looks at the tokens read so far; then a feed-forward network "
            "works on each token alone."
        )
    elif config.causal:
        layer = t(
            "One decoder layer: masked self-attention looks at the tokens written so far, cross-attention at the "
            "source; then a feed-forward network works on each token alone."
        )
    else:
        layer = t(
            "One decoder layer: self-attention looks at the target, cross-attention at the source; then a feed-forward "
            "network works on each token alone."
        )
    return f"{layer} {t('Each result is added to its input.')}" if config.residual else layer


_FORMER_NAMES = {
    "src_embedding": "src.embedding",
    "src_embedding.scaled": "src.scaled",
    "positions_src": "src.positions",
    "tgt_embedding": "tgt.embedding",
    "tgt_embedding.scaled": "tgt.scaled",
    "positions_tgt": "tgt.positions",
    "output": "logits",
}


def name_from_link(name: str) -> str:
    """The operation that a link names; old links contain module paths."""
    return _FORMER_NAMES.get(name, name.replace(".layers.", "."))


def title_of(name: str, config: ModelConfig | None = None) -> str:
    """An operation's title; without `config`, in a model with an encoder."""
    if name in _TOP:
        return translated(_TOP[name][0])
    short = name.rsplit(".", 1)[-1]
    has_encoder = config is None or config.has_encoder
    sublayers = _SUBLAYERS.get(name.split(".")[0] if has_encoder else "encoder", ())
    if short.startswith("residual"):
        return t("Residual: x + {sublayer}", sublayer=translated(sublayers[int(short[-1]) - 1]))
    if short.startswith("norm"):
        return t("Layer norm ({sublayer})", sublayer=translated(sublayers[int(short[-1]) - 1]))
    title = translated(_OPERATIONS[short][0])
    return t("{title} (cross)", title=title) if ".cross_attn." in name else title


def meaning_of(name: str, config: ModelConfig) -> str:
    """Explain the purpose of an operation, in a sentence or two."""
    if name.endswith(".positions") and config.positions in _NOT_ADDED:
        return translated(_NOT_ADDED[config.positions])
    if name in _TOP:
        return translated(_TOP[name][1])
    short = name.rsplit(".", 1)[-1]
    if short.startswith("residual"):
        return t("The sublayer's input is added to its output, so that the sublayer only computes a change.")
    if short.startswith("norm"):
        where = (
            t("before the sublayer (pre-norm)")
            if config.norm_first
            else t("after the sum (post-norm, as in the paper)")
        )
        if config.layer_norm == "rms":
            return t(
                "Each position is brought to a root mean square of 1, then scaled (RMS norm); {where}.", where=where
            )
        return t(
            "Each position is brought to mean 0 and standard deviation 1, then scaled and shifted; {where}.",
            where=where,
        )
    if short in ("query", "key") and config.positions == "rope" and ".self_attn." in name:
        turned = t("Each pair of dimensions is turned by an angle that grows with the position.")
        return f"{translated(_OPERATIONS[short][1])} {turned}"
    return translated(_OPERATIONS[short][1])


def shape_words(operation: Operation) -> str:
    """The shape without the batch axis, which has size 1 here: 4 × 5 × 16."""
    return " × ".join(str(size) for size in operation.shape[1:])


def axes_of(operation: Operation) -> str:
    """The axes of an operation's result."""
    if operation.name in ("softmax", "logits"):
        return t("vocabulary") if len(operation.shape) == 2 else t("position × vocabulary")
    if operation.short in ("bias", "scores", "masked", "weights"):
        return t("head × query × key")
    if len(operation.shape) == 4:
        return t("head × position × d_head")
    if operation.short in ("linear1", "gate_proj", "activation"):
        return t("position × d_ff")
    return t("position × d_model")


def parameter_words(operation: Operation) -> str:
    """The number of parameters, or the operation that they are shared with."""
    if operation.parameters:
        return f"{operation.parameters:,}"
    return t("those of embedding lookup") if operation.shared_with else "–"


def read_words(operation: Operation, part: str, config: ModelConfig) -> str:
    """The operations that an operation reads, each with its part if that is a different one."""
    names = []
    for name in operation.reads:
        other = part_of(name, config)
        names.append(title_of(name, config) + (f" ({title_of_part(other)})" if other != part else ""))
    return listed(names) or t("token ids")


def run_summary(run: Recording) -> str:
    """Summarise the whole run in one sentence."""
    operations = list(run.operations.values())
    numbers = sum(operation.value.numel() for operation in operations)
    parameters = sum(operation.parameters for operation in operations)
    return t(
        "The whole run: {n} operation, {parameters} parameters, {numbers} numbers computed.",
        "The whole run: {n:,} operations, {parameters} parameters, {numbers} numbers computed.",
        n=len(operations),
        parameters=count(parameters),
        numbers=count(numbers),
    )


def operation_map(
    operation: Operation, head: int, rows: tuple[str, ...], keys: tuple[str, ...], first: int
) -> LabelledMap:
    """Map the scores or weights of a head (from 0), [query, key]; `first` is the position of the first query."""
    values = operation.numbers[head]
    codes = np.where(values <= np.finfo(np.float32).min, FUTURE, VISIBLE).astype(np.uint8)
    kind: AttentionKind = "cross" if ".cross_attn." in operation.name else "decoder"
    if operation.name.startswith("encoder."):
        kind = "encoder"
    title = t("Head {head}", head=head + 1)
    if operation.short == "weights":
        return token_map(kind, values, rows, keys, title, codes, first_row=first)
    return token_map(kind, values, rows, keys, title, codes, first_row=first, unit=SCORE, signed=True, top=None)
