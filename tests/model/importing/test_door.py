"""What may be imported, and how; what cannot be is refused with one sentence, and nothing is written."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import safetensors.torch
import torch

from model import evaluate, import_marian, import_model, import_translator, translate
from model.checkpoint import load_model
from model.commands import run_command
from model.config import EOS, DecodeConfig
from model.decoding.decode import decode_recorded
from model.folder import list_models
from model.importing.import_folder import import_folder
from model.importing.languages import Languages, read_languages
from model.importing.source_folder import ImportFailed, SourceFolder
from model.importing.weights import Ledger
from tests.model.commands import failure
from tests.model.importing import bart_peer, peer
from tests.model.importing import family_peers as peers
from tests.model.importing.peer import require

pytestmark = pytest.mark.usefixtures("no_gradients")

INDEX = "model.safetensors.index.json"


Damage = Callable[[Path], object]


def edit_json(name: str, **changes: Any) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / name
        values = json.loads(path.read_text(encoding="utf-8")) | changes
        path.write_text(json.dumps({k: v for k, v in values.items() if v is not ...}), encoding="utf-8")

    return damage


def folder_of(family: str, folder: Path, **saving: Any) -> Path:
    """A folder of a small model, saved with these options."""
    folder.mkdir()
    tokenizer = peers.tokenizer(family, folder)
    model = peers.model(family, len(tokenizer) + (100 if family == "m2m100" else 0))
    model.to(saving.pop("dtype", torch.float32)).save_pretrained(folder, **saving)
    return folder


def test_the_former_names_of_the_command_stay() -> None:
    assert import_marian.main is import_translator.main is import_model.main


def test_shards_are_one_model(tmp_path: Path) -> None:
    whole = folder_of("t5", tmp_path / "whole")
    shards = folder_of("t5", tmp_path / "shards", max_shard_size="20KB")
    files = sorted(path.name for path in shards.glob("*.safetensors"))
    assert len(files) > 2
    for folder in (whole, shards):
        import_folder(folder, tmp_path / f"our {folder.name}".replace(" ", "-"))
    one, other = (load_model(tmp_path / f"our-{name}") for name in ("whole", "shards"))
    assert all(
        torch.equal(one.transformer.state_dict()[name], each) for name, each in other.transformer.state_dict().items()
    )
    assert all(f"`{file}`: SHA-256" in other.card for file in files)


def first_shard(folder: Path) -> Path:
    return min(folder.glob("*.safetensors"))


def move_tensor(folder: Path) -> None:
    """The index names another file for a tensor than the one that has it."""
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    name, files = next(iter(index["weight_map"])), sorted(set(index["weight_map"].values()))
    index["weight_map"][name] = next(file for file in files if file != index["weight_map"][name])
    (folder / INDEX).write_text(json.dumps(index), encoding="utf-8")


SHARD_DAMAGES = {
    "a shard is missing": (lambda folder: first_shard(folder).unlink(), "has no model-00001-of-"),
    "a shard is cut off": (
        lambda folder: first_shard(folder).write_bytes(first_shard(folder).read_bytes()[:-9]),
        "not a whole safetensors file",
    ),
    "a tensor elsewhere": (move_tensor, "disagree about the tensor"),
    "a path out of the folder": (edit_json(INDEX, weight_map={"a": "../model-00001-of-00002.safetensors"}), "lists no"),
    "no list": (edit_json(INDEX, weight_map=[1]), "lists no files"),
}


@pytest.mark.parametrize("case", SHARD_DAMAGES)
def test_shards_that_do_not_fit_their_index_are_refused(case: str, tmp_path: Path) -> None:
    damage, says = SHARD_DAMAGES[case]
    folder = folder_of("t5", tmp_path / "theirs", max_shard_size="20KB")
    damage(folder)
    with pytest.raises(Exception, match=says) as refused:
        import_folder(folder, tmp_path / "ours")
    assert len(str(refused.value)) < 300
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_16_bits_are_read_exactly(dtype: torch.dtype, tmp_path: Path) -> None:
    folder = folder_of("pegasus", tmp_path / "theirs", dtype=dtype)
    found = import_folder(folder, tmp_path / "ours")
    assert any("16 bits" in remark for remark in found.remarks)
    theirs = require("transformers").PegasusForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
    layer = load_model(tmp_path / "ours").transformer.encoder.layers[0]
    assert torch.equal(layer.feed_forward.linear1.bias, theirs.model.encoder.layers[0].fc1.bias)


def test_a_model_that_does_not_fit_into_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of("t5", tmp_path / "theirs")
    sizes = [p.numel() for p in peers.model("t5", len(peers.tokenizer("t5", folder))).parameters()]
    numbers, needed = sum(sizes), 4 * sum(sizes)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=needed - 1))
    with pytest.raises(ImportFailed, match=f"the model has {numbers:,} numbers"):
        import_folder(folder, tmp_path / "ours")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=needed))
    import_folder(folder, tmp_path / "ours")


@pytest.mark.parametrize("family", ["m2m100", "mbart", "pegasus", "t5", "mt5"])
def test_a_setting_that_is_not_known_is_refused_by_name(family: str, tmp_path: Path) -> None:
    folder = folder_of(family, tmp_path / "theirs")
    edit_json("config.json", unknown_trick=0.5)(folder)
    with pytest.raises(ImportFailed, match="'unknown_trick', which this program does not know"):
        import_folder(folder, tmp_path / "ours")
    edit_json("config.json", unknown_trick=None, is_decoder=True)(folder)
    with pytest.raises(ImportFailed, match="is_decoder=True"):
        import_folder(folder, tmp_path / "ours")


CHANGES: dict[str, tuple[str, dict[str, Any], str]] = {
    "another feed-forward": (
        "t5",
        {"feed_forward_proj": "gated-mish"},
        "feed_forward_proj='gated-mish'; T5 models are imported only with relu",
    ),
    "post-norm mBART": ("mbart", {"normalize_before": False}, "normalize_before=False"),
    "learned Pegasus": ("pegasus", {"static_position_embeddings": False}, "static_position_embeddings=False"),
    "another end": ("t5", {"eos_token_id": 5}, "ends sentences with id 5"),
    "few buckets": ("t5", {"relative_attention_num_buckets": 2}, "relative_attention_num_buckets"),
    "another size": ("t5", {"d_kv": 4}, "has shape"),
    "quantised": ("mt5", {"quantization_config": {"bits": 4}}, "'quantization_config'"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_cannot_be_computed_is_refused(case: str, tmp_path: Path) -> None:
    family, changes, says = CHANGES[case]
    folder = folder_of(family, tmp_path / "theirs")
    edit_json("config.json", **changes)(folder)
    with pytest.raises(ImportFailed, match=says):
        import_folder(folder, tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


def test_languages_are_chosen_and_refused(tmp_path: Path) -> None:
    folder = folder_of("m2m100", tmp_path / "theirs")
    found = import_folder(folder, tmp_path / "fr", languages=Languages("de", "fr"))
    loaded = load_model(tmp_path / "fr")
    assert loaded.target.piece(loaded.model_config.first_token) == "__fr__"
    assert loaded.source.encode("a man").tokens[0] == "__de__"
    assert (loaded.source.lang, loaded.target.lang) == ("de", "fr")
    assert any("from __de__ to __fr__" in remark for remark in found.remarks)
    import_folder(folder, tmp_path / "own")  # the folder says en and de
    assert load_model(tmp_path / "own").source.encode("a man").tokens[0] == "__en__"
    with pytest.raises(ImportFailed, match="no target language 'xx'"):
        import_folder(folder, tmp_path / "xx", languages=Languages("de", "xx"))
    edit_json("tokenizer_config.json", tgt_lang=...)(folder)
    with pytest.raises(ImportFailed, match="choose the target language with --to; the model has 100: "):
        import_folder(folder, tmp_path / "none")
    with pytest.raises(ImportFailed, match="T5 models have no language tokens"):
        import_folder(folder_of("t5", tmp_path / "t5"), tmp_path / "ours", languages=Languages("de", "fr"))


def test_language_tokens_are_read_from_every_file_that_may_list_them(tmp_path: Path) -> None:
    path, expected = tmp_path / "special_tokens_map.json", {"de_DE": 9, "en_XX": 10}
    path.write_text(json.dumps({"additional_special_tokens": ["de_DE", {"content": "en_XX"}, "<mask>"]}))
    assert read_languages(SourceFolder(tmp_path), 9) == expected
    entries = {"20": {"content": "deu_Latn"}, "21": {"content": "<mask>"}, "x": {"content": "eng_Latn"}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": entries}))
    assert read_languages(SourceFolder(tmp_path), 9) == {"deu_Latn": 20}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": [{"content": "fra_Latn", "id": 30}]}))
    assert read_languages(SourceFolder(tmp_path), 9) == {"deu_Latn": 20, "fra_Latn": 30}


def test_the_command_takes_the_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of("mbart", tmp_path / "theirs")
    arguments = [str(folder), "--name", "mine", "--checkpoints", str(tmp_path), "--from", "de_DE", "--to", "en_XX"]
    assert import_model.main(arguments) == 0
    assert "mine: mBART, 2 + 3 layers" in capsys.readouterr().out
    loaded = load_model(tmp_path / "mine")
    encoding = loaded.source.encode("a man")
    assert encoding.tokens[-1] == "</s>", "older mBART ends the source in </s> and its language"
    assert loaded.source.decode([*encoding.ids, EOS]) == "a man"


@pytest.mark.parametrize("rows", [1, 4096, 4097, 8200])
def test_tables_are_compared_to_the_last_row(rows: int, tmp_path: Path) -> None:
    table = torch.arange(2.0 * rows).view(rows, 2)
    other = table.clone()
    other[-1, 1] += 1
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors.torch.save({"table": table, "again": table.clone(), "other": other}))
    ledger = Ledger(dict.fromkeys(("table", "again", "other"), path), prefix="")
    assert ledger.same("table", "again")
    assert not ledger.same("table", "other")


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
    "an unknown setting": (edit_json("config.json", attention_window=7), "'attention_window', which this program"),
    "two sizes": (edit_json("config.json", decoder_ffn_dim=64), "decoder_ffn_dim=64"),
    "a huge model": (edit_json("config.json", encoder_layers=10**9), "at 'encoder_layers': expected `int` <= 64"),
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
    "not finite": (edit_weights(lambda w: w[FC1].fill_(torch.nan)), "not finite"),
    "fewer rows": (edit_weights(lambda w: w.update({SHARED: torch.zeros(20, 32)})), "does not fit"),
    "no rows": (edit_weights(lambda w: w.update({SHARED: torch.tensor(1.0)})), "does not fit"),
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
    "another tokenizer": (edit_part("model", type="WordPiece"), "type='WordPiece'"),
    "bytes as a last resort": (edit_part("model", byte_fallback=True), "byte_fallback"),
    "ends of words": (edit_part("model", end_of_word_suffix="</w>"), "end_of_word_suffix"),
    "the normaliser": (edit_part("normalizer", whole={"type": "NFC"}), "text cut by NFC + ByteLevel"),
    "another splitter": (edit_part("pre_tokenizer", type="Split"), "text cut by Split"),
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
