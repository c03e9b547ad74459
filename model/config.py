"""Configurations of a model, its data, its training and its decoding: frozen dataclasses with a JSON form.

Every class here is read with :func:`from_dict`, which rejects unknown keys, wrong types and values out of range.
The error message says what to do, because these files are edited by hand.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from model.nearest import nearest
from model.setting import ConfigError as ConfigError
from model.setting import check_ranges, check_type
from model.setting import setting as _help

FORMAT_VERSION = 1

PAD, SOS, EOS, UNK = 0, 1, 2, 3
SPECIALS = ("<pad>", "<sos>", "<eos>", "<unk>")

AttentionKind = Literal["encoder", "decoder", "cross"]
ATTENTION_KINDS: tuple[AttentionKind, ...] = ("encoder", "decoder", "cross")

UNTRAINED_TOKENIZERS = ("sentencepiece", "bytelevel")
"""Kinds of tokenizer that are not trained here; imported models bring them."""

FORMER_NAMES = {
    "max_tokens": "batch_tokens",
    "gradient_accumulation_steps": "accumulate",
    "average_checkpoints": "average",
}
"""Names that settings had in files, links and commands of earlier versions."""
FORMER_VALUES = {("schedule", "inverse_sqrt"): "warmup"}


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and switches of one model (Vaswani et al. 2017, "Attention Is All You Need", §3)."""

    src_vocab_size: int = _help("number of source token ids, specials included", default=0)
    tgt_vocab_size: int = _help("number of target token ids, specials included", default=0)
    architecture: Literal["transformer", "decoder", "lstm"] = _help(
        "model architecture; decoder = a Transformer without encoder and cross-attention, which continues its source",
        default="transformer",
    )
    separator: bool = _help(
        "architecture=decoder reads <eos> and <sos> between source and target; without them, it continues text",
        default=True,
    )
    d_model: int = _help("width of every token vector", default=128, least=1)
    d_ff: int = _help("width inside the feed-forward layers", default=256, least=1)
    n_encoder_layers: int = _help("encoder depth", default=2, least=1)
    n_decoder_layers: int = _help("decoder depth", default=2, least=1)
    n_encoder_heads: int = _help("attention heads per encoder layer", default=4, least=1)
    n_decoder_heads: int = _help(
        "attention heads per decoder layer, self- and cross-attention alike", default=4, least=1
    )
    dropout: float = _help("dropout on embeddings and on each sublayer's output (§5.4)", default=0.1, fraction=True)
    attention_dropout: float = _help("dropout on attention weights", default=0.0, fraction=True)
    activation_dropout: float = _help("dropout inside the feed-forward layers", default=0.0, fraction=True)
    activation: Literal["relu", "gelu", "gelu_tanh", "silu"] = _help("feed-forward non-linearity", default="relu")
    feed_forward: Literal["plain", "gated"] = _help(
        "gated: multiply the hidden units by a second projection", default="plain"
    )
    norm_first: bool = _help("pre-norm (True) or the paper's post-norm (False)", default=False)
    layer_norm: Literal["standard", "scalar", "rms"] = _help(
        "a scale and shift per dimension (standard), one of each for the whole layer (scalar), or a scale per "
        "dimension without subtracting the mean (rms)",
        default="standard",
    )
    norm_epsilon: float = _help("added to the variance before the root in each norm", default=1e-5, fraction=True)
    bias: bool = _help("add biases in the projections of attention and feed-forward layers", default=True)
    qkv_bias: bool = _help("biases in the projections to queries, keys and values even if bias=false", default=False)
    key_value_heads: int = _help(
        "heads with keys and values of their own, each shared by a group of heads in self-attention; 0 = every head",
        default=0,
        least=0,
    )
    head_width: int = _help("width of each attention head; 0 = d_model / heads", default=0, least=0)
    positions: Literal["sinusoidal", "learned", "rope", "alibi", "relative", "none"] = _help(
        "positional encoding: added to the embeddings (sinusoidal, learned), or in self-attention alone, as a rotation "
        "of queries and keys (rope), as a lower score for each step of distance (alibi), or as a learned number per "
        "head and range of distances (relative)",
        default="sinusoidal",
    )
    rope_base: float = _help("base of the wavelengths of positions=rope", default=10_000.0, least=1)
    rope_halves: bool = _help(
        "positions=rope rotates the first half of a head by its second, by angles in float32, as Llama does; without, "
        "neighbouring dimensions",
        default=False,
    )
    relative_buckets: int = _help("ranges of distances of positions=relative", default=32, least=4)
    relative_distance: int = _help("distance from which positions=relative tells no more apart", default=128, least=2)
    attention_gate: bool = _help("multiply the heads' outputs by a sigmoid gate that the query computes", default=False)
    max_positions: int = _help("longest sequence, in tokens with <sos>/<eos>", default=256, least=1)
    share_embeddings: Literal["none", "target", "all"] = _help(
        "one matrix for target embedding and output (target), for source too (all)", default="target"
    )
    causal: bool = _help("decoder rows see only themselves and earlier rows", default=True)
    scale_scores: bool = _help("divide attention scores by √d_head", default=True)
    scale_embeddings: bool = _help("multiply embeddings by √d_model", default=True)
    embedding_factor: float = _help(
        "multiply embeddings by this instead; 0 = as scale_embeddings says", default=0.0, least=0
    )
    residual: bool = _help("add each sublayer's input to its output", default=True)
    output_bias: bool = _help("add a number per target token to the logits, as Marian does", default=False)
    banned_tokens: tuple[int, ...] = _help("target ids that are never predicted, besides <pad> and <sos>", default=())
    first_token: int = _help("target id that every prediction begins with; 0 = none is set", default=0)
    norm_embeddings: bool = _help("layer norm on the sum of embedding and position, as in BART", default=False)

    def __post_init__(self) -> None:
        check_ranges(self)
        for name in ("n_encoder_heads", "n_decoder_heads"):
            if not self.head_width and self.d_model % getattr(self, name):
                raise ConfigError(
                    "d_model={d_model} does not divide into {name}={heads} equal heads; "
                    "choose a number of heads that divides d_model.",
                    d_model=self.d_model,
                    name=name,
                    heads=getattr(self, name),
                )
            if (
                self.key_value_heads
                and getattr(self, name) % self.key_value_heads
                and self.n_layers("encoder" if "encoder" in name else "decoder")
            ):
                raise ConfigError(
                    "key_value_heads={value} does not divide {name}={heads} into equal groups.",
                    value=self.key_value_heads,
                    name=name,
                    heads=getattr(self, name),
                )
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ConfigError(
                "d_model={d_model} is odd; sinusoidal positions need sine–cosine pairs.", d_model=self.d_model
            )
        if self.positions == "rope" and (self.d_head("encoder") % 2 or self.d_head("decoder") % 2):
            raise ConfigError(
                "rope rotates pairs of dimensions within a head, but a head of this model has an odd number of them; "
                "choose d_model as an even multiple of the numbers of heads."
            )
        if self.architecture == "lstm" and self.d_model % 2:
            raise ConfigError(
                "d_model={d_model} is odd; an LSTM's encoder reads with one half in each direction.",
                d_model=self.d_model,
            )
        if self.positions == "relative" and self.relative_distance <= self.relative_buckets // 2:
            raise ConfigError(
                "relative_distance={relative_distance} must be larger than half of "
                "relative_buckets={relative_buckets}.",
                relative_distance=self.relative_distance,
                relative_buckets=self.relative_buckets,
            )
        target_ids = (*self.banned_tokens, self.first_token)
        if not all(0 <= i < max(self.tgt_vocab_size, 1) for i in target_ids):
            raise ConfigError(
                "banned_tokens={banned_tokens} and first_token={first_token} "
                "must be ids of the {tgt_vocab_size} target tokens.",
                banned_tokens=list(self.banned_tokens),
                first_token=self.first_token,
                tgt_vocab_size=self.tgt_vocab_size,
            )
        shared = "architecture=decoder" if not self.has_encoder else "share_embeddings=all"
        if (self.share_embeddings == "all" or not self.has_encoder) and self.src_vocab_size != self.tgt_vocab_size:
            raise ConfigError(
                "{setting} needs one vocabulary for both sides, but the source has "
                "{src_vocab_size} ids and the target {tgt_vocab_size}.",
                setting=shared,
                src_vocab_size=self.src_vocab_size,
                tgt_vocab_size=self.tgt_vocab_size,
            )

    @property
    def has_encoder(self) -> bool:
        """Whether the model reads its source with an encoder; a decoder-only model has decoder self-attention alone."""
        return self.architecture != "decoder"

    @property
    def longest_source(self) -> int:
        """Most tokens of a source, without <eos>; a decoder-only model reads at least <sos> after it."""
        return self.max_positions - (1 if self.has_encoder else 2)

    def prompt(self, source: Sequence[int]) -> tuple[int, ...]:
        """The ids that a decoder-only model reads before its own first prediction, for source ids without <eos>."""
        return (*source, EOS, SOS) if self.separator else tuple(source) or (SOS,)

    def inputs(self, source: Sequence[int], path: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The ids that encoder and decoder read, for source ids without <eos> and what the decoder's rows predict."""
        if self.has_encoder:
            return (*source, EOS), (SOS, *path[:-1])
        return (), (self.prompt(source)[0], *path[:-1])

    @property
    def is_variant(self) -> bool:
        """Whether a Transformer differs from the paper's in some part; see :mod:`model.variants`."""
        parts = (self.layer_norm, self.norm_epsilon, self.feed_forward, self.bias, self.residual)
        return parts != ("standard", 1e-5, "plain", True, True) or self.has_attention_variant

    @property
    def has_attention_variant(self) -> bool:
        """Whether a Transformer's attention differs from the paper's; see :mod:`model.attention_variants`."""
        in_attention = self.positions in ("rope", "alibi", "relative")
        parts = not self.scale_scores or self.attention_gate or self.head_width > 0 or self.key_value_heads > 0
        return parts or in_attention

    def d_head(self, kind: AttentionKind) -> int:
        """Width of one head of this kind of attention."""
        return self.head_width or self.d_model // self.n_heads(kind)

    def key_value_width(self, kind: AttentionKind) -> int:
        """Width of all different keys of this kind of attention, side by side."""
        grouped = self.key_value_heads if kind != "cross" else 0
        return (grouped or self.n_heads(kind)) * self.d_head(kind)

    @property
    def kinds(self) -> tuple[AttentionKind, ...]:
        """The kinds of attention that the model has."""
        return tuple(kind for kind in ATTENTION_KINDS if self.n_layers(kind))

    def n_layers(self, kind: AttentionKind) -> int:
        """Number of layers with attention of this kind; an LSTM has one cross-attention layer and no other.

        A decoder-only model has no encoder and no cross-attention.
        """
        if self.architecture == "lstm":
            return 1 if kind == "cross" else 0
        if not self.has_encoder and kind != "decoder":
            return 0
        return self.n_encoder_layers if kind == "encoder" else self.n_decoder_layers

    def n_heads(self, kind: AttentionKind) -> int:
        """Heads per layer for attention of this kind."""
        if self.architecture == "lstm":
            return 1
        return self.n_encoder_heads if kind == "encoder" else self.n_decoder_heads


@dataclass(frozen=True)
class DataConfig:
    """The sentence pairs, and how their text is tokenised."""

    task: str = _help("task name, or 'files' for your own data", default="adjective-swap")
    src_lang: str = _help("language code of the source tokenizer", default="en")
    tgt_lang: str = _help("language code of the target tokenizer", default="en")
    tokenizer: Literal["words", "characters", "whitespace", "subwords", "sentencepiece", "bytelevel"] = _help(
        "kind of tokens; sentencepiece and bytelevel come only with imported models", default="words"
    )
    lowercase: bool = _help("lower-case text before tokenization", default=False)
    min_frequency: int = _help("rarer words become <unk>", default=1, least=1)
    vocab_size: int = _help("pieces of a subword vocabulary, shared by both sides", default=6000, least=1)
    split_seed: int = _help("seed of the train / validation / test split", default=0)

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True)
class TrainConfig:
    """Settings of one training run. All randomness derives from `seed`."""

    seed: int = _help("seed for initial weights, data order and dropout", default=1, least=0)
    max_steps: int = _help("total number of weight updates", default=2000, least=1)
    max_tokens: int = _help(
        "maximum number of source or target tokens in a batch, padding included", default=2048, least=1
    )
    gradient_accumulation_steps: int = _help("batches per weight update", default=1, least=1)
    optimizer: Literal["adam", "adamw"] = _help("which optimiser", default="adam")
    learning_rate: float = _help("peak learning rate", default=1e-3)
    schedule: Literal["inverse_sqrt", "constant", "cosine"] = _help(
        "after warm-up: inverse_sqrt = the paper's decay with 1/√step (§5.3)", default="inverse_sqrt"
    )
    warmup_steps: int = _help("updates until the peak rate", default=200, least=0)
    beta1: float = _help("Adam β1", default=0.9, fraction=True)
    beta2: float = _help("Adam β2", default=0.98, fraction=True)
    epsilon: float = _help("Adam ε", default=1e-9, least=0)
    weight_decay: float = _help("AdamW weight decay", default=0.0, least=0)
    label_smoothing: float = _help(
        "probability mass moved from the correct token to all tokens (§5.4)", default=0.1, fraction=True
    )
    consistency: Literal["none", "simcut", "rdrop"] = _help(
        "ask for one prediction from two noisy passes: token cutoff (simcut) or dropout alone (rdrop)", default="none"
    )
    consistency_weight: float = _help(
        "weight α of the divergence between the two (simcut 3, rdrop 5)", default=3.0, least=0
    )
    cutoff: float = _help("probability that simcut hides a token from the second pass", default=0.05, fraction=True)
    clip_norm: float = _help("gradient norm limit; 0 = off", default=1.0, least=0)
    eval_every: int = _help("updates between evaluations", default=200, least=1)
    log_every: int = _help("updates between log lines", default=20, least=1)
    save_every: int = _help("updates between saves of the resumable state", default=200, least=1)
    select_by: Literal["loss", "exact_match", "bleu"] = _help(
        "validation score that decides which weights are best; ties go to the lower loss", default="loss"
    )
    snapshots: int = _help("number of weight snapshots to keep during training; 0 = none", default=16, least=0)
    snapshot_megabytes: float = _help("maximum space for snapshots; a large model keeps fewer", default=64.0, least=0)
    bpe_dropout: float = _help("probability of skipping a BPE merge, drawn anew each epoch", default=0.0, fraction=True)
    patience: int = _help("evaluations without improvement before stopping; 0 = never stop early", default=0, least=0)
    stop_when_right: int = _help(
        "evaluations in a row with everything right before stopping; 0 = never stop for that", default=0, least=0
    )
    average_checkpoints: int = _help(
        "average the weights of the last k evaluations and score that mean; 0 = keep the best weights",
        default=0,
        least=0,
    )
    eval_sentences: int = _help("maximum number of validation sentences decoded per evaluation", default=500, least=1)

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.weight_decay and self.optimizer != "adamw":
            raise ConfigError("weight_decay needs optimizer=adamw; Adam has none.")
        if not 0 < self.learning_rate < math.inf:
            raise ConfigError("learning_rate={learning_rate} must be above 0.", learning_rate=self.learning_rate)


LengthPenalty = Literal["none", "mean", "gnmt"]

PairFault = Literal["long", "outlying", "garbled", "duplicates", "contradictory", "untranslated", "lengths", "scripts"]
"""What model.data.checks can find in sentence pairs and leave out."""


@dataclass(frozen=True)
class DecodeConfig:
    """How target tokens are chosen."""

    method: Literal["greedy", "beam", "sample"] = _help("search method", default="greedy")
    beam_size: int = _help("beam width", default=4, least=1)
    length_penalty: LengthPenalty = _help(
        "none = sum of log-probabilities; mean = sum / length^α; gnmt = sum / ((5+length)/6)^α", default="mean"
    )
    alpha: float = _help("exponent α of the length penalty", default=1.0)
    temperature: float = _help("below 1 sharpens, above 1 flattens (sampling)", default=1.0)
    top_k: int = _help("sample from the k most probable tokens; 0 = all", default=0)
    top_p: float = _help("sample from the most probable tokens with this total probability; 1 = all", default=1.0)
    max_length: int = _help(
        "maximum number of target tokens, <eos> included; 0 = from the source length", default=0, least=0
    )
    seed: int = _help("seed of sampling", default=0)

    def __post_init__(self) -> None:
        check_ranges(self)
        if not 0 < self.temperature < math.inf:
            raise ConfigError(
                "temperature={temperature} must be above 0; use method=greedy for the most probable token.",
                temperature=self.temperature,
            )
        if not 0 < self.top_p <= 1:
            raise ConfigError("top_p={top_p} must lie above 0 and not above 1.", top_p=self.top_p)
        if self.top_k < 0:
            raise ConfigError("top_k={top_k} must be 0 (all tokens) or more.", top_k=self.top_k)

    def length_limit(self, n_source_tokens: int, max_positions: int) -> int:
        """Maximum number of target tokens (<eos> included) for a source of this many tokens."""
        return min(self.max_length or 2 * n_source_tokens + 10, max_positions)


def own_search(search: Mapping[str, Any], config: DecodeConfig) -> DecodeConfig:
    """Beam search as a model's authors set it (`search` in config.json), with the other settings of `config`.

    Raises:
        ConfigError: the section is missing or has an invalid value.
    """
    if not search:
        raise ConfigError("this model has no search settings of its own; give the number of hypotheses with --beam.")
    return from_dict(DecodeConfig, {**to_dict(config), **search, "method": "beam"})


Config = TypeVar("Config", ModelConfig, DataConfig, TrainConfig, DecodeConfig)
# It evaluates every annotation, which takes a millisecond.
_type_hints: Callable[[type], dict[str, Any]] = functools.cache(typing.get_type_hints)


def to_dict(config: ModelConfig | DataConfig | TrainConfig | DecodeConfig) -> dict[str, Any]:
    """The configuration as a dictionary of JSON values."""
    return dataclasses.asdict(config)


def with_current_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings under the names and values of this version; unknown settings are left unchanged.

    Raises:
        ConfigError: a setting is given under both of its names.
    """
    names = {former: name for name, former in FORMER_NAMES.items()}
    current: dict[str, Any] = {}
    for key, value in settings.items():
        name = names.get(key, key)
        if name in current:
            raise ConfigError(
                "{former} is the former name of {name}; give only one of them.",
                former=FORMER_NAMES[name],
                name=name,
            )
        current[name] = next(
            (now for (setting, now), former in FORMER_VALUES.items() if (setting, former) == (name, value)), value
        )
    return current


def with_former_names(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings (text, as after `--set`) under the names and values of earlier versions."""
    return {FORMER_NAMES.get(name, name): FORMER_VALUES.get((name, value), value) for name, value in settings.items()}


def from_dict(cls: type[Config], values: Mapping[str, Any]) -> Config:
    """Build a configuration from JSON values; settings may use their former names.

    Raises:
        ConfigError: an unknown key (the message names the nearest), a wrong type, or a value out of range.
    """
    hints = _type_hints(cls)
    if cls is TrainConfig:
        values = with_current_names(values)
    for key, value in values.items():
        if key not in hints:
            raise ConfigError(
                "unknown setting '{key}' in {type}. {hint}", key=key, type=cls.__name__, hint=nearest(key, hints)
            )
        check_type(key, value, hints[key])
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    return cls(**given)


def parse_value(cls: type[Config], key: str, text: str) -> Any:
    """Read `text`, as typed on a command line, as a value of the field `key`."""
    kind = _type_hints(cls)[key]
    if kind is bool:
        try:
            return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[text.lower()]
        except KeyError:
            raise ConfigError("{key} is true or false, not '{text}'.", key=key, text=text) from None
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            if kind is int:
                raise ConfigError("{key} must be a whole number, not '{text}'.", key=key, text=text) from None
            raise ConfigError("{key} must be a number, not '{text}'.", key=key, text=text) from None
    check_type(key, text, kind)
    return text
