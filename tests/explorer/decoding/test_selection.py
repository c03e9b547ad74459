"""The selection and its form in the address bar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.selection import MAX_TEXT, Selection, from_query, to_query
from model.config import ATTENTION_KINDS

selections = st.builds(
    Selection,
    model=st.text(max_size=20),
    text=st.text(max_size=60),
    path=st.none() | st.lists(st.integers(0, 99_999), min_size=1, max_size=30).map(tuple),
    step=st.integers(0, 200),
    kind=st.sampled_from(ATTENTION_KINDS),
    layer=st.integers(0, 24),
    head=st.integers(0, 24),
    view=st.sampled_from(["", "lines", "head.words.log", "lines.next.mass-60.h-1-3"]),
    panel=st.sampled_from(["", "cell", "tree"]),
    cell=st.none() | st.tuples(st.integers(1, 200), st.integers(0, 200)),
)


@given(selections)
def test_a_link_restores_the_selection(selection: Selection) -> None:
    assert from_query(to_query(selection)) == (selection, [])


@given(st.dictionaries(st.sampled_from(["model", "text", "path", "step", "kind", "layer", "head", "other"]), st.text()))
def test_any_link_gives_a_selection_or_says_what_is_wrong(query: dict[str, str]) -> None:
    selection, problems = from_query(query)
    numbers = {"path", "step", "layer", "head"} & query.keys()
    understood = sum(getattr(selection, name) != getattr(Selection(), name) for name in numbers)
    zeros = sum(query[name].strip("0") == "" and query[name] != "" for name in numbers - {"path"})
    bad_kind = "kind" in query and query["kind"] not in ATTENTION_KINDS
    assert len(problems) == len(numbers) - understood - zeros + bad_kind


def test_numbers_that_only_look_like_numbers_are_refused() -> None:
    for value in ("٣", "²", "-1", "1.5", "1e3", "", "9999999"):
        selection, problems = from_query({"step": value})
        assert selection.step == 0
        assert len(problems) == 1


@pytest.mark.parametrize(
    "query",
    [
        {"view": "<script>"},
        {"view": "lines..log"},
        {"view": "a" * 200},
        {"panel": "../cell"},
        {"cell": "0-1"},
        {"cell": "3"},
        {"cell": "٣-١"},
        {"cell": "1-2-3"},
    ],
)
def test_unknown_views_panels_and_cells_are_refused(query: dict[str, str]) -> None:
    selection, problems = from_query(query)
    assert selection == Selection()
    assert len(problems) == 1


def test_a_sentence_too_long_for_a_link_takes_its_path_with_it() -> None:
    query = to_query(Selection(model="m", text="x" * (MAX_TEXT + 1), path=(5, 2), step=3, cell=(1, 2)))
    assert query == {"model": "m", "step": "3"}
