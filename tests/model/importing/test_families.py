"""Imported encoder-decoders of all families compute what `transformers` computes, from ids to translations."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch

from model.checkpoint import load_model
from model.config import EOS, PAD, UNK, DecodeConfig
from model.decoding.decode import decode_batch
from model.importing.import_folder import import_folder
from model.importing.languages import Languages
from tests.model.importing import family_peers as peers
from tests.model.importing.peer import (
    PUBLISHED,
    SENTENCES,
    Batch,
    assert_computes_the_same,
    padded_batch,
    with_configurations,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_gradients")]

FAMILIES = ("m2m100", "nllb", "mbart", "mbart50", "pegasus", "t5", "t5 v1.1", "mt5")
MORE = ["ein Rad  auf\nder Bank", "über das Gras. Quizzes?"]
NORMALISED = "the man rides ﬁne ½ bikes"  # by the .spm file; `transformers` builds mBART's tokenizer without that


def configuration(family: str, seed: int) -> dict[str, Any]:
    """Random sizes and switches of a family; the first is an ordinary one."""
    if seed == 0:
        return {}
    if seed == PUBLISHED and family == "t5 v1.1":
        return {"d_model": 512, "d_kv": 64, "d_ff": 1024, "num_heads": 6, "num_layers": 8, "num_decoder_layers": 8}
    if seed == PUBLISHED and family in ("t5", "mt5"):
        return {"d_model": 768, "d_kv": 64, "d_ff": 2048, "num_heads": 12, "num_layers": 12, "num_decoder_layers": 12}
    if seed == PUBLISHED:
        layers = 16 if family == "pegasus" else 12
        sizes = {"layers": layers, "attention_heads": 16, "ffn_dim": 4096}
        return {"d_model": 1024} | {f"{side}_{key}": n for side in ("encoder", "decoder") for key, n in sizes.items()}
    draw = random.Random(f"{family} {seed}")
    if family.startswith(("t5", "mt5")):
        return {
            "d_model": draw.choice([16, 20, 32]),
            "d_kv": draw.choice([3, 4, 16]),
            "d_ff": draw.choice([17, 40]),
            "num_heads": draw.choice([1, 3, 6]),
            "num_layers": draw.randint(1, 3),
            "num_decoder_layers": draw.randint(1, 3),
            "relative_attention_num_buckets": draw.choice([4, 8, 32]),
            "relative_attention_max_distance": draw.choice([17, 128]),
            "layer_norm_epsilon": draw.choice([1e-6, 1e-3]),
            **({"feed_forward_proj": draw.choice(["relu", "gated-silu", "gated-gelu"])} if family != "t5" else {}),
        }
    return {
        "d_model": draw.choice([16, 24, 32]),
        "encoder_layers": draw.randint(1, 3),
        "decoder_layers": draw.randint(1, 3),
        "encoder_attention_heads": draw.choice([1, 2, 8]),
        "decoder_attention_heads": draw.choice([1, 2, 4]),
        "encoder_ffn_dim": (units := draw.choice([17, 40])),
        "decoder_ffn_dim": units,
        "scale_embedding": draw.random() < 0.5,
        "activation_function": draw.choice(["relu", "gelu", "gelu_new", "swish"]),
    }


class Pair:
    """A model in `transformers` and the same one imported, with the way from their ids to ours."""

    def __init__(self, folder: Path, family: str, seed: int) -> None:
        name, self.family = family.split()[0], family
        theirs = folder / "theirs"
        theirs.mkdir()
        self.tokenizer = peers.tokenizer(name, theirs)
        changes = configuration(family, seed)
        if family in ("t5 v1.1", "mt5"):
            changes = {
                "untied": seed % 2 == 0,
                "tie_word_embeddings": False,
                "feed_forward_proj": "gated-gelu",
            } | changes
        self.theirs = peers.model(
            name, len(self.tokenizer) + (100 if name == "m2m100" else 0), seed=max(seed, 0), **changes
        )
        asked = peers.LANGUAGES.get(name, ("", "", "", ""))
        config, codes = self.theirs.config, self.tokenizer.convert_tokens_to_ids(list(asked[2:]))
        self.codes, self.first = codes, codes[1] if asked[0] else None
        if name == "mbart":
            config.decoder_start_token_id, self.first = codes[1], None
        elif name == "mbart50":
            config.decoder_start_token_id = 2
        self.theirs.generation_config.decoder_start_token_id = config.decoder_start_token_id
        self.theirs.save_pretrained(theirs)
        pad, eos, unk = (getattr(self.tokenizer, f"{each}_token_id") for each in ("pad", "eos", "unk"))
        self.pad = pad
        special = {pad: PAD, eos: EOS, unk: UNK}
        rest = (i for i in range(config.vocab_size) if i not in special)
        target = special | {i: 4 + n for n, i in enumerate(rest)}
        source = target
        if name == "mbart":  # the source has special tokens of its own before the target's entries
            source = {i: 4 + n for i, n in target.items()} | {pad: PAD, codes[0]: EOS, unk: UNK}
        self.ids = {"source": source, "target": target}
        self.columns = [self.ids["target"][i] for i in range(config.vocab_size)]
        self.found = import_folder(theirs, folder / "ours", languages=Languages(*asked[:2]))
        self.ours = load_model(folder / "ours")

    def batch(self, *lengths: tuple[int, int]) -> Batch:
        """Random sources and targets of these lengths."""
        sides = self.ids["source"], self.ids["target"]
        return padded_batch(lengths, sides, (self.pad, self.pad), (None, self.theirs.config.decoder_start_token_id))


@pytest.fixture(
    scope="module",
    params=with_configurations(FAMILIES),
)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    with torch.inference_mode():
        return Pair(tmp_path_factory.mktemp("pair"), *request.param)


def test_ids_and_text_are_the_same(pair: Pair) -> None:
    for text in (*SENTENCES, *MORE, *([] if pair.family == "mbart" else [NORMALISED])):
        theirs = pair.tokenizer(text).input_ids
        encoding = pair.ours.source.encode(text)
        assert [pair.ids["source"][i] for i in theirs] == [*encoding.ids, EOS], text
        assert max(encoding.offsets)[1] <= len(text)
        assert encoding.words == tuple(sorted(encoding.words))
        known = [i for i in theirs if i not in (pair.tokenizer.unk_token_id, *pair.codes)]
        spelt = pair.tokenizer.decode(known, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert pair.ours.target.decode([pair.ids["target"][i] for i in known]).split() == spelt.split()


def test_one_table_of_the_file_is_one_in_memory(pair: Pair) -> None:
    source, target = (pair.found.parameters.get(f"{side}_embedding.weight") for side in ("src", "tgt"))
    if source is None:
        assert pair.ours.model_config.share_embeddings == "all"
    else:
        assert target.untyped_storage().data_ptr() == source.untyped_storage().data_ptr()


def test_logits_and_attention_of_a_padded_batch(pair: Pair) -> None:
    batch = pair.batch((12, 7), (4, 9), (2, 5))
    assert_computes_the_same(pair.theirs, pair.ours.transformer, batch, pair.columns)


def test_greedy_continuations_are_the_same_ids(pair: Pair) -> None:
    """Our search uses the fast steps of decoding; it begins with the language that was chosen."""
    theirs = pair.tokenizer(SENTENCES, return_tensors="pt", padding=True)
    rows = [[*pair.ours.source.encode(text).ids, EOS] for text in SENTENCES]
    src = torch.tensor([row + [PAD] * (max(map(len, rows)) - len(row)) for row in rows])
    # Without its cache, which needs as many layers in the encoder as in the decoder. Ours never predicts <pad>.
    settings: dict[str, Any] = {"num_beams": 1, "do_sample": False, "use_cache": False, "max_new_tokens": 12}
    settings["bad_words_ids"] = [[pair.pad]]
    expected = pair.theirs.generate(**theirs, **settings, forced_bos_token_id=pair.first, forced_eos_token_id=None)
    found = decode_batch(pair.ours.model, src, DecodeConfig(max_length=12))
    for row, (best, *_) in zip(expected.tolist(), found, strict=True):
        wanted = [pair.ids["target"][i] for i in row[1:]]
        wanted = wanted[: wanted.index(EOS) + 1] if EOS in wanted else wanted
        assert list(best.path)[: len(wanted)] == wanted
