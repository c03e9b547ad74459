"""The sentence box, lessons, times and pairs: arbitrary input gets a result or a message."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.translator import InputError, Translator
from explorer.runs.uploads import store
from model.checkpoint import load_model
from model.config import ATTENTION_KINDS, DecodeConfig
from model.data import DataError
from model.data.files import read_pairs, read_parallel
from model.text.tokenizer import Tokenizer
from tests.explorer.toy_models import save_toy
from tests.fuzz.inputs import TEXTS, damaged, tries
from tests.paths import ROOT

MODELS = {"letters": "reverse", "words": "adjective-swap", "dates": "dates"}


@pytest.fixture(scope="module")
def translators(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Translator]:
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for name, task in MODELS.items():
        save_toy(folder / name, task)
        found[name] = Translator(load_model(folder / name))
    return found | {"subwords": Translator(load_model(ROOT / "checkpoints" / "multi30k-en-de"))}


@pytest.mark.parametrize("model", [*MODELS, "subwords"])
@tries(10)
@given(text=TEXTS, prefix=st.lists(st.integers(-3, 80), max_size=4), beam=st.booleans(), target=TEXTS)
def test_any_sentence_path_and_target(
    translators: dict[str, Translator], model: str, text: str, prefix: list[int], beam: bool, target: str
) -> None:
    config = DecodeConfig(method="beam", beam_size=2, max_length=6) if beam else DecodeConfig(max_length=6)
    translator = translators[model]

    def empty(typed: str, tokenizer: Tokenizer) -> bool:
        return not typed.strip() or not tokenizer.encode(typed).ids

    nothing = empty(text, translator.loaded.source)
    try:
        made = translator.translate(text, config, prefix=prefix)
    except InputError:
        assert nothing or prefix
    else:
        made.text.encode()
        assert made.trace.src_tokens[-1] == "<eos>"
        assert all(made.trace.src_tokens)
        assert np.isfinite(made.trace.probabilities).all()
        for kind in ATTENTION_KINDS:
            assert np.allclose(made.trace.weights(kind).sum(-1), 1, atol=1e-4)
    try:
        made = translator.force(text, target)
    except InputError:
        assert nothing or empty(target, translator.loaded.target)
    else:
        assert made.trace.cross.shape[-2] == len(made.path)


PAIRS = b"source\ttarget\nI read\tje lis\nyou read\ttu lis\n"
JSONL = b'{"source": "I read", "target": "je lis"}\n{"source": "you read", "target": "tu lis"}\n'


@tries(80)
@given(data=st.data())
def test_any_pairs_are_read_or_refused_and_stay_in_their_folder(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("uploads")
    checkpoints = root / "checkpoints"
    suffix = data.draw(st.sampled_from([".tsv", ".csv", ".jsonl", ".txt", ""]))
    name = data.draw(TEXTS.filter(lambda text: "\ud800" not in text)) + suffix
    content = data.draw(damaged(JSONL if suffix == ".jsonl" else PAIRS) | st.binary(max_size=80))
    path = store(name, content, checkpoints)
    assert path.resolve().is_relative_to(checkpoints.resolve())
    assert {found.name for found in root.iterdir()} == {"checkpoints"}
    for read in (lambda: read_pairs(path), lambda: read_parallel(path, path)):
        with contextlib.suppress(DataError):
            pairs = read()
            assert all(example.source.strip() and example.target.strip() for example in pairs.examples)
