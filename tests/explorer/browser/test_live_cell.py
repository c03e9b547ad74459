"""One cell as the browser computes it (js/live/cell.js) against the message that Python writes, by Node.js."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.browser import wire
from explorer.browser.cell import encode
from explorer.decoding.coordinates import Place
from explorer.decoding.translator import Translation, Translator
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.edits import HeadEdit, HeadEdits
from model.trace import kinds_of
from tests.explorer.browser.test_live import EDITS, SENTENCES, VARIANTS, run
from tests.explorer.browser.test_live import pytestmark as NEEDS_NODE
from tests.explorer.toy_models import save_toy
from tests.paths import CHECKPOINTS
from tests.some import some

pytestmark = [pytest.mark.slow, NEEDS_NODE]
ON_OUTPUT: tuple[dict[str, Any], ...] = (
    {"kind": "encoder", "layer": 0, "head": 1, "op": "zero"},
    {"kind": "decoder", "layer": 0, "head": 0, "op": "uniform"},
)


def edits_of(given: Sequence[dict[str, Any]]) -> HeadEdits | None:
    edits = [HeadEdit(**({**each, "values": np.array(each["values"])} if "values" in each else each)) for each in given]
    return HeadEdits(tuple(edits)) if edits else None


def places(shown: Translation) -> list[Place]:
    """In each kind: the first head at its first row, the last at its last, and one in the middle."""
    found = []
    for kind in kinds_of(shown.trace):
        layers, heads, rows, keys = shown.trace.weights(kind).shape
        for layer, head, row in ((1, 1, 1), (layers, heads, rows), (layers, 1, (rows + 1) // 2)):
            found.append(Place(kind, layer, head, row, row if kind == "decoder" else keys))
    return found


def message(translator: Translator, shown: Translation, at: Place) -> tuple[dict[str, Any], dict[str, Any]]:
    explained = translator.explain(shown, (at.kind, *at.index), at.row - 1)
    header, arrays = wire.read(encode(explained.details, shown.trace, at, shown.seq, in_view=at.head))
    assert [header.pop(name) for name in ("part", "seq", "in_view", "said")] == ["cell", shown.seq, at.head, ""]
    return header, arrays


def assert_cells_agree(folder: Path, texts: Sequence[str], requests: Sequence[dict[str, Any]]) -> None:
    translator = Translator(load_model(folder))
    wanted, jobs = [], []
    for text in texts:
        for request in requests:
            edit = edits_of(request.get("edits", ()))
            shown = translator.translate(text, DecodeConfig(), prefix=request.get("path", ()), edit=edit)
            for at in places(shown):
                wanted.append(message(translator, shown, at))
                name = {"kind": at.kind, "layer": at.layer, "head": at.head, "query": at.row, "key": at.column}
                jobs.append({"do": "cell", "text": text, "request": request, "at": name})
    assert {job["at"]["kind"] for job in jobs} == set(translator.loaded.model_config.kinds)
    for job, (header, arrays), found in zip(jobs, wanted, run(folder, jobs), strict=True):
        assert found["header"] == header, job
        assert found["arrays"].keys() == arrays.keys(), job
        for part, array in arrays.items():
            given = found["arrays"][part]
            assert given["shape"] == list(array.shape), (job, part)
            error = np.abs(np.reshape(given["values"], array.shape) - array).max()
            assert error <= 1e-5 * max(1.0, float(np.abs(array).max())), (job, part, error)


@pytest.mark.parametrize("name", some(sorted(SENTENCES), 5))
def test_a_cell_of_a_shipped_model(name: str) -> None:
    config = load_model(CHECKPOINTS / name).model_config
    requests: list[dict[str, Any]] = [{}, {"path": [5, 6]}]
    # A decoder that is not causal reads all rows again at each step, so the weights of one row never fit.
    requests.append({"edits": [edit for edit in EDITS if edit["kind"] in config.kinds] if config.causal else ON_OUTPUT})
    assert_cells_agree(CHECKPOINTS / name, SENTENCES[name], requests)


@pytest.mark.parametrize("variant", ["rope", "gate", "not causal"])
def test_a_cell_of_a_variant(variant: str, tmp_path: Path) -> None:
    save_toy(tmp_path / "toy", "reverse", **VARIANTS[variant])
    assert_cells_agree(tmp_path / "toy", ["cabal"], [{}, {"edits": ON_OUTPUT}])


def test_a_key_that_the_row_did_not_see_is_refused_in_the_words_of_python() -> None:
    translator = Translator(load_model(CHECKPOINTS / "reverse"))
    with pytest.raises(ValueError, match="did not exist yet") as refused:
        message(translator, translator.translate("abc", DecodeConfig()), Place("decoder", 1, 1, 2, 3))
    at = {"kind": "decoder", "layer": 1, "head": 1, "query": 2, "key": 3}
    job = {"do": "refusal", "of": "cell", "text": "abc", "request": {}, "at": at}
    assert run(CHECKPOINTS / "reverse", [job]) == [str(refused.value)]
