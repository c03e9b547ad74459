"""The text of a view in the address, on the same examples as the browser's parser."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.view_text import VIEWS, parse_view
from tests.paths import ROOT

SHARED = json.loads((ROOT / "tests" / "fixtures" / "view_text.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", SHARED, ids=lambda case: case["text"])
def test_the_shared_examples_are_read_alike(case: dict[str, Any]) -> None:
    read = asdict(parse_view(case["text"]))
    assert read | {"heads": list(read["heads"])} == case["view"]


@given(st.text(st.sampled_from("abehlmnosty0159.-"), max_size=40))
def test_any_text_has_a_meaning(text: str) -> None:
    options = parse_view(text)
    assert options.view in VIEWS
    assert 10 <= options.mass <= 100


@pytest.mark.parametrize(
    ("text", "encoder", "cross"),
    [("head", "tokens", "tokens"), ("words", "words", "words"), ("words.next", "words", "words-next")],
)
def test_only_decoder_rows_are_merged_by_what_they_predict(text: str, encoder: str, cross: str) -> None:
    assert parse_view(text).form("encoder") == encoder
    assert parse_view(text).form("cross") == cross
