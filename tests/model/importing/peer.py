"""Small MarianMT folders, as `transformers` and `sentencepiece` write them, with random weights everywhere."""

import functools
import importlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from model.config import ATTENTION_KINDS, PAD, SOS, UNK
from model.recording import AttentionRecorder
from model.transformer import Transformer

TEXT = {
    "en": [
        "a young man rides a small red bike",
        "two dogs run over the green grass",
        "the woman sits on a bench and reads",
    ],
    "de": ["ein junger Mann fährt auf einem roten Rad", "zwei Hunde laufen über das Gras", "die Frau sitzt und liest"],
}
LABELS = (">>deu<<", ">>fra<<")
SENTENCES = [
    "A young man rides a bike.",
    "Two dogs!",
    "The woman — “quietly” — reads on a bench, over the green grass; a dog runs.",
]


SIZES: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "attn_implementation": "eager",
}
PUBLISHED = -1  # stands among the seeds for the sizes of a published model


def with_configurations(families: Sequence[str]) -> list[Any]:
    """Each family with the seeds of its sizes: an ordinary model; random ones and a large one at night."""
    return [
        pytest.param((family, seed), id=f"{family}-{seed}", marks=[pytest.mark.nightly] if seed else [])
        for family in families
        for seed in (*range(5), PUBLISHED)
    ]


def require(name: str) -> Any:
    """A peer from tests/requirements.txt; without it, tests are skipped, except in CI."""
    if os.environ.get("CI") == "true":
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"needs {name}: pip install -r tests/requirements.txt")


Lengths = Sequence[tuple[int, int]]  # of source and target
Batch = tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]


def padded_batch(
    lengths: Lengths, sides: Sequence[Mapping[int, int]], pads: Sequence[int], first: Sequence[int | None]
) -> Batch:
    """Random sources and targets, in their ids and in ours; `sides` are our ids by theirs, `first` begin each row."""
    generator = torch.Generator().manual_seed(7)
    theirs, ours = [], []
    for n, (ids, pad, begin) in enumerate(zip(sides, pads, first, strict=True)):
        ordinary = torch.tensor([i for i, own in ids.items() if own > UNK])
        rows = torch.full((len(lengths), max(length[n] for length in lengths)), pad)
        for row, length in zip(rows, lengths, strict=True):
            row[: length[n]] = ordinary[torch.randint(len(ordinary), (length[n],), generator=generator)]
        if begin is not None:
            rows[:, 0] = begin
        theirs.append(rows)
        ours.append(torch.tensor([[ids[i] for i in row] for row in rows.tolist()]))
    ours[1][:, 0] = SOS
    return (theirs[0], theirs[1]), (ours[0], ours[1])


def difference(found: Tensor, expected: Tensor, most: float = 1e-5) -> float:
    """The largest difference of two tensors of one shape, which is at most `most`."""
    torch.testing.assert_close(found, expected, rtol=0, atol=most)
    return float((found - expected).abs().max())


def print_differences(logits: float, attention: float) -> None:
    """Print the figures of docs/other-models.md, which `-rP` shows with the id of each model."""
    print(f"largest differences: logits {logits:.1e}, attention {attention:.1e}")


def assert_computes_the_same(theirs: Any, ours: Transformer, batch: Batch, columns: list[int]) -> None:
    """Logits and the weights of all kinds agree within 1e-5 at every row that is no padding.

    `columns` are our ids in the order of theirs.
    """
    (their_src, their_tgt), (src, tgt) = batch
    real = tgt != PAD
    expected = theirs(
        input_ids=their_src,
        attention_mask=(src != PAD).long(),
        decoder_input_ids=their_tgt,
        decoder_attention_mask=real.long(),
        output_attentions=True,
    )
    recorder = AttentionRecorder()
    logits = ours(src, tgt, tap=recorder)[..., columns]
    assert expected.logits.std() > 0.1, "a test at tiny scale would be blind"
    largest = max(1.0, float(expected.logits.abs().max()))
    of_logits, of_weights = difference(logits[real], expected.logits[real], 1e-5 * largest) / largest, 0.0
    assert torch.equal(ours(src, tgt)[..., columns], logits), "recording changes nothing"
    for kind in ATTENTION_KINDS:
        rows = (src if kind == "encoder" else tgt) != PAD
        for layer, weights in enumerate(expected[f"{kind}_attentions"]):
            found = recorder.calls[kind, layer][0]
            assert found.shape == weights.shape
            for row, n in enumerate(rows.sum(-1).tolist()):
                of_weights = max(of_weights, difference(found[row, :, :n], weights[row, :, :n]))
    print_differences(of_logits, of_weights)


def train_spm(langs: Iterable[str], **options: Any) -> bytes:
    """A toy .spm file of the sentences of these languages."""
    buffer = io.BytesIO()
    lines = [line + mark for lang in langs for line in TEXT[lang] for mark in (".", "!", " ?", ", “so”")]
    require("sentencepiece").SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 3), model_writer=buffer, hard_vocab_limit=False, minloglevel=2, **options
    )
    return buffer.getvalue()


@functools.cache
def spm(lang: str, rule: str = "nmt_nfkc", model_type: str = "unigram") -> bytes:
    return train_spm([lang], vocab_size=60, model_type=model_type, normalization_rule_name=rule)


def pieces(lang: str) -> list[str]:
    """The pieces of a toy .spm file, control symbols left out."""
    processor = require("sentencepiece").SentencePieceProcessor(model_proto=spm(lang))
    return [processor.id_to_piece(i) for i in range(processor.get_piece_size()) if not processor.is_control(i)]


def vocabularies(*, separate: bool, labels: tuple[str, ...] = ()) -> list[dict[str, int]]:
    """vocab.json (and target_vocab.json): </s> first, <unk> in between, <pad> last, as in OPUS-MT."""
    sides = [pieces("en"), pieces("de")] if separate else [[*pieces("en"), *pieces("de")]]
    found = []
    for side in sides:
        plain = [piece for piece in dict.fromkeys(side) if piece not in ("<unk>", "</s>")]
        pad = ["<pad>"]  # last; of two vocabularies at one id, since config.json names only one
        names = [
            "</s>",
            *plain[:7],
            "<unk>",
            *labels,
            *(pad if separate else []),
            *plain[7:-3],
        ]  # three pieces are missing
        names += [] if separate else pad
        found.append({name: i for i, name in enumerate(names)})
    return found


def randomize(peer: Any, seed: int = 0, *, factor: Callable[[str], float] = lambda name: 1.0, end: float = 0.0) -> Any:
    """Random numbers in everything that is learned or added: biases, norms and the row of padding too.

    They are multiplied by a `factor` of the parameter's name; `end` makes the end of a sentence likelier. Returns the
    model in evaluation mode.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in peer.named_parameters():
            if "embed_positions" in name and not parameter.requires_grad:
                continue
            is_norm = "norm" in name or "ln_" in name
            scale = 0.3 if is_norm or name.endswith("bias") else 1.5 * parameter.shape[-1] ** -0.5
            shift = 1.0 if is_norm and name.endswith("weight") else 0.0
            parameter.copy_(shift + scale * factor(name) * torch.randn(parameter.shape, generator=generator))
        if hasattr(peer, "final_logits_bias"):
            peer.final_logits_bias.copy_(torch.randn(peer.final_logits_bias.shape, generator=generator))
            peer.final_logits_bias[..., peer.config.eos_token_id] += end
    return peer.eval()


def marian(
    *, separate: bool = False, labels: tuple[str, ...] = (), generation: dict[str, Any] | None = None, **changes: Any
) -> Any:
    """A MarianMT model in evaluation mode whose attention shows its weights."""
    transformers = require("transformers")
    vocabs = vocabularies(separate=separate, labels=labels)
    source, target = vocabs[0], vocabs[-1]
    settings: dict[str, Any] = SIZES | {
        "vocab_size": len(source),
        "decoder_vocab_size": len(target),
        "activation_function": "swish",
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": not separate,
        "pad_token_id": target["<pad>"],
        "decoder_start_token_id": target["<pad>"],
        "eos_token_id": 0,
        "forced_eos_token_id": 0,
    }
    peer = transformers.MarianMTModel(transformers.MarianConfig(**(settings | changes)))
    randomize(peer, end=7.0)
    bans = [[target["<pad>"]]]
    own = {"num_beams": 4, "bad_words_ids": bans, "renormalize_logits": True, "max_length": 40, "length_penalty": 1.0}
    for name, value in (own | (generation or {})).items():
        setattr(peer.generation_config, name, value)
    return peer


def save(
    peer: Any,
    folder: Path,
    *,
    separate: bool = False,
    labels: tuple[str, ...] = (),
    half: bool = False,
    lang: str = "en",
) -> Path:
    """Write the folder that a person would have downloaded."""
    vocabs = vocabularies(separate=separate, labels=labels)
    (peer.half() if half else peer).save_pretrained(folder)
    peer.float()
    for stack in (peer.model.encoder, peer.model.decoder):  # the table was rounded with the weights, but is not one
        stack.embed_positions.weight.data.copy_(stack.embed_positions.create_weight())
    for side, name in (("en", "source.spm"), ("de", "target.spm")):
        (folder / name).write_bytes(spm(side))
    names = ("vocab.json", "target_vocab.json")
    for name, vocab in zip(names, vocabs, strict=False):
        (folder / name).write_text(json.dumps(vocab), encoding="utf-8")
    settings = {"source_lang": lang, "target_lang": "de", "separate_vocabs": separate, "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


@functools.cache
def standard() -> Path:
    """A folder of an ordinary model, made once; tests copy what they change."""
    parent = Path(tempfile.mkdtemp(prefix="marian-"))
    return save(marian(generation={"num_beams": 6, "length_penalty": 0.8}), parent / "opus-mt-en-de")


@functools.cache
def multilingual() -> Path:
    """A folder of a model with target labels, made once."""
    parent = Path(tempfile.mkdtemp(prefix="marian-"))
    return save(marian(labels=LABELS), parent / "opus-mt-en-mul", labels=LABELS)


def copied(folder: Path) -> Path:
    return Path(shutil.copytree(standard(), folder))


def tokenizer(folder: Path) -> Any:
    """The tokenizer that `transformers` makes of a folder."""
    return require("transformers").MarianTokenizer.from_pretrained(folder)
