"""An imported BART model computes what `transformers` computes: logits, attention, translations, token ids."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from model.checkpoint import LoadedModel, load_model
from model.config import EOS, PAD, SOS, UNK, DecodeConfig
from model.decoding.decode import decode_batch, decode_recorded
from model.importing.import_folder import import_folder
from tests.model.importing import bart_peer, peer
from tests.model.importing.comparison import assert_same_computation

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "scaled, relu, deep encoder, fp16": {
        "scale_embedding": True,
        "activation_function": "relu",
        "encoder_layers": 3,
        "decoder_layers": 1,
        "half": True,
    },
    "a first token that is set": {"generation": {"forced_bos_token_id": 0}, "one_file": True},
    "untied, another start": {"tie_word_embeddings": False, "decoder_start_token_id": 0},
}


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


class Pair:
    """A model in `transformers` and the same one imported, with the way from their ids to ours."""

    def __init__(self, folder: Path, *, half: bool = False, one_file: bool = False, **settings: Any) -> None:
        self.half = half
        self.theirs = bart_peer.bart(**settings)
        self.source_folder = bart_peer.save(self.theirs, folder / "theirs", half=half, one_file=one_file)
        self.found = import_folder(self.source_folder, folder / "ours")
        self.ours: LoadedModel = load_model(folder / "ours")
        size = self.theirs.config.vocab_size
        special = {1: PAD, 2: EOS, 3: UNK}
        rest = [i for i in range(size) if i not in special]
        self.ids = special | {i: 4 + n for n, i in enumerate(rest)}

    def batch(self, *lengths: tuple[int, int]) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
        """Random sources and targets of these lengths, padded, in their ids and in ours."""
        generator = torch.Generator().manual_seed(7)
        theirs, ours = [], []
        for side in (0, 1):
            rows = torch.full((len(lengths), max(length[side] for length in lengths)), 1)
            for row, length in zip(rows, lengths, strict=True):
                row[: length[side]] = torch.randint(4, len(self.ids), (length[side],), generator=generator)
            rows[:, 0] = self.theirs.config.decoder_start_token_id if side else 0
            mapped = torch.tensor([[self.ids[i] for i in row] for row in rows.tolist()])
            if side:
                mapped[:, 0] = SOS
            theirs.append(rows)
            ours.append(mapped)
        return (theirs[0], theirs[1]), (ours[0], ours[1])

    def in_their_order(self, logits: torch.Tensor) -> torch.Tensor:
        """Our logits without <sos>, in the order of their ids."""
        return logits[..., [self.ids[i] for i in range(len(self.ids))]]


@pytest.fixture(scope="module", params=VARIANTS, ids=str)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    with torch.inference_mode():
        return Pair(tmp_path_factory.mktemp("pair"), **VARIANTS[request.param])


def test_logits_and_attention_of_a_padded_batch(pair: Pair) -> None:
    theirs, ours = pair.batch((9, 7), (4, 3), (2, 5))
    assert_same_computation(pair.ours, pair.theirs, theirs, ours, pair.in_their_order)
    assert pair.half == any("16 bits" in remark for remark in pair.found.remarks), "what was converted is said"


@pytest.mark.parametrize("beams", [1, 4])
def test_translations_are_the_same_ids(pair: Pair, beams: int) -> None:
    """From text: tokenized by each side's own tokenizer, searched by its own search."""
    tokenizer = bart_peer.tokenizer()
    theirs = tokenizer(peer.SENTENCES, return_tensors="pt", padding=True)
    expected = pair.theirs.generate(**theirs, num_beams=beams, do_sample=False, max_length=40)
    rows = [[*pair.ours.source.encode(text).ids, EOS] for text in peer.SENTENCES]
    for row, ours in zip(theirs.input_ids.tolist(), rows, strict=True):
        assert [pair.ids[i] for i in row if i != 1] == ours
    src = torch.tensor([row + [PAD] * (max(map(len, rows)) - len(row)) for row in rows])
    search = pair.found.search
    config = DecodeConfig(
        method="beam" if beams > 1 else "greedy",
        beam_size=beams,
        length_penalty=search.length_penalty,
        alpha=search.alpha,
        max_length=39,
    )
    finished = 0
    for row, hypotheses in zip(expected.tolist(), decode_batch(pair.ours.model, src, config), strict=True):
        wanted = [pair.ids[i] for i in row[1:] if i != 1]
        best = hypotheses[0]
        assert list(best.path)[:38] == wanted[:38]
        if best.finished:
            text = tokenizer.decode(row[1:], skip_special_tokens=True, clean_up_tokenization_spaces=False)
            assert pair.ours.target.decode(best.tokens) == text
            finished += 1
    assert finished, "no sentence ended, so nothing was compared"


def test_a_first_token_that_is_set_is_predicted_for_certain(pair: Pair) -> None:
    encoding = pair.ours.source.encode(peer.SENTENCES[0])
    decoded = decode_recorded(pair.ours.model, encoding, pair.ours.target, DecodeConfig(max_length=4))
    is_set = pair.theirs.generation_config.forced_bos_token_id is not None
    assert is_set == any("begins with <s>" in remark for remark in pair.found.remarks)
    if is_set:
        assert decoded.trace.predicted_tokens[0] == "<s>"
        assert decoded.trace.probabilities[0] == 1
        assert decoded.trace.top_probabilities[0][0] == 1
    assert decoded.trace.src_tokens[0] == "<s>"


def test_a_model_saved_without_its_output_projection(tmp_path: Path) -> None:
    theirs = bart_peer.bart()
    theirs.final_logits_bias.zero_()
    with_it = bart_peer.save(theirs, tmp_path / "with")
    without = bart_peer.save(theirs, tmp_path / "without", bare=True)
    import_folder(with_it, tmp_path / "one")
    import_folder(without, tmp_path / "other")
    one, other = (load_model(tmp_path / name).transformer for name in ("one", "other"))
    assert one.config.output_bias
    assert not other.config.output_bias
    weights = other.state_dict()
    assert all(torch.equal(weights[name], each) for name, each in one.state_dict().items() if name != "output.bias")
    assert "None is stated" in load_model(tmp_path / "one").card


def edit_json(name: str, **changes: Any) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        values = json.loads((folder / name).read_text(encoding="utf-8")) | changes
        (folder / name).write_text(json.dumps(values), encoding="utf-8")

    return apply


def edit_part(part: str, **changes: Any) -> Callable[[Path], None]:
    """Change a part of a tokenizer.json, written first."""

    def apply(folder: Path) -> None:
        bart_peer.tokenizer().save_pretrained(folder)
        values = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        values[part] = values[part] | changes if isinstance(values[part], dict) else changes.get("whole")
        (folder / "tokenizer.json").write_text(json.dumps(values), encoding="utf-8")

    return apply


def edit_weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / "model.safetensors"
        weights = safetensors.torch.load_file(path)
        change(weights)
        safetensors.torch.save_file(weights, path)

    return apply


def text(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(content) and None


PLACES = "model.decoder.embed_positions.weight"
DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "pre-norm": (edit_json("config.json", normalize_before=True), "normalize_before"),
    "no norm of embeddings": (edit_json("config.json", normalize_embedding=False), "normalize_embedding"),
    "fixed positions": (edit_json("config.json", static_position_embeddings=True), "static_position_embeddings"),
    "another activation": (edit_json("config.json", activation_function="gelu_new"), "gelu_new"),
    "another end": (edit_json("config.json", eos_token_id=7), "ends sentences with id 7"),
    "a first token that is none": (
        edit_json("generation_config.json", forced_bos_token_id=9999),
        "forced_bos_token_id",
    ),
    "a first token that ends": (edit_json("generation_config.json", forced_bos_token_id=2), "forced_bos_token_id"),
    "fewer positions": (edit_json("config.json", max_position_embeddings=62), "has shape [66, 32]"),
    "no norm in the file": (
        edit_weights(lambda w: w.pop("model.encoder.layernorm_embedding.bias")),
        "layernorm_embedd",
    ),
    "positions missing": (edit_weights(lambda w: w.pop(PLACES)), f"no tensor {PLACES}"),
    "a tensor too many": (edit_weights(lambda w: w.update({"model.x": torch.zeros(1)})), "no part of this model takes"),
    "no merges": (lambda folder: (folder / "merges.txt").unlink(), "no merges.txt"),
    "merges of bytes": (text("merges.txt", b"\xff\xfe"), "is not text"),
    "a merge of nothing known": (text("merges.txt", b"#version: 0.2\nh e\nhex q\n"), "merge 2"),
    "a merge without a piece": (text("merges.txt", "Ā ā\n".encode()), "lacks"),
    "merges that double": (
        text("merges.txt", b"\n".join(b"a" * 2**n + b" " + b"a" * 2**n for n in range(11))),
        "no word",
    ),
    "a byte that is missing": (edit_json("vocab.json", Ġ=-1), "ids from 0 to"),
    "another tokenizer": (edit_part("model", type="WordPiece"), "type='WordPiece'"),
    "bytes as a last resort": (edit_part("model", byte_fallback=True), "byte_fallback"),
    "ends of words": (edit_part("model", end_of_word_suffix="</w>"), "end_of_word_suffix"),
    "a normaliser": (edit_part("normalizer", whole={"type": "NFC"}), "a normaliser"),
    "another splitter": (edit_part("pre_tokenizer", type="Split"), "text split otherwise"),
    "another frame": (edit_part("post_processor", type="BertProcessing"), "post-processor"),
    "no frame": (edit_part("post_processor", cls=None), "one before and one after"),
    "vocabulary of text": (edit_part("model", vocab="x"), "no vocabulary with merges"),
    "an added token of another id": (
        edit_part("added_tokens", whole=[{"content": "<s>", "id": 9}]),
        "adds {'content': '<s>', 'id': 9}",
    ),
}


@pytest.mark.parametrize("case", DAMAGES, ids=str)
def test_refused_with_a_sentence_and_nothing_written(case: str, tmp_path: Path) -> None:
    damage, says = DAMAGES[case]
    folder = bart_peer.copied(tmp_path / "theirs")
    damage(folder)
    with pytest.raises(ValueError, match=r".") as refused:
        import_folder(folder, tmp_path / "models" / "mine")
    assert type(refused.value) is not ValueError
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "models").exists()
