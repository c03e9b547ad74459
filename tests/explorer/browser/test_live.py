"""The forward pass, search and tokenizers of the browser (js/live) against PyTorch and Python, run by Node.js."""

import base64
import itertools
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
from numpy.typing import NDArray
from safetensors.numpy import load

from explorer.browser.payload import header
from explorer.browser.word_rules import word_rules
from explorer.decoding.attention_maps import Form, attention_maps
from explorer.decoding.head_change import Change
from explorer.decoding.head_edits import edits_for, moved_by
from explorer.decoding.translator import InputError, Translation, Translator
from explorer.files.live_site import live_model
from explorer.locale.text import printable
from explorer.probing.edit_effect import Means, from_another, means_over
from explorer.probing.importance import SENTENCES as MEASURED
from explorer.probing.reporting import unheard
from explorer.probing.sample import default_choice, gather, subsample
from model.checkpoint import load_model, stored_weights, write_weights
from model.config import EOS, AttentionKind, DecodeConfig, to_dict
from model.data import get_task
from model.data.scenes import scenes
from model.decoder_only import DecoderOnly
from model.decoding.search import greedy, output_rules
from model.edits import HeadEdit, HeadEdits
from model.points import Head
from model.recording import PointRecorder
from model.trace import kinds_of
from model.transformer import Transformer
from tests.fuzz.inputs import _TIMES
from tests.paths import CHECKPOINTS, ROOT
from tests.tiny import tiny_config, tiny_model

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None and os.environ.get("CI") != "true", reason="no Node.js is installed")

SENTENCES = {
    "reverse": ("attention", "z"),
    "reverse-decoder": ("attention", "zw"),
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
# One for each way to cut a text: letters, words, pieces of words. The variants have the other shapes of a model.
DAILY = ("reverse-decoder", "adjective-swap", "multi30k-en-de")
SHIPPED = [pytest.param(name, marks=[] if name in DAILY else pytest.mark.nightly, id=name) for name in SENTENCES]
VARIANTS: dict[str, dict[str, Any]] = {
    "post-norm": {"norm_first": False, "positions": "learned"},
    "rope": {"positions": "rope", "norm_first": True, "activation": "gelu"},
    "halves": {"positions": "rope", "rope_base": 50.0, "rope_halves": True},
    "alibi": {"positions": "alibi", "activation": "silu", "share_embeddings": "none"},
    "gate": {"attention_gate": True, "scale_scores": False, "positions": "none"},
    "without residuals": {"residual": False, "layer_norm": "scalar"},
    "not causal": {"causal": False, "output_bias": True, "norm_embeddings": True, "scale_embeddings": False},
    "rules": {"banned_tokens": (5, 6), "first_token": 7, "embedding_factor": 1.5},
}


@cache
def rules() -> dict[str, Any]:
    return {lang: word_rules(lang) for lang in ("en", "de")}


def run(
    folder: Path, jobs: Sequence[dict[str, Any]], words: object = None, means: object = None, *, plain: bool = False
) -> list[Any]:
    """What the browser's modules give for some jobs with the model of a folder, and what Python exports of it.

    With `plain`, the browser has no WebAssembly.
    """
    assert NODE is not None, "Node.js is needed to check the JavaScript"
    given = {"folder": str(folder), "rules": rules(), "words": words, "means": means, "jobs": jobs, "plain": plain}
    command, text = [NODE, ROOT / "tests/js/live_runner.js"], json.dumps(given, default=vars)
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_points_agree(model: Transformer, source: list[int], found: dict[str, Any], limit: int) -> int:
    """Every tensor within 1e-5 × max(1, its largest magnitude) of PyTorch's, and the same ids; the second first one."""
    recorder = PointRecorder()
    with torch.inference_mode():
        read, first = torch.tensor([[*source, EOS]]), None
        if isinstance(model, DecoderOnly):
            read, first = model.opening(read)
        state = model.start(read, tap=recorder)
        steps = list(
            greedy(
                lambda tokens, state: model.step(tokens, state, tap=recorder),
                state,
                limit=limit,
                rules=output_rules(model.config),
                first=first,
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


@pytest.mark.parametrize("name", SHIPPED)
def test_every_tensor_of_a_shipped_model(name: str) -> None:
    loaded = load_model(CHECKPOINTS / name)
    sources = [list(loaded.source.encode(text).ids) for text in SENTENCES[name]]
    jobs = [{"do": "points", "source": source, "limit": 40} for source in sources]
    # Of one model without WebAssembly; the hundred sentences of another have it.
    found = run(loaded.folder, jobs, plain=name == "multi30k-en-de")
    for source, points in zip(sources, found, strict=True):
        assert_points_agree(loaded.transformer, source, points, 40)


def hundred(translator: Translator) -> list[str]:
    """A hundred sentences for a model, which come with Headlight: of its test set, or scenes."""
    task = translator.loaded.data_config.task
    if task.startswith("multi30k"):
        found = [scene.english if task.endswith("en-de") else scene.german for scene in scenes()]
    else:
        found = [example.source for example in get_task(task).splits["test"]]
    return list(dict.fromkeys(found))[:100]


@pytest.mark.timeout(900)
@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_a_hundred_sentences(name: str) -> None:
    """Ids, translations, forks and an edit are equal, and every tensor as above; nothing is excepted."""
    translator = Translator(load_model(CHECKPOINTS / name))
    texts, loaded = hundred(translator), translator.loaded
    assert len(texts) >= (100 if name.startswith("reverse") else 96)
    config = loaded.model_config
    edit = {"kind": config.kinds[-1], "layer": 0, "head": 0, "op": "zero"}
    sources = [list(loaded.source.encode(text).ids) for text in texts]
    prompts = [() if config.has_encoder else config.prompt(source)[1:] for source in sources]
    jobs = []
    for source in sources:
        read = len(source) + 1 if config.has_encoder else len(config.prompt(source))
        most = DecodeConfig().length_limit(read, config.max_positions)
        jobs.append({"do": "answers", "source": source, "limit": 40, "most": most, "edits": [edit]})
    for text, source, prompt, found in zip(texts, sources, prompts, run(loaded.folder, jobs), strict=True):
        second = assert_points_agree(loaded.transformer, source, found, 40)
        assert found["other"] == second, text
        forked = translator.translate(text, DecodeConfig(), prefix=(*prompt, second))
        edited = translator.translate(text, DecodeConfig(), edit=HeadEdits((_edit(edit, loaded.model),)))
        assert found["paths"] == [list(each.path[each.n_prompt :]) for each in (forked, edited)], text
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
    {"kind": "decoder", "layer": 0, "head": 1, "op": "row", "row": 2, "values": [1.0, 0.5, 0.5] + [0.0] * 60},
)
REQUESTS: tuple[dict[str, Any], ...] = (
    {},
    {"edits": EDITS},
    {"edits": [{"kind": "encoder", "layer": 0, "head": 0, "op": "position", "row": 0, "to": 2}]},
    {"edits": [{"kind": "decoder", "layer": 0, "head": 0, "op": "position", "row": 1, "to": 4}]},
    {"path": [5, 6]},
    {"method": {"method": "beam"}},
    {"method": {"method": "beam", "beam_size": 3, "length_penalty": "gnmt", "alpha": 0.6}},
    {"method": {"method": "beam", "beam_size": 2, "length_penalty": "none", "max_length": 5}, "path": [5]},
)


def differences(wanted: Any, found: Any, at: str = "") -> list[str]:
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


@pytest.mark.parametrize("name", SHIPPED)
def test_a_decoding_is_the_message_that_python_writes(name: str) -> None:
    translator = Translator(load_model(CHECKPOINTS / name))
    config, model = translator.loaded.model_config, translator.loaded.model
    asked = []
    for text, request in itertools.product(SENTENCES[name], REQUESTS):
        edits = [edit for edit in request.get("edits", ()) if edit["kind"] in config.kinds]
        # A decoder that is not causal reads all rows again at each step, so the weights of one row never fit.
        if config.causal or request.get("edits") != EDITS:
            asked.append((text, {**request, "edits": edits}))
    jobs = [{"do": "decode", "text": text, "request": request} for text, request in asked]
    for (text, request), found in zip(asked, run(translator.loaded.folder, jobs), strict=True):
        edit = HeadEdits(tuple(_edit(edit, model) for edit in request["edits"])) if request["edits"] else None
        method = DecodeConfig(**request.get("method", {}))
        shown = translator.translate(text, method, prefix=request.get("path", ()), edit=edit)
        assert_same_decoding(shown, found)
        beam = [
            {
                "text": said,
                "path": [*each.path],
                "logProb": each.log_prob,
                "score": each.score,
                "finished": each.finished,
            }
            for said, each in shown.hypotheses
        ]
        assert not differences(beam, found["hypotheses"])


def form_in(shown: Translation, kind: AttentionKind, form: Form) -> dict[str, Any]:
    maps = attention_maps(shown.trace, kind, form, n_prompt=shown.n_prompt)
    layers, heads = (range(n) for n in maps.effective.shape)
    scores = {"effective": maps.effective, **maps.shares}
    numbers = {
        name: [[None if np.isnan(x) else float(f"{x:.7g}") for x in row] for row in values]
        for name, values in scores.items()
    }
    return {
        **{name: [printable(each) for each in getattr(maps, name)] for name in ("rows", "predicted", "columns")},
        **{name: getattr(maps, name) for name in ("row_spans", "column_spans")},
        "effective": numbers.pop("effective"),
        "shares": numbers,
        "roles": [[maps.role(layer, head) for head in heads] for layer in layers],
    }


def assert_same_decoding(shown: Translation, found: dict[str, Any]) -> None:
    assert (found["text"], found["path"]) == (shown.text, list(shown.path))
    wanted = json.loads(json.dumps(header(shown), default=vars)) | {"diagram": None}  # the page has it
    assert not differences(wanted, found["header"])
    assert found["forms"].keys() == set(kinds_of(shown.trace))
    assert all(len(given) > 1 for given in found["forms"].values()) == found["header"]["subwords"]
    for kind, given in found["maps"].items():
        weights = shown.trace.weights(kind)
        assert np.abs(weights - np.reshape(given["weights"], weights.shape)).max(initial=0) <= 1e-5
        assert given["mask"] == shown.trace.mask(kind).ravel().tolist()
    for kind, given in found["forms"].items():
        for form, labels in given.items():
            wanted = form_in(shown, kind, form)
            assert not differences(json.loads(json.dumps(wanted)), labels, f"{kind} {form}")


@pytest.mark.parametrize("name", ["reverse", "reverse-decoder"])
def test_heads_replaced_by_their_mean_or_by_another_sentence_are_those_of_the_app(name: str) -> None:
    """The means are those that came with the page, which are the app's; a pattern of another length is refused."""
    translator, text, other = Translator(load_model(CHECKPOINTS / name)), "attention", "headlight"
    loaded, config = translator.loaded, translator.loaded.model_config
    model = live_model(CHECKPOINTS / name, translator)
    stored = load(model.files[model.card.files["means"].address])
    sample, _, _ = gather(default_choice(loaded.data_config), loaded, unheard)

    def means(heads: Sequence[Head]) -> Means:
        return means_over(loaded, subsample(sample, MEASURED), heads)

    def taken(change: Change) -> NDArray[np.float32]:
        donor, own = (translator.translate(each, DecodeConfig()) for each in (change.other, text))
        return from_another(translator, donor, own, change)

    def request(changes: Sequence[Change]) -> dict[str, Any]:
        edits = [dict(zip(("kind", "layer", "head"), each.place, strict=True)) for each in changes]
        more = [{"op": each.op, "other": each.other} for each in changes]
        return {"edits": [edit | values for edit, values in zip(edits, more, strict=True)]}

    all_changes = [
        Change(kind, config.n_layers(kind), 1 + i % config.n_heads(kind), op, other="" if op == "mean" else other)
        for kind in config.kinds
        for i, op in enumerate(("mean", "pattern", "output"))
    ]
    sets = [*([change] for change in all_changes), all_changes]
    long = Change(config.kinds[-1], 1, 1, "pattern", other="attentive reader")
    jobs = [{"do": "edited", "text": text, "request": request(changes)} for changes in sets]
    jobs.append({"do": "refusal", "of": "edited", "text": text, "request": request([long])})
    *all_found, refused = run(loaded.folder, jobs, means={name: mean.tolist() for name, mean in stored.items()})
    plain = translator.translate(text, DecodeConfig())
    for changes, found in zip(sets, all_found, strict=True):
        shown = translator.translate(text, DecodeConfig(), edit=edits_for(tuple(changes), config, means, taken))
        assert shown.seq != plain.seq
        assert_same_decoding(shown, found)
    with pytest.raises(InputError) as reason:
        taken(long)
    assert refused == str(reason.value)


def test_the_settings_of_decoding_are_those_of_python() -> None:
    [settings] = run(CHECKPOINTS / "reverse", [{"do": "method"}])
    assert settings == to_dict(DecodeConfig())


def _edit(edit: dict[str, Any], model: Any) -> HeadEdit:
    values = edit.get("values")
    if "to" in edit:
        values = moved_by(model, Change(edit["kind"], 0, 0, "position", row=edit["row"] + 1, to=edit["to"] + 1))
    return HeadEdit(**{**edit, "values": None if values is None else np.array(values, dtype=np.float32)})


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
    # The earliest merge at its leftmost place, words longer than are merged at once, half a character.
    texts = ["", "  ", "x" * 250, "die" * 40, "eee lllll sss .....", "a\ud800b"]
    texts += [hostile_text(chance, exceptions) for _ in range(60 * _TIMES)]
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
