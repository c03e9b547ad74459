"""The text of a view in the address."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.view_options import (
    ORDERS,
    PALETTES,
    ROLES,
    SCALES,
    VIEWS,
    ViewOptions,
    format_view,
    is_view,
    parse_view,
)
from tests.paths import ROOT

EXAMPLES = json.loads((ROOT / "tests" / "fixtures" / "view_text.json").read_text(encoding="utf-8"))

any_options = st.builds(
    ViewOptions,
    view=st.sampled_from(VIEWS),
    words=st.booleans(),
    next=st.booleans(),
    steps=st.booleans(),
    beside=st.booleans(),
    scale=st.sampled_from(SCALES),
    palette=st.sampled_from(PALETTES),
    by=st.sampled_from(ORDERS),
    role=st.sampled_from(("", *ROLES)),
    most=st.integers(0, 999).map(lambda tenths: tenths / 10),
    mass=st.integers(10, 100),
    heads=st.lists(st.integers(0, 99), unique=True, max_size=6).map(tuple),
)


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case["text"])
def test_a_text_is_read_as_options(case: dict[str, Any]) -> None:
    read = asdict(parse_view(case["text"]))
    assert read | {"heads": list(read["heads"])} == case["view"]


@given(any_options)
def test_a_written_view_is_read_back(options: ViewOptions) -> None:
    text = format_view(options)
    assert is_view(text)
    assert parse_view(text) == options


@given(st.text(st.sampled_from("abehlmnosty0159.-"), max_size=40))
def test_any_text_has_a_meaning_that_can_be_written(text: str) -> None:
    read = parse_view(text)
    assert parse_view(format_view(read)) == read


def test_the_default_view_is_all_heads() -> None:
    assert format_view(ViewOptions()) == "heads"


@pytest.mark.parametrize(
    ("text", "encoder", "cross"),
    [("head", "tokens", "tokens"), ("words", "words", "words"), ("words.next", "words", "words-next")],
)
def test_only_decoder_rows_are_merged_by_what_they_predict(text: str, encoder: str, cross: str) -> None:
    assert parse_view(text).form("encoder") == encoder
    assert parse_view(text).form("cross") == cross
