"""What may be imported, and how: shards, 16-bit weights, memory, languages, and settings that are not known."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import safetensors.torch
import torch

from model import import_marian, import_model, import_translator
from model.checkpoint import load_model
from model.config import EOS
from model.importing.import_folder import import_folder
from model.importing.languages import Languages, read_languages
from model.importing.source_folder import ImportFailed, SourceFolder
from model.importing.weights import Ledger
from tests.model.importing import family_peers as peers
from tests.model.importing.peer import require
from tests.model.importing.test_refusals import edit_json

pytestmark = pytest.mark.usefixtures("no_gradients")

INDEX = "model.safetensors.index.json"


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
    "another feed-forward": ("t5", {"feed_forward_proj": "gated-mish"}, "feed_forward_proj='gated-mish'; known: relu"),
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
