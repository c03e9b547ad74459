"""Small folders of GPT-2, GPT-Neo, OPT, Llama and Qwen2, as `transformers` and `tokenizers` write them."""

import functools
import json
from pathlib import Path
from typing import Any

from tests.model.importing.peer import TEXT, randomize, require

END = "<|endoftext|>"
_CLASSES = {
    "gpt2": ("GPT2Config", "GPT2LMHeadModel"),
    "gpt_neo": ("GPTNeoConfig", "GPTNeoForCausalLM"),
    "opt": ("OPTConfig", "OPTForCausalLM"),
    "llama": ("LlamaConfig", "LlamaForCausalLM"),
    "qwen2": ("Qwen2Config", "Qwen2ForCausalLM"),
}


@functools.cache
def library(family: str) -> Any:
    """A toy tokenizer of the `tokenizers` library, of the kind that the family's published models have."""
    tokenizers = require("tokenizers")
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

    made = tokenizers.Tokenizer(models.BPE())
    by_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=family != "qwen2")
    made.pre_tokenizer = by_bytes
    if family == "llama":  # as in SmolLM2
        made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), by_bytes])
    elif family == "qwen2":
        pattern = require("transformers.models.qwen2.tokenization_qwen2").PRETOKENIZE_REGEX
        cut = pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        made.pre_tokenizer = pre_tokenizers.Sequence([cut, by_bytes])
        made.normalizer = normalizers.NFC()
    made.decoder = decoders.ByteLevel()
    special = [END, "<|im_start|>"] if family != "opt" else ["<s>", "<pad>", "</s>"]
    lines = [line + mark for side in TEXT.values() for line in side for mark in (".", "!\n", " ?", ", “so”", " 1990's")]
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(lines * 3, trainer)
    made.post_processor = processors.ByteLevel(trim_offsets=False) if family != "llama" else None
    if family == "opt":
        made.post_processor = processors.TemplateProcessing(single="</s> $A", special_tokens=[("</s>", 2)])
    return made


def save_tokenizer(family: str, folder: Path) -> None:
    """Write tokenizer.json, or for OPT vocab.json and merges.txt, which is all that its published folders have."""
    made = library(family)
    if family != "opt":
        made.save(str(folder / "tokenizer.json"))
        return
    made.model.save(str(folder))
    names = made.get_vocab()
    (folder / "vocab.json").write_text(json.dumps(names), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"add_bos_token": true}', encoding="utf-8")


def model(family: str, *, seed: int = 0, **changes: Any) -> Any:
    """A model of a family in evaluation mode, with random numbers in everything that is learned."""
    transformers = require("transformers")
    end = 0 if family != "opt" else 2
    settings: dict[str, Any] = {
        "vocab_size": library(family).get_vocab_size() + 3,
        "attn_implementation": "eager",
        "bos_token_id": end,
        "eos_token_id": end,
    }
    if family == "gpt2":
        settings |= {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64}
    elif family == "gpt_neo":
        settings |= {"hidden_size": 32, "num_layers": 4, "num_heads": 4, "max_position_embeddings": 64}
        settings |= {"attention_types": [[["global", "local"], 2]], "window_size": 40}
    else:
        settings |= {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "max_position_embeddings": 64}
        settings |= {"pad_token_id": 1, "ffn_dim": 48} if family == "opt" else {"intermediate_size": 48}
        settings |= {"num_key_value_heads": 2} if family == "qwen2" else {}
        settings |= {"word_embed_proj_dim": changes.get("hidden_size", 32)} if family == "opt" else {}
    config, kind = (getattr(transformers, name) for name in _CLASSES[family])
    peer = kind(config(**(settings | changes)))
    # GPT-Neo does not divide scores by √d_head, so its queries are smaller.
    return randomize(peer, seed, factor=lambda name: 0.3 if family == "gpt_neo" and "q_proj" in name else 1.0)


def save(family: str, folder: Path, **changes: Any) -> Path:
    """The folder of a small model, as a person would have downloaded it."""
    folder.mkdir()
    save_tokenizer(family, folder)
    model(family, **changes).save_pretrained(folder)
    return folder
