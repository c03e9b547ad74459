"""Exported numbers are the trace's own, masked cells are empty, and every figure opens, whatever the tokens are."""

import csv
import dataclasses
import io
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread
from PIL import Image

from explorer.decoding.attention_file import read_own
from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.comparison import single_row
from explorer.decoding.labelled_map import LabelledMap, difference, head_map, labelled
from explorer.decoding.shown_maps import ShownMaps
from explorer.decoding.view_options import ViewOptions
from explorer.files.map_files import map_file, maps_stem, npz_bytes, stem
from explorer.files.map_picture import levels, picture_of, scale_of
from explorer.files.picture import shades
from explorer.files.picture_drawing import FIRST_FONT, Format, draw, fonts_for, masked_runs, missing_note
from explorer.files.tables import CSV_COLUMNS, harmless, map_csv, maps_csv, table_csv
from model.config import ATTENTION_KINDS, AttentionKind
from model.trace import kinds_of
from tests.explorer.planted import planted_trace
from tests.explorer.shown_maps import VIEWS, noisy, on_screen
from tests.paths import ROOT
from tests.some import some


@pytest.mark.parametrize(("view", "kind"), list(zip(VIEWS, cycle(ATTENTION_KINDS), strict=False)))
def test_csv_holds_the_traces_own_float32_and_nothing_where_masked(view: str, kind: AttentionKind) -> None:
    trace = noisy()
    shown = on_screen(trace, view, kind)
    rows = list(csv.DictReader(io.StringIO(maps_csv(shown).decode("utf-8-sig"))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert len(rows) == sum(one.values.size for one in shown.maps)
    for row in rows:
        assert not any(cell[:1] in "=+-@" for cell in row.values() if cell), "no cell begins a formula"
        weights, layer, head = trace.weights(row["kind"]), int(row["layer"]), int(row["head"])
        query, key = (int(row[name].split(" ", 1)[0]) - 1 for name in ("query", "key"))
        if row["kind"] != "encoder":
            assert row["predicts"].split(" ", 1)[0] == str(query + 2)
        if trace.mask(row["kind"])[query, key]:
            assert (row["mask"], row["weight"]) == ("future", "")
            continue
        own = weights[layer - 1, head - 1] if head else weights[layer - 1].astype(np.float64).mean(0).astype(np.float32)
        assert row["mask"] == ""
        assert np.float32(row["weight"]).tobytes() == own[query, key].tobytes(), "bit for bit"


@pytest.mark.parametrize("kinds", [("encoder",), ("decoder",), ("cross",), ATTENTION_KINDS])
def test_npz_opens_again_with_equal_arrays_and_masks(kinds: tuple[AttentionKind, ...]) -> None:
    trace = noisy()
    content = npz_bytes(trace, kinds)
    assert kinds_of(read_own(content, "again.npz").trace) == kinds
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        for kind in kinds:
            assert archive[kind].dtype == np.float32
            np.testing.assert_array_equal(archive[kind], trace.weights(kind))
            np.testing.assert_array_equal(archive[f"{kind}_mask"], trace.mask(kind))


def test_the_grid_has_all_heads_in_order() -> None:
    trace = noisy()
    former = on_screen(trace, "heads.by-keys.role-itself.most-10.cividis", "encoder")
    assert [place.index for place in former.places] == list(np.ndindex(2, 3)), "links that sorted or filtered them"
    assert on_screen(planted_trace(), "heads", "encoder").notes[0] == "1.0 keys, itself 100 %"
    beside = on_screen(trace, "heads.beside.max")
    assert {place.kind for place in beside.places} == set(ATTENTION_KINDS)
    assert {one.top for one in beside.maps} == {max(one.values.max() for one in beside.maps)}, "one scale"


def test_rows_beyond_the_step_are_absent_and_labels_follow_the_alignment() -> None:
    stepped = on_screen(noisy(), "head.steps", row=2).maps[0]
    assert (stepped.rows, stepped.values.shape[0]) == (("<sos>", "je"), 2)
    aligned = on_screen(noisy(), "head.next").maps[0]
    assert (aligned.rows, aligned.predicted) == (("je", "lis", "=cmd", "<eos>"), ())
    assert aligned.row_title == "decoder predicts (query)"


def test_colours_follow_the_numbers() -> None:
    one = on_screen(noisy(), "head", "decoder").maps[0]
    visible = one.mask == 0
    seen = one.values[visible]
    for scale, expected in (("unit", seen), ("log", np.clip(1 + np.log10(seen) / 4, 0, 1))):
        shades = levels(one, scale)
        np.testing.assert_allclose(shades[visible], expected, atol=1e-6)
        assert np.isnan(shades[~visible]).all()


@given(st.integers(0, 2**24 - 1))
def test_masked_stretches_cover_the_masked_cells_and_no_other(bits: int) -> None:
    mask = np.array([bits >> i & 1 for i in range(24)], np.bool_).reshape(4, 6)
    again = np.zeros(mask.shape, np.uint8)
    for row, start, end in masked_runs(mask):
        again[row, start:end] += 1
    np.testing.assert_array_equal(again, mask)


def check(content: bytes, kind: Format) -> str:
    """The text of a figure that opens: "" for PNG and PDF."""
    if kind == "png":
        with Image.open(io.BytesIO(content)) as picture:
            picture.verify()
            assert min(picture.size) > 100
        return ""
    if kind == "pdf":
        assert content.startswith(b"%PDF-")
        assert content.rstrip().endswith(b"%%EOF")
        return ""
    root = ElementTree.fromstring(content)
    assert root.tag.endswith("svg")
    for node in root.iter():
        assert not node.tag.endswith(("script", "foreignObject"))
        links = [value for name, value in node.attrib.items() if name.endswith("href")]
        assert all(value.startswith(("#", "data:image/png;base64,")) for value in links)
    return "".join(root.itertext())


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_drawn_with_any_tokens(view: str) -> None:
    shown = on_screen(noisy(), view)
    text = check(draw(shown, "svg"), "svg")
    assert shown.title in text
    assert "Sentence: <b>x</b>" in text
    if view.startswith(("head.", "lines")):
        assert "=cmd" in text
        assert "$x^2$" in text


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_every_kind_of_file_opens_and_is_the_same_file_again(kind: Format) -> None:
    content = draw(on_screen(noisy(), "head"), kind)
    check(content, kind)
    assert draw(on_screen(noisy(), "head"), kind) == content


@pytest.mark.parametrize(("size", "view"), some(product((1, 100), ("heads", "head", "lines", "text")), 3))
def test_one_token_and_a_hundred_are_drawn(size: int, view: str) -> None:
    trace = planted_trace(tuple(f"s{i}" for i in range(size)), tuple(f"t{i}" for i in range(size)), layers=(1, 2))
    check(draw(on_screen(trace, view, "decoder", row=1), "svg"), "svg")


def test_a_head_in_svg_says_its_numbers_axes_and_labels() -> None:
    text = check(draw(on_screen(planted_trace(), "head"), "svg"), "svg")
    for part in ("decoder reads (query)", "source (key)", "1 <sos> → je", "3 red", "weight"):
        assert part in text
    assert re.search(r">\s*1\s*<", draw(on_screen(planted_trace(), "head"), "svg").decode()), "a weight of 1"
    masked = check(draw(on_screen(planted_trace(), "head", "decoder"), "svg"), "svg")
    assert "hatched" in masked


def labels_in(svg: bytes) -> list[str]:
    return [text.replace("\u200e", "").strip() for text in ElementTree.fromstring(svg).itertext()]


def test_words_from_right_to_left_are_joined_and_turn_nothing_around_them() -> None:
    shown = on_screen(planted_trace(("هذا", "ספר", "<eos>"), ("<sos>", "זה", "יפה")), "head")
    texts = picture_of(shown).texts
    assert {"\u200e1 هذا\u200e", "\u200e2 זה\u200e → יפה\u200e", "3 <eos>"} <= set(texts)
    assert "“1 هذا\u200e” (100 %)" in texts[-1]
    assert "1 هذا" in labels_in(draw(shown, "svg"))


def test_many_sessions_may_draw_at_once() -> None:
    shown = [on_screen(planted_trace(), view) for view in ("heads", "head", "lines", "text")]
    expected = [draw(one, "svg") for one in shown]
    with ThreadPoolExecutor(4) as sessions:
        assert list(sessions.map(lambda one: draw(one, "svg"), shown)) == expected


def test_characters_without_a_font_are_named() -> None:
    families, missing = fonts_for(["plain text → ‖x‖"])
    assert families[0] == FIRST_FONT
    assert missing == ""
    assert fonts_for(["\U000e0101\U0010fffd"])[1] == "\U0010fffd", "invisible marks need no font"
    assert "\U0010fffd" in missing_note(["\U0010fffd"])
    assert missing_note(picture_of(on_screen(planted_trace(), "head")).texts) == ""


def the_map(kind: AttentionKind = "decoder", layer: int = 1, head: int = 1) -> LabelledMap:
    return head_map(attention_maps(noisy(), kind), layer, head)


DIFFERENCE = difference(the_map(head=1), the_map(head=2), "B minus A")


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("shown", [the_map(), the_map("cross"), DIFFERENCE], ids=["head", "cross", "difference"])
def test_csv_of_a_single_map_holds_its_numbers(shown: LabelledMap) -> None:
    rows = rows_of(map_csv(shown))
    for row, value, code in zip(rows, shown.values.flat, shown.mask.flat, strict=True):
        assert (row[shown.unit], row["mask"]) == (("", "future") if code else (str(value), ""))
        assert row["map"] == shown.title
    assert [row["key"] for row in rows[: len(shown.columns)]] == list(shown.column_labels)
    cut = rows_of(map_csv(single_row(the_map("cross"), 3)))
    assert {(row["query"], row["predicts"]) for row in cut} == {("3 lis", "4 =cmd")}, "a row keeps its position"


def test_every_map_is_drawn() -> None:
    maps = attention_maps(noisy(), "encoder")
    long = labelled(maps, 7 * maps.weights[0, 0], "Layer 1: ‖weight × value × W_O‖", unit="length", top=None)
    for shown in (DIFFERENCE, long, single_row(the_map("cross"), 2)):
        content = map_file("svg", shown, "A caption </script>.").decode()
        assert "A caption &lt;/script&gt;." in content
        largest = f"{float(np.abs(shown.values[shown.mask == 0]).max()):.2f}"
        assert "+" * shown.signed + largest.lstrip("0") in re.findall(r"[+-]?\d*\.\d+", content)
    assert imread(io.BytesIO(map_file("png", DIFFERENCE, "A caption."))).std() > 0
    assert map_file("pdf", DIFFERENCE, "A caption.").startswith(b"%PDF-")


@pytest.mark.parametrize(
    "text", ["=1+1", '=HYPERLINK("https://evil.example")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1"]
)
def test_a_formula_becomes_text_and_other_text_is_unchanged(text: str) -> None:
    (row,) = rows_of(table_csv([{text: text}]))
    assert row == {f"'{text}": f"'{text}"}
    for other in ("-0.5", "+3", "1e-07", "", "3 the", "a=b", "−0.5", "'quoted'"):
        assert harmless(other) == other


def test_streamlits_own_export_is_switched_off_and_every_table_is_drawn_in_one_place() -> None:
    """Finding D33: a note "=HYPERLINK(…)" left the table of runs by Streamlit's "Download as CSV"."""
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["client"]["disableDataExport"] is True
    drawing = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "explorer").rglob("*.py")
        if re.search(r"\bst\.(dataframe|table)\b", path.read_text(encoding="utf-8"))
    ]
    assert drawing == ["explorer/web/figures.py"]


def test_differences_are_blue_below_zero_and_orange_above() -> None:
    shown = dataclasses.replace(DIFFERENCE, top=1.0)
    scale = scale_of(ShownMaps(shown.title, "", (shown,), (), ("",), ViewOptions(view="head"), row=0))
    values = np.array([[-1.0, 0.0, 1.0]], np.float32)
    few = dataclasses.replace(shown, values=values, mask=np.zeros((1, 3), np.uint8))
    assert levels(few, "unit").tolist() == [[0.0, 0.5, 1.0]]
    (low, middle, high) = shades(scale, levels(few, "unit"))[0]
    assert low[2] > low[0]
    assert high[0] > high[2]
    assert max(middle) - min(middle) < 0.05


def test_names_of_files_are_plain() -> None:
    assert maps_stem(on_screen(noisy(), "head"), "my model/../x") == "my-model-..-x-attention-cross-l1-h1-head"
    assert maps_stem(on_screen(noisy(), "heads"), "") == "attention-cross"
    assert stem("my model/../x-B minus A") == "my-model-..-x-B-minus-A"


def test_rows_and_columns_give_the_same_file() -> None:
    rows = [{"token": "a", "weight": -0.5}, {"token": "b", "weight": None}]
    columns = {"token": ["a", "b"], "weight": [-0.5, None]}
    assert table_csv(rows) == table_csv(columns)
    assert rows_of(table_csv(rows)) == [{"token": "a", "weight": "-0.5"}, {"token": "b", "weight": ""}]
    assert rows_of(table_csv([{"a": 1}, {"b": 2}])) == [{"a": "1", "b": ""}, {"a": "", "b": "2"}]
    assert rows_of(table_csv([])) == []
