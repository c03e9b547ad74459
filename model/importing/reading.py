"""Read a model of any family: its settings, texts and search, and its weights under our names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from model.architectures import empty_transformer
from model.config import UNK, DataConfig, ModelConfig
from model.data.task import IMPORTED
from model.importing.config_keys import check_keys
from model.importing.families import FAMILIES
from model.importing.family import ACTIVATIONS, Family
from model.importing.languages import NO_LANGUAGES, Languages
from model.importing.source_folder import CONFIG, ImportFailed, SourceFolder
from model.importing.texts import Texts
from model.importing.translator import ImportedTranslator, read_search
from model.importing.weights import Ledger, Tables, use_tables
from model.positions import sinusoidal_table
from model.text.bytelevel import ByteLevelTokenizer
from model.wording import later

_IN_A_LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)\.(.+)\.(weight|bias)")
_UNUSED = re.compile(
    r"\.attn\.(attention\.)?(bias|masked_bias)$|\.rotary_emb\.inv_freq$"
    r"|\.embed_positions\.weights$|EncDecAttention\.relative_attention_bias\.weight$"
)
"""Masks, angles and computed positions in old files, and a bias of T5's that no model reads."""
REORDERED = "The ids of its tokens are in another order than in the imported files; its results are the same."
INTERLEAVED = (
    "The dimensions of its vectors are in another order than in the imported files (sine and cosine of a position side "
    "by side), and so are the ids of its tokens; its results are the same."
)
WITH_ONE_SPECIAL = (
    "The ids of its tokens are in another order than in the imported files, and its token of the end is "
    "there for padding and for the start as well; its results are the same."
)


def read_translator(folder: SourceFolder, languages: Languages = NO_LANGUAGES) -> ImportedTranslator:
    """Read a model of any supported family.

    Raises:
        ImportFailed: a part is missing, damaged, or cannot be computed; the message names it.
    """
    config = folder.json(CONFIG)
    if "format_version" in config:
        raise ImportFailed(
            "{name} is a model folder of this program; copy it into the checkpoints folder.", name=folder.name
        )
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ImportFailed(
            "{name} holds a model of type {family:.40}; this Transformer computes {families}. "
            "Its attention can be shown all the same: show(…) in a notebook, or the page 'Attention of another model'.",
            name=folder.name,
            family=repr(kind),
            families=", ".join(FAMILIES),
        )
    family = FAMILIES[kind]
    if languages != NO_LANGUAGES and not family.has_languages:
        raise ImportFailed(
            "{kind} models have no language tokens; import this one without --from and --to.", kind=family.name
        )
    check_keys(config, {*family.read, *family.ignored}, family.switches, family.name)
    settings = family.settings(config)
    built = _activation(family, settings) | family.build(settings)
    texts = family.texts(folder, settings, languages)
    alone = built.get("architecture") == "decoder"
    asked = {**config, "forced_bos_token_id": None} if alone else config
    search, banned, first, remarks = read_search(folder, asked, texts.target, language=texts.forced)
    ledger, tables, more = _opened(folder, family, settings, texts)
    has_bias = ledger.use("final_logits_bias") is not None
    model = ModelConfig(
        src_vocab_size=len(texts.source.rows),
        tgt_vocab_size=len(texts.target.rows),
        share_embeddings="target" if alone and tables.shared == "all" else tables.shared,  # type: ignore[arg-type]
        output_bias=has_bias,
        banned_tokens=tuple(sorted({*banned, UNK})) if alone else banned,
        first_token=first,
        **{name: getattr(settings, name) for name in family.sizes} | built,
    )
    order = interleaved(model.d_model) if family.interleaved else torch.arange(model.d_model)
    set_tables(ledger, tables, texts, order, one_side=alone)
    if has_bias:
        ledger.parameters["output.bias"] = _logits_bias(ledger, texts.target.rows)
    if family.computed_positions is not None:
        for side in ("src", "tgt"):
            ledger.parameters[f"positions_{side}.embedding.weight"] = family.computed_positions(model, settings)
    set_parameters(ledger, family, model, settings, order)
    if family.interleaved:
        check_positions(ledger, model.d_model)
    if family.has_scaled_logits(settings):
        ledger.parameters["decoder.norm.weight"].mul_(model.d_model**-0.5)
        remarks.append(
            "Its logits are scaled by 1/√d_model, which is part of the scale of the decoder's last norm here."
        )
    if model.max_positions < settings.max_positions:
        remarks.append(
            f"Some of its layers see the last {model.max_positions} tokens alone; it reads no longer texts here, "
            "so that every layer sees all of them."
        )
    check_all_used(ledger)
    tokenizer = "bytelevel" if isinstance(texts.sides[0], ByteLevelTokenizer) else "sentencepiece"
    source_lang, target_lang = texts.languages
    return ImportedTranslator(
        family=texts.family or family.name,
        model=model,
        data=DataConfig(task=IMPORTED, tokenizer=tokenizer, src_lang=source_lang, tgt_lang=target_lang),  # type: ignore[arg-type]
        source=texts.sides[0],
        target=texts.sides[1],
        parameters=ledger.parameters,
        search=search,
        licence=folder.licence() or family.licence,
        changes=WITH_ONE_SPECIAL if alone else INTERLEAVED if family.interleaved else REORDERED,
        remarks=(*texts.remarks, *ledger.remarks, *more, *remarks),
    )


def _activation(family: Family, settings: Any) -> dict[str, Any]:
    if "activation" not in family.sizes:
        return {}
    if settings.activation not in ACTIVATIONS:
        raise ImportFailed(
            "{config} has the activation {activation:.40}; known: {activations}.",
            config=CONFIG,
            activation=repr(settings.activation),
            activations=", ".join(ACTIVATIONS),
        )
    return {"activation": ACTIVATIONS[settings.activation]}


def _opened(
    folder: SourceFolder, family: Family, settings: Any, texts: Texts
) -> tuple[Ledger, Tables, tuple[str, ...]]:
    """The ledger of the weights, the tables in it, and remarks on them."""
    files, shared = folder.weights(), texts.source is texts.target
    ledger = Ledger(files, prefix=family.prefix)
    for name in [name for name in ledger.left if _UNUSED.search(name)]:
        ledger.use(name)
    tied = "lm_head.weight" not in ledger.names if family.tied_by_file else settings.tie_word_embeddings
    tables = use_tables(ledger, family.table or f"{family.prefix}shared", family.prefix, tied, one_vocabulary=shared)
    unused = [f"{name} is not used, since the model reads each side's own table." for name in tables.unused]
    return ledger, tables, tuple(unused)


def interleaved(d_model: int) -> Tensor:
    """The permutation of Marian's dimensions to ours: [sin … sin cos … cos] -> [sin cos sin cos …].

    A model does not change if the basis of its residual stream is permuted everywhere. This permutation turns Marian's
    positions, with all sines before all cosines, into those of the paper (§3.5), which we use.
    """
    half = d_model // 2
    return torch.stack((torch.arange(half), half + torch.arange(half)), dim=1).flatten()  # [pair, 2] -> [d_model]


def set_tables(ledger: Ledger, tables: Tables, texts: Texts, order: Tensor, *, one_side: bool) -> None:
    """Set embeddings and output projection, with rows and columns in our order.

    If the source's table holds the target's (see `with_own_specials`), both are one tensor in memory.

    Raises:
        ImportFailed: a table has fewer rows than its vocabulary.
    """
    wanted = {"tgt_embedding": (tables.target, texts.target.rows)}
    if tables.shared == "none":
        wanted["output"] = tables.output, texts.target.rows
    if tables.shared != "all" and not one_side:
        source = ledger.take_rows(tables.source, texts.source.rows, order)
        ledger.parameters["src_embedding.weight"] = source
        n_own = len(source) - len(texts.target.rows)
        if texts.source.rows[n_own:] == texts.target.rows and ledger.same(tables.source, tables.target):
            ledger.use(tables.target)
            ledger.parameters["tgt_embedding.weight"] = source[n_own:]
            del wanted["tgt_embedding"]
    for ours, (theirs, rows) in wanted.items():
        ledger.parameters[f"{ours}.weight"] = ledger.take_rows(theirs, rows, order)


def _logits_bias(ledger: Ledger, rows: Sequence[int]) -> Tensor:
    bias = ledger.take("final_logits_bias").flatten()
    if len(bias) <= max(rows):
        raise ImportFailed(
            "final_logits_bias has {numbers} numbers for {rows} tokens.", numbers=len(bias), rows=len(rows) - 1
        )
    return bias[list(rows)]


def set_parameters(ledger: Ledger, family: Family, model: ModelConfig, settings: Any, order: Tensor) -> None:
    """Set every parameter of a model that is not set yet; `order` permutes the dimensions of its residual stream.

    Raises:
        ImportFailed: a tensor is missing or has another shape.
    """
    expected = empty_transformer(model)
    aliases = expected.tied_names()
    for name, parameter in expected.state_dict().items():
        if name in ledger.parameters or name in aliases:
            continue
        shape = tuple(parameter.shape)
        in_a_layer = _IN_A_LAYER.fullmatch(name)
        if in_a_layer:
            stack, i, module, part = in_a_layer.groups()
            if part == "bias" and module in family.unbiased:
                ledger.parameters[name] = torch.zeros(shape)
                continue
            their = family.layer.format(stack=stack, i=i)
            theirs = [f"{their}{each}" for each in family.names[stack][module].split("|")]
            tensor = _read(ledger, family, [_with_part(each, part) for each in theirs], shape)
        else:
            module, _, part = name.rpartition(".")
            tensor = _read_outside(ledger, family, f"{family.others[module]}.{part}", module, shape, settings)
        if family.interleaved:
            of_stream = module.endswith(("out_proj", "linear2")) or "norm" in module
            tensor = tensor[order] if of_stream else tensor[:, order] if len(shape) == 2 else tensor
        ledger.parameters[name] = tensor.contiguous()


def _with_part(their: str, part: str) -> str:
    module, _, third = their.partition(":")
    return f"{module}.{part}:{third}"


def _read(ledger: Ledger, family: Family, theirs: Sequence[str], shape: tuple[int, ...]) -> Tensor:
    """The first tensor of these names that there is, or a third of it, which queries, keys or values are."""
    names = [each.partition(":") for each in theirs]
    name, _, third = next((each for each in names if each[0] in ledger.names), names[0])
    stored = (3 * shape[0], *shape[1:]) if third else shape
    turned = family.transposed and len(shape) == 2
    tensor = ledger.take(name, *(reversed(stored) if turned else stored))
    tensor = tensor.T if turned else tensor
    return tensor.chunk(3)[int(third)].clone() if third else tensor


def _read_outside(
    ledger: Ledger, family: Family, their: str, module: str, shape: tuple[int, ...], settings: Any
) -> Tensor:
    """A norm outside layers, or a table of positions without those that are skipped or never reached."""
    if not module.endswith("embedding") or "relative" in module:
        return ledger.take(their, *shape)
    first = family.skipped_positions
    return ledger.take(their, first + settings.max_positions, shape[1])[first : first + shape[0]]


def check_all_used(ledger: Ledger) -> None:
    """Check that every tensor was used.

    Raises:
        ImportFailed: one was not; the message names it.
    """
    if unused := sorted(ledger.left):
        raise ImportFailed(
            later(
                "{file} has a tensor that no part of this model takes: {unused}.",
                "{file} has {n:,} tensors that no part of this model takes, such as {unused}.",
                file=ledger.file,
                n=len(unused),
                unused=", ".join(unused[:3]),
            )
        )


def check_positions(ledger: Ledger, d_model: int) -> None:
    """Check that Marian's table of positions, if the file has one, is the sinusoidal table; it is not learned.

    Raises:
        ImportFailed: it is not.
    """
    for stack in ("encoder", "decoder"):
        name = f"model.{stack}.embed_positions.weight"
        if name not in ledger.names:
            continue
        stored = ledger.take(name)
        table = sinusoidal_table(len(stored), d_model).float()
        expected = torch.cat((table[:, 0::2], table[:, 1::2]), dim=1)  # sine halves, then cosine halves
        if stored.shape != expected.shape or not torch.allclose(stored, expected, atol=2e-3):
            raise ImportFailed("{name} is not the sinusoidal table that Marian's positions are.", name=name)
