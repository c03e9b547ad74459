"""The forward pass, search and tokenizers of the browser (js/live) against PyTorch and Python, run by Node.js."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from explorer.browser.payload import forms, header
from explorer.browser.word_rules import word_rules
from explorer.decoding.translator import Translator
from model.checkpoint import load_model, stored_weights, write_weights
from model.config import EOS, DecodeConfig, to_dict
from model.data import get_task
from model.data.scenes import scenes
from model.decoding.search import greedy, output_rules
from model.edits import HeadEdit, HeadEdits
from model.recording import PointRecorder
from model.transformer import Transformer
from tests.fuzz.inputs import _TIMES
from tests.paths import CHECKPOINTS, ROOT
from tests.tiny import tiny_config, tiny_model

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None and os.environ.get("CI") != "true", reason="no Node.js is installed")

SENTENCES = {
    "reverse": ("attention", "z"),
    "dates": ("12 March 2024", "3.4.1999"),
    "phrases-en-de": ("good morning",),
    "adjective-swap": ("I read red books", "she sees big houses"),
    "adjective-swap-unmasked": ("I read red books",),
    "multi30k-en-de": (
        "A man in a blue shirt is standing on a ladder cleaning a window.",
        "A woman wearing sunglasses doesn't skateboard through Copenhagen's 🙂 market!",
    ),
    "multi30k-de-en": ("Straßenmusikanten spielen vor'm Rathaus.",),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "post-norm": {"norm_first": False, "positions": "learned"},
    "rope": {"positions": "rope", "norm_first": True, "activation": "gelu"},
    "alibi": {"positions": "alibi", "activation": "silu", "share_embeddings": "none"},
    "gate": {"attention_gate": True, "scale_scores": False, "positions": "none"},
    "without residuals": {"residual": False, "layer_norm": "scalar"},
    "not causal": {"causal": False, "output_bias": True, "norm_embeddings": True, "scale_embeddings": False},
    "rules": {"banned_tokens": (5, 6), "first_token": 7, "embedding_factor": 1.5},
}


@cache
def rules() -> dict[str, Any]:
    return {lang: word_rules(lang) for lang in ("en", "de")}


def run(folder: Path, jobs: Sequence[dict[str, Any]], words: object = None) -> list[Any]:
    """What the browser's modules give for some jobs with the model of a folder, and what Python exports of it."""
    assert NODE is not None, "Node.js is needed to check the JavaScript"
    given = json.dumps({"folder": str(folder), "rules": rules(), "words": words, "jobs": jobs}, default=vars)
    done = subprocess.run([NODE, ROOT / "tests/js/live_runner.js"], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_points_agree(model: Transformer, source: list[int], found: dict[str, Any], limit: int) -> int:
    """Every tensor within 1e-5 × max(1, its largest magnitude) of PyTorch's, and the same ids; the second first one."""
    recorder = PointRecorder()
    with torch.inference_mode():
        state = model.start(torch.tensor([[*source, EOS]]), tap=recorder)
        steps = list(
            greedy(
                lambda tokens, state: model.step(tokens, state, tap=recorder),
                state,
                limit=limit,
                rules=output_rules(model.config),
            )
        )
    assert found["path"] == [int(step.tokens[0]) for step in steps]
    left_out = {name for name in recorder.tensors if name.endswith((".mask", ".bias"))}
    assert found["points"].keys() == recorder.tensors.keys() - left_out
    for name, values in found["points"].items():
        wanted = recorder.tensors[name][0].numpy()
        if name.rpartition(".")[2] in ("query", "key", "value", "output") and wanted.ndim == 3:
            wanted = wanted.transpose(1, 0, 2).reshape(wanted.shape[1], -1)  # heads side by side
        if isinstance(values, str):
            given = np.frombuffer(base64.b64decode(values), np.float32).astype(np.float64).reshape(wanted.shape)
        else:
            given = np.array(values, dtype=np.float64)
        assert given.shape == wanted.shape, name
        assert np.abs(given - wanted).max() <= 1e-5 * max(1.0, float(np.abs(wanted).max())), name
    return int(steps[0].log_probs[0].argsort(descending=True, stable=True)[1])


@pytest.mark.parametrize("name", SENTENCES)
def test_every_tensor_of_a_shipped_model(name: str) -> None:
    loaded = load_model(CHECKPOINTS / name)
    sources = [list(loaded.source.encode(text).ids) for text in SENTENCES[name]]
    found = run(loaded.folder, [{"do": "points", "source": source, "limit": 40} for source in sources])
    for source, points in zip(sources, found, strict=True):
        assert_points_agree(loaded.transformer, source, points, 40)


def many(name: str) -> list[str]:
    """Every fourth of a hundred sentences of the model's test set, or scenes; `HEADLIGHT_FUZZ=4`: all of them."""
    if name.startswith("multi30k"):
        found = [scene.english if name.endswith("en-de") else scene.german for scene in scenes()]
    else:
        task = get_task(name.removesuffix("-unmasked"))
        found = [example.source for example in task.splits["test"]]
    return list(dict.fromkeys(found))[: 100 : max(1, 4 // _TIMES)]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SENTENCES)
def test_many_sentences(name: str) -> None:
    """Ids, translations, forks and an edit are equal, and every tensor as above; nothing is excepted."""
    translator = Translator(load_model(CHECKPOINTS / name))
    texts = many(name)
    assert len(texts) >= 24
    edit = {"kind": "cross", "layer": 0, "head": 0, "op": "zero"}
    loaded = translator.loaded
    sources = [list(loaded.source.encode(text).ids) for text in texts]
    longest = loaded.model_config.max_positions
    jobs = [
        {"do": "answers", "source": source, "limit": 40, "most": min(2 * len(source) + 12, longest), "edits": [edit]}
        for source in sources
    ]
    for text, source, found in zip(texts, sources, run(loaded.folder, jobs), strict=True):
        second = assert_points_agree(loaded.transformer, source, found, 40)
        assert found["other"] == second, text
        forked = translator.translate(text, DecodeConfig(), prefix=(second,))
        edited = translator.translate(text, DecodeConfig(), edit=HeadEdits((_edit(edit),)))
        assert found["paths"] == [list(each.path) for each in (forked, edited)], text
        assert found["texts"] == [loaded.target.decode(found["path"]), forked.text, edited.text], text


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_tensor_of_a_variant(variant: str, tmp_path: Path) -> None:
    config = tiny_config(**VARIANTS[variant])
    model = tiny_model(**VARIANTS[variant]).eval()
    write_weights(tmp_path / "model.safetensors", stored_weights(model), half=False)
    (tmp_path / "config.json").write_text(json.dumps({"model": to_dict(config)}), encoding="utf-8")
    source = [4, 9, 5, 5, 12]
    [found] = run(tmp_path, [{"do": "points", "source": source, "limit": 6}])
    assert_points_agree(model, source, found, 6)


EDITS = (
    {"kind": "cross", "layer": 0, "head": 1, "op": "zero"},
    {"kind": "encoder", "layer": 0, "head": 0, "op": "uniform"},
    {"kind": "decoder", "layer": 0, "head": 1, "op": "row", "row": 2, "values": [1.0, 0.5, 0.5]},
)
REQUESTS: tuple[dict[str, Any], ...] = (
    {},
    {"edits": EDITS},
    {"path": [5, 6]},
    {"method": {"method": "beam"}},
    {"method": {"method": "beam", "beam_size": 3, "length_penalty": "gnmt", "alpha": 0.6}},
    {"method": {"method": "beam", "beam_size": 2, "length_penalty": "none", "max_length": 5}, "path": [5]},
)


def differences(wanted: Any, found: Any, at: str = "") -> list[str]:
    """Where two JSON values differ by more than rounding."""
    if isinstance(wanted, dict):
        missing = [f"{at}.{key}" for key in wanted.keys() ^ found.keys()]
        return missing + [
            d for key in wanted.keys() & found.keys() for d in differences(wanted[key], found[key], f"{at}.{key}")
        ]
    if isinstance(wanted, list):
        if len(wanted) != len(found):
            return [f"{at}: {len(wanted)} and {len(found)}"]
        return [d for i, pair in enumerate(zip(wanted, found, strict=True)) for d in differences(*pair, f"{at}[{i}]")]
    if isinstance(wanted, float) and isinstance(found, (int, float)):
        # The logits' last digits count ten times at the lowest temperature, 0.1.
        tolerance = 1e-4 if "log_sums" in at else 1e-5
        return [] if abs(wanted - found) <= tolerance * max(1.0, abs(wanted)) else [f"{at}: {wanted} and {found}"]
    return [] if wanted == found else [f"{at}: {wanted!r} and {found!r}"]


@pytest.mark.parametrize("name", SENTENCES)
def test_a_decoding_is_the_message_that_python_writes(name: str) -> None:
    translator = Translator(load_model(CHECKPOINTS / name))
    # A decoder that is not causal reads all rows again at each step, so the weights of one row never fit.
    requests = [each for each in REQUESTS if translator.loaded.model_config.causal or "edits" not in each]
    asked = [(text, request) for text in SENTENCES[name] for request in requests]
    jobs = [{"do": "decode", "text": text, "request": request} for text, request in asked]
    for (text, request), found in zip(asked, run(translator.loaded.folder, jobs), strict=True):
        edits = HeadEdits(tuple(_edit(edit) for edit in request["edits"])) if "edits" in request else None
        config = DecodeConfig(**request.get("method", {}))
        shown = translator.translate(text, config, prefix=request.get("path", ()), edit=edits)
        assert (found["text"], found["path"]) == (shown.text, list(shown.path))
        beam = [
            {"path": list(each.path), "logProb": each.log_prob, "score": each.score, "finished": each.finished}
            for _, each in shown.hypotheses
        ]
        assert not differences(beam, found["hypotheses"])
        assert not differences(json.loads(json.dumps(header(shown), default=vars)), found["header"])
        for kind, given in found["maps"].items():
            weights = shown.trace.weights(kind)
            assert np.abs(weights - np.reshape(given["weights"], weights.shape)).max() <= 1e-5
            assert given["mask"] == shown.trace.mask(kind).ravel().tolist()
            wanted = json.loads(json.dumps(forms(shown.trace, kind), default=vars))
            assert not differences(wanted, found["forms"][kind], kind)


def test_the_settings_of_decoding_are_those_of_python() -> None:
    [settings] = run(CHECKPOINTS / "reverse", [{"do": "method"}])
    assert settings == to_dict(DecodeConfig())


def _edit(edit: dict[str, Any]) -> HeadEdit:
    return HeadEdit(**{**edit, "values": np.array(edit["values"], dtype=np.float32)} if "values" in edit else edit)


ALPHABET = (
    "abcABC019 .,-–—'’\"()[]{}<>/\\:;!?%$€°@#&*_=+~|…«»„“”éßñÅ日本語ไทยעבר🙂👩‍👩‍👧\t\n\u00a0\u2003\ufeff\u200b\x1cİſ"
)
PHRASES = (
    "http://a.b/c?d=e",
    "www.x.org",
    "U.S.A.",
    "10km",
    "don't",
    "can't.",
    "z.B.",
    "3,5%",
    "a@b.com",
    ":-)",
    " : - ) ",
)


def hostile_text(chance: random.Random, exceptions: Sequence[str]) -> str:
    parts = []
    for _ in range(chance.randint(1, 8)):
        letters = "".join(chance.choices(ALPHABET, k=chance.randint(1, 7)))
        parts.append(chance.choice((chance.choice(exceptions), letters, chance.choice(PHRASES))))
        parts.append(chance.choice((" ", " ", "", "  ", "\n")))
    return "".join(parts)


@pytest.mark.parametrize("name", ["reverse", "dates", "adjective-swap", "multi30k-en-de", "multi30k-de-en"])
def test_tokens_of_hostile_text(name: str) -> None:
    loaded, chance = load_model(CHECKPOINTS / name), random.Random(4)
    exceptions = [*rules()["en"]["exceptions"], *rules()["de"]["exceptions"]]
    texts = ["", "  ", "x" * 250, *(hostile_text(chance, exceptions) for _ in range(300))]
    paths = [[chance.randrange(len(loaded.target)) for _ in range(chance.randint(0, 14))] for _ in range(200)]
    found = run(
        loaded.folder,
        [{"do": "encode", "text": text} for text in texts] + [{"do": "spell", "ids": ids} for ids in paths],
    )
    for text, encoded in zip(texts, found, strict=False):
        wanted = loaded.source.encode(text)
        given = encoded["ids"], encoded["tokens"], encoded["words"]
        assert given == (list(wanted.ids), list(wanted.tokens), list(wanted.words)), text
    for ids, spelled in zip(paths, found[len(texts) :], strict=True):
        assert spelled == {
            "text": loaded.target.decode(ids),
            "words": list(loaded.target.words_of(ids)),
            "labels": [loaded.target.label(i) for i in ids],
        }
