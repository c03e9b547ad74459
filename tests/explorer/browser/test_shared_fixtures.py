"""What is computed twice, in Python for exports and in JavaScript for the screen, checked on the same examples.

The examples are in tests/fixtures/; tests/js/*.test.js test the JavaScript on them (`npm test`).
"""

import json
from typing import Any

import numpy as np
import pytest

from explorer.decoding import names
from explorer.decoding.attention_maps import attention_maps, merge, spans
from explorer.files.map_picture import lines_of
from explorer.lessons.answers import bare
from explorer.lessons.expressions import as_number
from explorer.lessons.progress import Outcome, read_progress
from explorer.lessons.sealed import hashed, sealed
from explorer.locale.text import cell_number, weight_percent
from tests.explorer.planted import planted_trace
from tests.paths import ROOT


def _fixture(name: str) -> Any:
    return json.loads((ROOT / "tests" / "fixtures" / f"{name}.json").read_text(encoding="utf-8"))


def _cases(name: str) -> list[Any]:
    fixture = _fixture(name)
    cases = fixture if isinstance(fixture, list) else fixture["cases"]
    return [pytest.param(case, id=case["name"]) for case in cases]


def test_names_and_numbers_are_written_as_in_the_browser() -> None:
    fixture = _fixture("names")
    assert fixture["titles"] == names.KIND_TITLES
    assert {kind: tuple(titles) for kind, titles in fixture["axes"].items()} == names.AXIS_TITLES
    assert fixture["predictedRows"] == names.PREDICTED_ROW_TITLE
    for case in fixture["heads"]:
        kind, layer, head = case["kind"], case["layer"], case["head"]
        assert case == {
            "kind": kind,
            "layer": layer,
            "head": head,
            "title": names.head_title(kind, layer, head),
            "inKind": names.name_in_kind(layer, head),
            "inLayer": names.name_in_layer(head),
            "short": names.short_name(layer, head),
            "shortHead": names.short_head(head),
            "layerName": names.layer_name(layer),
            "shortLayer": names.short_layer(layer),
        }
    fixture = _fixture("weights")
    assert [cell_number(weight) for weight in fixture["weights"]] == fixture["cells"]
    assert [weight_percent(weight) for weight in fixture["weights"]] == fixture["percent"]


@pytest.mark.parametrize("case", _cases("word_merging"))
def test_words_are_merged_as_in_the_browser(case: dict[str, Any]) -> None:
    rows, columns = spans(case["rowWords"]), spans(case["columnWords"])
    assert [list(span) for span in rows] == case["rowSpans"]
    assert [list(span) for span in columns] == case["columnSpans"]
    assert ["".join(case["rows"][start:end]) for start, end in rows] == case["rowNames"]
    weights, mask = merge(np.float32(case["weights"]), np.uint8(case["mask"]), rows, columns)
    assert weights.tolist() == np.float32(case["mergedWeights"]).tolist()
    assert mask.tolist() == case["mergedMask"]


@pytest.mark.parametrize("case", _cases("line_choice"))
def test_lines_are_chosen_as_in_the_browser(case: dict[str, Any]) -> None:
    row = np.where(np.array(case["mask"]) == 0, case["weights"], np.nan)
    assert [key for _, key, _ in lines_of(row[None], case["mass"])] == case["keys"]


def test_heads_have_the_favourite_places_of_the_browser() -> None:
    given = _fixture("head_list")
    shares = {name: np.array(share, dtype=np.float64) for name, share in given["shares"].items()}
    layers, heads = range(given["layers"]), range(given["heads"])
    maps = attention_maps(planted_trace(layers=(1, given["layers"]), heads=(1, given["heads"])), "cross")
    vars(maps).update(shares=shares, chance=dict.fromkeys(shares, 0.25))
    assert [[maps.role(layer, head) for head in heads] for layer in layers] == given["roles"]


def test_lessons_check_answers_and_keep_progress_as_in_the_browser() -> None:
    fixture, read = _fixture("lessons"), lambda text: read_progress(text)[0]
    assert [[text, bare(text)] for text, _ in fixture["bare"]] == fixture["bare"]
    assert [[text, as_number(text)] for text, _ in fixture["numbers"]] == fixture["numbers"]
    for text, digits, letters in fixture["sealed"]:
        assert (hashed("attention.1", text), sealed("attention.1", text)) == (digits, letters)
    for text, codes, unreadable, written in fixture["read"]:
        assert (dict(read(text).codes), read_progress(text)[1], read(text).text) == (codes, unreadable, written)
    assert all(read(own).united(read(other)).text == both for own, other, both in fixture["united"])
    assert all(read(a).without(read(b), read(c)).text == left for a, b, c, left in fixture["without"])
    for text, step, outcome, after in fixture["outcomes"]:
        assert read(text).with_outcome("a", step, Outcome(outcome)).text == after
    assert all(read(text).with_exercise_done("a", step).text == after for text, step, after in fixture["exercises"])
