"""Read a model of any family: its settings, texts and search, and its weights under our names."""

from __future__ import annotations

import re
from typing import Any

import torch

from model.config import UNK, DataConfig, ModelConfig
from model.data.task import IMPORTED
from model.importing.families import ACTIVATIONS, FAMILIES
from model.importing.languages import NO_LANGUAGES, Languages
from model.importing.source_folder import CONFIG, ImportFailed, SourceFolder
from model.importing.translator import ImportedTranslator, read_search
from model.importing.weights import Ledger, check_positions, interleaved, set_parameters, set_tables

_UNUSED = re.compile(
    r"\.attn\.(attention\.)?(bias|masked_bias)$|\.rotary_emb\.inv_freq$"
    r"|\.embed_positions\.weights$|EncDecAttention\.relative_attention_bias\.weight$"
)
"""Masks, angles and computed positions in old files, and a bias of T5's that no model reads."""
_TURNED = ", and so are the dimensions of its vectors (sine and cosine of a position side by side)"
_ONE_SPECIAL = ", and its token of the end is there for padding and for the start as well"


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
    settings = family.settings(config)
    texts = family.texts(folder, settings, languages)
    if not family.has_encoder:
        config = {**config, "forced_bos_token_id": None}
    search, banned, first, remarks = read_search(folder, config, texts.target, language=texts.forced)
    ledger = Ledger(folder.weights(), prefix=family.prefix)
    for name in filter(_UNUSED.search, ledger.names):
        ledger.use(name)
    order = interleaved(settings.d_model) if family.interleaved else torch.arange(settings.d_model)
    tied = "lm_head.weight" not in ledger.names if family.tied_by_file else settings.tie_word_embeddings
    shared, of_tables = set_tables(ledger, family, texts, order, tied=tied)
    has_bias = ledger.use("final_logits_bias") is not None
    sizes: dict[str, Any] = {name: getattr(settings, name) for name in family.sizes}
    sizes |= {"d_ff": settings.d_ff or 4 * settings.d_model}
    sizes |= {"activation": ACTIVATIONS[settings.activation]} if "activation" in sizes else {}
    model = ModelConfig(
        src_vocab_size=len(texts.source.rows),
        tgt_vocab_size=len(texts.target.rows),
        share_embeddings=shared,  # type: ignore[arg-type]
        output_bias=has_bias,
        banned_tokens=banned if family.has_encoder else tuple(sorted({*banned, UNK})),
        first_token=first,
        **sizes | dict(family.model) | family.build(settings),
    )
    if has_bias:
        bias, rows = ledger.take("final_logits_bias").flatten(), list(texts.target.rows)
        if len(bias) <= max(rows):
            raise ImportFailed(
                "final_logits_bias has {numbers} numbers for {rows} tokens.", numbers=len(bias), rows=len(rows) - 1
            )
        ledger.parameters["output.bias"] = bias[rows]
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
    ledger.check_all_used()
    if ledger.n_halves:
        of_tables.insert(
            0, f"{ledger.n_halves} of {len(ledger.names)} tensors were stored with 16 bits a number and are 32 here."
        )
    more = _TURNED if family.interleaved else "" if family.has_encoder else _ONE_SPECIAL
    return ImportedTranslator(
        family=texts.family or family.name,
        model=model,
        data=DataConfig(
            task=IMPORTED,
            tokenizer=texts.sides[0].kind,  # type: ignore[arg-type]
            src_lang=texts.languages[0],
            tgt_lang=texts.languages[1],
        ),
        source=texts.sides[0],
        target=texts.sides[1],
        parameters=ledger.parameters,
        search=search,
        licence=folder.licence() or family.licence,
        changes=f"The ids of its tokens are in another order than in the imported files{more}; results are the same.",
        remarks=(*texts.remarks, *of_tables, *remarks),
    )
