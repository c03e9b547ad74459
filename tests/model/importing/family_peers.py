"""Small folders of M2M100, NLLB, mBART, Pegasus, T5 and mT5, as `transformers` writes them, with random weights."""

import functools
import json
from pathlib import Path
from typing import Any

import torch

from tests.model.importing.peer import TEXT, randomize, require, train_spm

LANGUAGES = {
    "m2m100": ("en", "de", "__en__", "__de__"),
    "nllb": ("eng_Latn", "deu_Latn", "eng_Latn", "deu_Latn"),
    "mbart": ("en_XX", "de_DE", "en_XX", "de_DE"),
    "mbart50": ("en_XX", "de_DE", "en_XX", "de_DE"),
}
"""The languages of source and target of each family, as they are asked for, and their tokens."""
SPM_FILE = {"pegasus": "spiece.model", "t5": "spiece.model", "mt5": "spiece.model"}
NLLB_CODES = ("ace_Arab", "deu_Latn", "eng_Latn", "zul_Latn")
_CLASSES = {
    "m2m100": ("M2M100Config", "M2M100ForConditionalGeneration", "M2M100Tokenizer"),
    "nllb": ("M2M100Config", "M2M100ForConditionalGeneration", "NllbTokenizer"),
    "mbart": ("MBartConfig", "MBartForConditionalGeneration", "MBartTokenizer"),
    "mbart50": ("MBartConfig", "MBartForConditionalGeneration", "MBart50Tokenizer"),
    "pegasus": ("PegasusConfig", "PegasusForConditionalGeneration", "PegasusTokenizer"),
    "t5": ("T5Config", "T5ForConditionalGeneration", "T5Tokenizer"),
    "mt5": ("MT5Config", "MT5ForConditionalGeneration", "T5Tokenizer"),
}


@functools.cache
def spm(family: str) -> bytes:
    """A toy .spm file with the special tokens and of the type that the family's own file has."""
    google = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1} if family in SPM_FILE else {}
    return train_spm(TEXT, vocab_size=110, model_type="bpe" if family in ("m2m100", "nllb") else "unigram", **google)


def tokenizer(family: str, folder: Path) -> Any:
    """The tokenizer that `transformers` makes of a folder with the family's files; they are written first."""
    name = SPM_FILE.get(family, "sentencepiece.bpe.model")
    (folder / name).write_bytes(spm(family))
    settings: dict[str, Any] = {}
    if family in LANGUAGES:
        settings = dict(zip(("src_lang", "tgt_lang"), LANGUAGES[family], strict=False))
    if family == "nllb":
        settings["extra_special_tokens"] = list(NLLB_CODES)
    if family == "m2m100":
        processor = require("sentencepiece").SentencePieceProcessor(model_proto=spm(family))
        pieces = [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
        names = {name: i for i, name in enumerate(("<s>", "<pad>", "</s>", "<unk>", *pieces))}
        (folder / "vocab.json").write_text(json.dumps(names), encoding="utf-8")
    made = getattr(require("transformers"), _CLASSES[family][2]).from_pretrained(folder, **settings)
    made.save_pretrained(folder)
    return made


def model(family: str, n_entries: int, *, untied: bool = False, seed: int = 0, **changes: Any) -> Any:
    """A model of a family in evaluation mode, with random numbers in everything that is learned or added."""
    transformers = require("transformers")
    settings: dict[str, Any] = {"vocab_size": n_entries + 3, "d_model": 32, "attn_implementation": "eager"}
    if family in ("t5", "mt5"):
        settings |= {"d_kv": 8, "d_ff": 48, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 4}
        settings |= {"decoder_start_token_id": 0}
    else:
        settings |= {"encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 2, "encoder_ffn_dim": 48}
        settings |= {"decoder_attention_heads": 4, "decoder_ffn_dim": 48, "max_position_embeddings": 64}
    config, kind = (getattr(transformers, name) for name in _CLASSES[family][:2])
    peer = kind(config(**(settings | changes)))
    if untied:
        peer.lm_head.weight = torch.nn.Parameter(peer.lm_head.weight.clone())

    def factor(name: str) -> float:
        if name == "shared.weight" and peer.config.tie_word_embeddings:
            return peer.config.d_model**0.5 / 6  # against the scaling of the logits
        # T5 does not divide scores by √d_head, so its queries are smaller.
        return float(peer.config.d_kv**-0.5) if name.endswith("Attention.q.weight") else 1.0

    return randomize(peer, seed, factor=factor)


def save(family: str, folder: Path, **changes: Any) -> Path:
    """The folder of a small model, as a person would have downloaded it."""
    folder.mkdir()
    entries = len(tokenizer(family, folder)) + (100 if family == "m2m100" else 0)  # M2M100's languages are not counted
    model(family, entries, **changes).save_pretrained(folder)
    return folder
