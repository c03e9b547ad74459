"""Places, selections, views and changes to heads in the address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding import head_change
from explorer.decoding.coordinates import Place, strongest_cell
from explorer.decoding.head_change import Change, added, fitting, from_link
from explorer.decoding.selection import Selection, from_query, to_query
from explorer.decoding.view_options import ViewOptions, format_view, is_view, parse_view
from model.config import ATTENTION_KINDS, ModelConfig
from tests.explorer.planted import planted_trace

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


@pytest.mark.parametrize(
    "options",
    [
        ViewOptions(view="heads", beside=True, scale="log"),
        ViewOptions(view="lines", words=True, next=True, steps=True, mass=60),
        ViewOptions(view="text", heads=(3, 1)),
    ],
)
def test_a_written_view_is_read_back(options: ViewOptions) -> None:
    text = format_view(options)
    assert is_view(text)
    assert parse_view(text) == options


CONFIG = ModelConfig(n_encoder_layers=2, n_decoder_layers=1, n_encoder_heads=4, n_decoder_heads=2)
ALL = (
    Change("cross", 1, 2, "zero"),
    Change("encoder", 2, 4, "uniform"),
    Change("decoder", 1, 1, "mean"),
    Change("cross", 1, 1, "row", row=3, weights=(0, 250, 750)),
    Change("encoder", 1, 1, "pattern", other="äh, </script>~.-"),
    Change("encoder", 1, 2, "output", other="attention"),
)


def test_a_link_restores_every_kind_of_change() -> None:
    link = head_change.to_link(ALL)
    assert from_link(link) == (ALL, [])
    assert fitting(ALL, CONFIG) == (ALL, [])
    assert all(letter.isalnum() or letter in "-._~" for letter in link), "nothing in it needs escaping"
    found, (problem,) = from_link("~".join(["cross.1.1.zero"] * 400))
    assert (found, "the first 256" in problem) == ((Change("cross", 1, 1, "zero"),), True)
    assert head_change.for_any_sentence(ALL) == ALL[:3], "only changes of whole heads"


@pytest.mark.parametrize(
    "link",
    [
        *("cross", "cross.1.1.burn", "both.1.1.zero", "cross.1.1.zero.5"),
        *(f"cross.{place}.zero" for place in ("0.1", "2.1", "1.9")),
        *(f"cross.1.1.row.{weights}" for weights in ("1", "x.500", "1.0-0", "1.-5", "1.5.5")),
        *(f"cross.1.1.pattern{text}" for text in ("", ".%%%", ".____", "." + "QUFB" * 900)),
        "cross.1.1.output.",
        "cross.٣.1.zero",
        "...",
    ],
)
def test_a_link_that_makes_no_sense_gets_a_message(link: str) -> None:
    found, problems = from_link(f"cross.1.1.zero~{link}")
    found, unfit = fitting(found, CONFIG)
    problems += unfit
    assert found == (Change("cross", 1, 1, "zero"),)
    assert len(problems) == 1
    assert "is left out" in problems[0]


def test_a_new_change_takes_the_place_of_the_old_one_of_that_head() -> None:
    first, second = Change("cross", 1, 1, "zero"), Change("cross", 1, 1, "uniform")
    other = Change("cross", 1, 2, "zero")
    assert added((first, other), [second]) == (other, second)
    row, later = Change("cross", 1, 1, "row", 1, (1,)), Change("cross", 1, 1, "row", 2, (1,))
    assert added((first,), [row]) == (row,)
    assert added((row,), [later]) == (row, later)
    assert added((row, later), [Change("cross", 1, 1, "row", 1, (2,))])[0] == later
    assert added((row, later), [first]) == (first,)


def test_only_decoder_rows_are_merged_by_what_they_predict() -> None:
    forms = {text: [parse_view(text).form(kind) for kind in ("encoder", "cross")] for text in ("head", "words.next")}
    assert forms == {"head": ["tokens", "tokens"], "words.next": ["words", "words-next"]}
    assert parse_view("words").form("cross") == "words"


def test_the_cell_explained_unasked_is_the_largest_of_the_map_in_view() -> None:
    trace = planted_trace()
    trace.cross[0, :, 1] = [[0.8, 0.2, 0, 0, 0], [0, 0.65, 0.35, 0, 0]]
    found, said = strongest_cell(trace, Place("cross", 1, 0, row=2))
    assert (found.head, found.column) == (2, 2), "the mean's largest, though head 1 has a larger weight elsewhere"
    assert said.startswith("No cell is chosen, so this is the largest in this row: “2 ")
    assert said.endswith("gives “2 read” 0.425, the mean of 2 heads.")
    of_head, said = strongest_cell(trace, Place("cross", 1, 1, row=2))
    assert (of_head.head, of_head.column) == (1, 1)
    assert said.startswith("No cell is chosen, so this is the largest weight of head 1 in this row: “2 ")
    assert "mean" not in said
    of_column, said = strongest_cell(trace, Place("cross", 1, 0, row=2, column=1))
    assert (of_column.head, of_column.column) == (1, 1)
    assert not said, "the map above and the weight in each head say it"
