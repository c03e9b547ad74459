"""What cannot be imported is refused with one sentence, and nothing is written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from model import evaluate, import_marian, translate
from model.checkpoint import load_model
from model.commands import run_command
from model.config import DecodeConfig
from model.decoding.decode import decode_recorded
from model.folder import list_models
from tests.model.commands import failure
from tests.model.importing import bart_peer, peer

Damage = Callable[[Path], object]


def edit_json(name: str, **changes: Any) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / name
        values = json.loads(path.read_text(encoding="utf-8")) | changes
        path.write_text(json.dumps({k: v for k, v in values.items() if v is not ...}), encoding="utf-8")

    return damage


def edit_weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / "model.safetensors"
        weights = safetensors.torch.load(path.read_bytes())
        change(weights)
        path.write_bytes(safetensors.torch.save(weights))

    return damage


def edit_part(part: str, **changes: Any) -> Damage:
    """Change a part of a tokenizer.json, written first."""

    def apply(folder: Path) -> None:
        bart_peer.tokenizer().save_pretrained(folder)
        values = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        values[part] = values[part] | changes if isinstance(values[part], dict) else changes.get("whole")
        (folder / "tokenizer.json").write_text(json.dumps(values), encoding="utf-8")

    return apply


def text(name: str, content: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes(content)


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def cut_off(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def linked(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere.spm"
    (folder / "source.spm").rename(elsewhere)
    (folder / "source.spm").symlink_to(elsewhere)


SHARED, PLACES = "model.shared.weight", "model.decoder.embed_positions.weight"
FC1 = "model.encoder.layers.0.fc1.weight"
MARIAN: dict[str, tuple[Damage, str]] = {
    "a pickle": (pickled, "is a pickle, which could run code"),
    "cut off": (cut_off, "not a whole safetensors file"),
    "a link to elsewhere": (linked, "leads out of the folder"),
    "no vocabulary": (lambda folder: (folder / "vocab.json").unlink(), "no vocab.json"),
    "no spm": (lambda folder: (folder / "target.spm").unlink(), "no target.spm"),
    "torn spm": (lambda folder: (folder / "source.spm").write_bytes(b"\xff" * 50), "not a whole SentencePiece model"),
    "whole words": (lambda f: (f / "source.spm").write_bytes(peer.spm("en", model_type="word")), "of type word"),
    "torn config": (lambda folder: (folder / "config.json").write_text("{"), "not valid JSON"),
    "another family": (edit_json("config.json", model_type="led"), "show(…) in a notebook"),
    "no family": (edit_json("config.json", model_type=...), "of type None"),
    "an activation": (edit_json("config.json", activation_function="quick_gelu"), "quick_gelu"),
    "an unknown setting": (
        edit_json("config.json", attention_window=7),
        "'attention_window', which this program does not",
    ),
    "two sizes": (edit_json("config.json", decoder_ffn_dim=64), "one size for both"),
    "a huge model": (edit_json("config.json", encoder_layers=10**9), "at 'encoder_layers': expected `int` <= 64"),
    "a missing size": (edit_json("config.json", d_model=...), "missing required field `d_model`"),
    "a size of text": (
        edit_json("config.json", d_model="32"),
        "wrong at 'd_model': expected `int`, got `str`",
    ),
    "heads": (edit_json("config.json", encoder_attention_heads=5), "equal heads"),
    "pre-norm": (edit_json("config.json", normalize_before=True), "normalize_before"),
    "another end": (edit_json("config.json", eos_token_id=3), "ends sentences"),
    "no such row": (edit_json("config.json", pad_token_id=4000), "beyond"),
    "a vocabulary that is too large": (edit_json("vocab.json", extra=999), "ids from 0 to"),
    "one id twice": (edit_json("vocab.json", extra=5), "gives the id 5"),
    "an id of text": (edit_json("vocab.json", extra="5"), "the id '5'"),
    "no unknown": (edit_json("vocab.json", **{"<unk>": ...}), "no <unk>"),
    "beams": (edit_json("generation_config.json", num_beams=10**6), "num_beams"),
    "bans": (edit_json("generation_config.json", bad_words_ids=[["x"]]), "bad_words_ids"),
    "a tensor too many": (edit_weights(lambda w: w.update(extra=torch.zeros(2))), "no part of this model takes: extra"),
    "a tensor too few": (edit_weights(lambda w: w.pop(FC1)), f"no tensor {FC1}"),
    "a shape": (edit_weights(lambda w: w.update({FC1: torch.zeros(49, 32)})), "has shape [49, 32]"),
    "another width": (edit_weights(lambda w: w.update({FC1: torch.zeros(48, 31)})), "asks for [48, 32]"),
    "not finite": (edit_weights(lambda w: w[FC1].fill_(torch.nan)), "not finite"),
    "fewer rows": (edit_weights(lambda w: w.update({SHARED: torch.zeros(20, 32)})), "does not fit"),
    "a short bias": (edit_weights(lambda w: w.update(final_logits_bias=torch.zeros(1, 5))), "final_logits_bias has 5"),
    "another table": (edit_weights(lambda w: w.update({"lm_head.weight": 0 * w[SHARED]})), "lm_head.weight differs"),
    "learned positions": (edit_weights(lambda w: w.update({PLACES: torch.ones(64, 32)})), "not the sinusoidal table"),
}
BART: dict[str, tuple[Damage, str]] = {
    "pre-norm": (edit_json("config.json", normalize_before=True), "normalize_before"),
    "no norm of embeddings": (edit_json("config.json", normalize_embedding=False), "normalize_embedding"),
    "fixed positions": (edit_json("config.json", static_position_embeddings=True), "static_position_embeddings"),
    "another end": (edit_json("config.json", eos_token_id=7), "ends sentences with id 7"),
    "no such first token": (edit_json("generation_config.json", forced_bos_token_id=9999), "forced_bos_token_id"),
    "a first token that ends": (edit_json("generation_config.json", forced_bos_token_id=2), "forced_bos_token_id"),
    "fewer positions": (edit_json("config.json", max_position_embeddings=62), "has shape [66, 32]"),
    "no norm": (edit_weights(lambda w: w.pop("model.encoder.layernorm_embedding.bias")), "layernorm_embedd"),
    "positions missing": (edit_weights(lambda w: w.pop(PLACES)), f"no tensor {PLACES}"),
    "no merges": (lambda folder: (folder / "merges.txt").unlink(), "no merges.txt"),
    "merges of bytes": (text("merges.txt", b"\xff\xfe"), "is not text"),
    "a merge of nothing known": (text("merges.txt", b"#version: 0.2\nh e\nhex q\n"), "merge 2"),
    "a merge without a piece": (text("merges.txt", "Ā ā\n".encode()), "lacks"),
    "merges that double": (text("merges.txt", b"\n".join(b" ".join([b"a" * 2**n] * 2) for n in range(11))), "no word"),
    "a byte that is missing": (edit_json("vocab.json", Ġ=-1), "ids from 0 to"),
    "another tokenizer": (edit_part("model", type="WordPiece"), "type='WordPiece'"),
    "bytes as a last resort": (edit_part("model", byte_fallback=True), "byte_fallback"),
    "ends of words": (edit_part("model", end_of_word_suffix="</w>"), "end_of_word_suffix"),
    "the normaliser": (edit_part("normalizer", whole={"type": "NFC"}), "split by NFC + ByteLevel"),
    "another splitter": (edit_part("pre_tokenizer", type="Split"), "text split by Split"),
    "another frame": (edit_part("post_processor", type="BertProcessing"), "post-processor"),
    "no frame": (edit_part("post_processor", cls=None), "one before and one after"),
    "vocabulary of text": (edit_part("model", vocab="x"), "no vocabulary with merges"),
    "an added id": (
        edit_part("added_tokens", whole=[{"content": "<s>", "id": 9}]),
        "adds {'content': '<s>', 'id'",
    ),
}
DAMAGES = {f"marian: {case}": damage for case, damage in MARIAN.items()}
DAMAGES |= {f"bart: {case}": damage for case, damage in BART.items()}


@pytest.mark.parametrize("case", DAMAGES, ids=str)
def test_refused_with_a_sentence_and_nothing_written(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, says = DAMAGES[case]
    made_by, checkpoints = bart_peer if case.startswith("bart") else peer, tmp_path / "models"
    folder = made_by.copied(tmp_path / "theirs")
    damage(folder)
    checkpoints.mkdir()
    last = failure(import_marian.main, [str(folder), "--name", "mine", "--checkpoints", str(checkpoints)], capsys)
    assert says in last
    assert len(last) < 500
    assert not list(checkpoints.iterdir())


@pytest.mark.parametrize("name", ["../evil", "a/b", "/tmp/evil", "", "..", "con", "x" * 10_000])
def test_the_command_writes_nowhere_but_among_the_models(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Finding P38: of `--name ../evil`, only the last part was looked at."""
    checkpoints = tmp_path / "checkpoints"
    checkpoints.mkdir()
    arguments = [str(peer.standard()), "--name", name, "--checkpoints", str(checkpoints)]
    assert "cannot name a model" in failure(import_marian.main, arguments, capsys)
    assert list(tmp_path.rglob("*")) == [checkpoints]


def test_the_command_imports_and_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(peer.standard()), "--name", "mine", "--checkpoints", str(tmp_path)]
    with pytest.raises(SystemExit) as left:
        run_command(import_marian.main, arguments)
    assert left.value.code == 0
    assert "mine: MarianMT, 2 + 3 layers" in capsys.readouterr().out
    loaded = load_model(tmp_path / "mine")
    card = (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert "CC-BY-4.0" in card
    assert "`model.safetensors`: SHA-256" in card
    (summary,) = list_models(tmp_path)
    assert summary["error"] is None
    assert summary["trained"]
    assert loaded.summary["task"] == "imported"
    assert "already" in failure(import_marian.main, arguments, capsys)
    import_marian.main([*arguments, "--overwrite"])


def test_positions_and_aliases_in_the_file_are_used_up(tmp_path: Path) -> None:
    """A file that holds the tied table three times and the table of positions, as older converters wrote it."""
    folder = peer.copied(tmp_path / "theirs")
    half = torch.arange(64)[:, None] / 10000 ** (torch.arange(16) / 16)

    def older(weights: dict[str, torch.Tensor]) -> None:
        for name in ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"):
            weights[name] = weights[SHARED].clone()
        for stack in ("encoder", "decoder"):
            weights[f"model.{stack}.embed_positions.weight"] = torch.cat((half.sin(), half.cos()), dim=1)

    edit_weights(older)(folder)
    import_marian.main([str(folder), "--name", "mine", "--checkpoints", str(tmp_path)])
    import_marian.main([str(peer.standard()), "--name", "other", "--checkpoints", str(tmp_path)])
    mine, other = (load_model(tmp_path / name).transformer.state_dict() for name in ("mine", "other"))
    assert all(torch.equal(mine[name], other[name]) for name in other)


def test_own_search_is_that_of_generation_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import_marian.main([str(peer.standard()), "--name", "mine", "--checkpoints", str(tmp_path)])
    loaded = load_model(tmp_path / "mine")
    assert loaded.summary["search"] == {"beam_size": 6, "length_penalty": "mean", "alpha": 0.8}
    capsys.readouterr()
    there = ["--model", "mine", "--checkpoints", str(tmp_path)]
    translate.main([*there, "--json", "--own-search", peer.SENTENCES[0]])
    own = json.loads(capsys.readouterr().out)
    translate.main([*there, "--json", "--beam", "6", "--alpha", "0.8", peer.SENTENCES[0]])
    assert own == json.loads(capsys.readouterr().out)
    assert len(own["hypotheses"]) == 6
    assert "trained elsewhere" in failure(evaluate.main, there, capsys)
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_text("A young man.\n", encoding="utf-8")
    target.write_text("Ein junger Mann.\n", encoding="utf-8")
    evaluate.main([*there, "--own-search", "--json", "--source", str(source), "--target", str(target)])
    assert json.loads(capsys.readouterr().out)["sentences"] == 1


def test_bans_are_kept_while_decoding(tmp_path: Path) -> None:
    """The likeliest token is banned: in our folder it is never predicted, and `transformers` agrees."""
    model = peer.marian()
    model.final_logits_bias[..., 0] -= 30  # so that no sentence ends
    folder = peer.save(model, tmp_path / "theirs")
    tokenizer = peer.tokenizer(folder)
    ids = tokenizer(peer.SENTENCES[0], return_tensors="pt")
    first = int(model.generate(**ids, num_beams=1, do_sample=False, max_length=8)[0, 1])
    ban = [[first], [model.config.pad_token_id]]
    edit_json("generation_config.json", bad_words_ids=ban)(folder)
    expected = model.generate(**ids, num_beams=1, do_sample=False, max_length=8, bad_words_ids=ban)[0, 1:].tolist()
    import_marian.main([str(folder), "--name", "mine", "--checkpoints", str(tmp_path)])
    loaded = load_model(tmp_path / "mine")
    (banned,) = loaded.model_config.banned_tokens
    source = loaded.source.encode(peer.SENTENCES[0])
    found = decode_recorded(loaded.model, source, loaded.target, DecodeConfig(max_length=7))
    assert banned not in found.path
    assert first not in expected
    ours = [loaded.target.piece(i).replace(" ", "▁") for i in found.path[:6]]
    theirs = [token.replace("</s>", "<eos>") for token in tokenizer.convert_ids_to_tokens(expected)]
    assert ours == theirs[: len(ours)]
