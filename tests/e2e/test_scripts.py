"""Sentences in Hebrew, Arabic, Chinese and Japanese, read by a model of our own: each runs as it is written."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.charts.plotly_charts import bars
from explorer.decoding.coordinates import Place
from explorer.decoding.shown_maps import shown_maps
from explorer.decoding.translator import Translator
from explorer.files.map_picture import picture_of
from explorer.files.moving_picture import picture_of as step_picture
from explorer.files.moving_picture import stage_steps
from explorer.files.picture import Box, Cells, Text
from explorer.files.picture_drawing import draw
from explorer.locale import scripts
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.trace import AttentionTrace
from tests.browser import Server, box_of
from tests.e2e.bench import Bench
from tests.e2e.stage import CURVES, settled
from tests.explorer.planted_heads import random_trace
from tests.scripts_model import ARABIC, CHINESE, HEBREW, JAPANESE, UNBROKEN
from tests.some import some

ENGLISH = "the boy reads a new book"
MIXED = "אני אוהב את New York"
HEAD = Place("cross", 1, 1, step=1)


@pytest.fixture(scope="module")
def reader(checkpoints: Path) -> Translator:
    return Translator(load_model(checkpoints / "scripts"))


def read(reader: Translator, text: str, says: str = ENGLISH) -> AttentionTrace:
    """What the model did with a sentence; it knows the answer by heart."""
    translation = reader.translate(text, DecodeConfig())
    assert translation.text == says
    return translation.trace


def run_leftwards(page: Page | Bench, side: str) -> bool:
    """Whether the words of a side stand from right to left, by those of its first line."""
    chips = (page.locator if isinstance(page, Page) else page)(f".{side} .slot:not(.later) .chip")
    boxes = [box_of(chips.nth(i)) for i in range(chips.count())]
    places = [box["x"] for box in boxes if box["y"] < boxes[0]["y"] + boxes[0]["height"]]
    assert places in (sorted(places), sorted(places)[::-1])
    return places[0] > places[-1]


@pytest.mark.parametrize("text", [HEBREW, ARABIC])
def test_the_source_runs_from_right_to_left_and_curves_end_at_its_words(
    stage: Bench, reader: Translator, text: str
) -> None:
    trace = read(reader, text)
    stage.mount(trace, kind="cross", layer=1, head=1)
    settled(stage)
    assert [run_leftwards(stage, side) for side in ("source", "target")] == [True, False]
    ends = np.array(stage.page.evaluate(CURVES, 0.03))
    chips = [box_of(stage(".source .chip").nth(i)) for i in range(len(trace.src_tokens))]
    met = [bool(((ends >= chip["x"]) & (ends <= chip["x"] + chip["width"])).any()) for chip in chips]
    assert met == [bool(weight >= 0.02) for weight in trace.cross[0, 0, 0]]
    stage(".source .chip").first.focus()
    stage.press("ArrowLeft")
    expect(stage(".source .chip").nth(1)).to_be_focused()
    stage.click(".more > button")
    stage("select[name=direction]").select_option("ltr")
    assert not run_leftwards(stage, "source")


def test_a_translation_into_hebrew_is_written_from_the_right(stage: Bench, reader: Translator) -> None:
    stage.mount(read(reader, ENGLISH, HEBREW), step=5, width=240)
    assert [run_leftwards(stage, side) for side in ("source", "target")] == [False, True]
    written, line = (box_of(stage(f".target {part}")) for part in (".next .chip", ".chips"))
    assert line["x"] <= written["x"], "on a phone, the word being written is in sight"
    stage.mount(read(reader, MIXED, "I love New York"))
    chips = [box_of(stage(".source .chip").nth(i))["x"] for i in range(6)]
    assert sorted(range(6), key=chips.__getitem__) == [5, 3, 4, 2, 1, 0], "the English words stand in their own order"


def test_the_first_key_is_the_rightmost_column(heads: Bench, reader: Translator) -> None:
    trace = read(reader, HEBREW)
    heads.prepare()
    heads.listen()
    heads.send(trace, view="head", kind="cross", layer=1, head=1, step=1)
    at = heads.written("cross")
    first, second, last = (at[f"{i + 1} {trace.src_tokens[i]}"][0] for i in (0, 1, len(trace.src_tokens) - 1))
    assert first > second > last
    lightness = np.array(heads.painted("cross"))[:, ::-1]
    assert (lightness.argmin(axis=1) == trace.cross[0, 0].argmax(axis=1)).all()
    tile = np.array(heads.thumbnail("Layer 1, head 1", *trace.cross.shape[2:]))[:, ::-1]
    assert (tile.argmin(axis=1) == trace.cross[0, 0].argmax(axis=1)).all()
    *_, columns = heads.plot("cross")
    heads("figure.cross canvas").click(position=heads.point("cross", 1, columns - 1))
    heads.frame()
    assert f"1 {trace.src_tokens[0]}" in heads.text(".cell")
    assert f"{trace.cross[0, 0, 1, 0]:.3f}" in heads.text(".cell")
    heads("figure.cross canvas").focus()
    heads.press("ArrowLeft")
    assert f"2 {trace.src_tokens[1]}" in heads.text(".cell")
    heads.choose("direction", "ltr")
    assert heads.written("cross")[f"1 {trace.src_tokens[0]}"][0] < second
    assert heads.reported_view() == "head.ltr"


@pytest.mark.parametrize("text", some([CHINESE, JAPANESE], 2))
def test_labels_of_chinese_and_japanese_words_are_whole(heads: Bench, reader: Translator, text: str) -> None:
    trace = read(reader, text, "the student in the library is reading a new book")
    heads.prepare()
    heads.listen()
    heads.send(trace, view="head", kind="cross")
    assert {f"{i} {token}" for i, token in enumerate(trace.src_tokens, start=1)} <= heads.written("cross").keys()
    shown = shown_maps(trace, HEAD, "head")
    assert {f"{i} {token}" for i, token in enumerate(trace.src_tokens, start=1)} <= set(picture_of(shown).texts)
    svg = draw(shown, "svg").decode()
    assert all(token in svg for token in text.split())


def test_a_long_label_ends_between_two_letters(heads: Bench, reader: Translator) -> None:
    trace = read(reader, UNBROKEN, "the student is reading a book about history")
    heads.prepare()
    heads.listen()
    heads.send(trace, view="head", kind="encoder")
    (label,) = {text for text in heads.written("encoder") if text.startswith("1 ")}
    assert f"1 {UNBROKEN}".startswith(label.removesuffix("…"))
    assert label.endswith("…")
    assert len(label) > 4


def test_exports_run_as_the_screen_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys in a map, words in the sentence, and chips in a moving picture."""
    tokens = (*HEBREW.split(), "<eos>")
    trace = random_trace(list(tokens), ["<sos>", "the", "boy"])
    mixed = random_trace(MIXED.split(), ["<sos>", "I"])
    drawn = picture_of(shown_maps(mixed, HEAD, "head")).marks
    assert _x(drawn, "3 את") < _x(drawn, "1 אני") < _x(drawn, "1 אני") + _x(drawn, "5 York") - _x(drawn, "4 New")
    for view, leftwards in (("head", True), ("head.ltr", False)):
        picture = picture_of(shown_maps(trace, HEAD, view))
        (first, last) = (_x(picture.marks, f"{i + 1} {tokens[i]}") for i in (0, len(tokens) - 1))
        assert (first > last) == leftwards
        cells = next(mark for mark in picture.marks if isinstance(mark, Cells)).colours.sum(axis=-1)
        darkest = (cells[:, ::-1] if leftwards else cells).argmin(axis=1)
        assert (darkest == trace.cross[0, 0].argmax(axis=1)).all()
    words = picture_of(shown_maps(trace, HEAD, "text")).marks
    assert _x(words, tokens[0]) > _x(words, tokens[1])
    for direction, leftwards in (("", True), ("ltr", False)):
        step = next(stage_steps(trace, HEAD, direction=direction))
        boxes = [mark for mark in step_picture(step, tokens, step.target, "").marks if isinstance(mark, Box)]
        assert (boxes[0].x > boxes[1].x) == leftwards, "source"
        assert boxes[-2].x < boxes[-1].x, "target"
        monkeypatch.setattr(scripts, "_ask", lambda direction=direction: direction)
        axis = bars({"": [0.5] * len(tokens)}, tokens, y_title="").layout.xaxis
        assert ((axis.categoryarray or [""])[0] == f"{len(tokens)} &lt;eos&gt;") == leftwards, "the axis of a chart"


@pytest.mark.nightly
def test_a_chosen_direction_holds_for_the_machine(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?model=scripts&text={HEBREW}&view=heads.ltr")
    expect(page.locator(".source .chip").first).to_be_visible()
    page.get_by_role("link", name="Inside", exact=True).click()
    for name in ("Cross-attention, decoder layer 1", "Head 1 of Cross-attention, decoder layer 1"):
        page.get_by_role("button", name=name).click()
    page.get_by_role("button", name="Scores ÷ √d_head of head 1").click()
    page.locator(".machine").get_by_role("tab", name="Numbers").click()
    expect(page.locator("table.matrix").first).to_have_attribute("dir", "ltr")


def _x(marks: tuple[object, ...], text: str) -> float:
    return next(mark.x for mark in marks if isinstance(mark, Text) and mark.text.replace("\u200e", "") == text)
