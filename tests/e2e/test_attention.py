"""The Attention page in a real browser: from all heads to one cell, and reopening it from a link."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.decoding.translator import Translator
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.trace import AttentionTrace
from tests.browser import settle
from tests.paths import ROOT

Visit = Callable[[str], Page]
TEXT = "I read red books"


@pytest.fixture(scope="module")
def trace() -> AttentionTrace:
    """What the page must show."""
    loaded = load_model(ROOT / "checkpoints" / "adjective-swap")
    return Translator(loaded).translate(TEXT, DecodeConfig()).trace


def query(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def wait_for(page: Page, **expected: str) -> None:
    """Wait until the address says this."""
    page.wait_for_function(
        "want => { const has = new URLSearchParams(location.search);"
        " return Object.entries(want).every(([name, value]) => has.get(name) === value); }",
        arg=expected,
    )
    settle(page)


def drawn(page: Page, kinds: str = "cross") -> None:
    expect(page.locator(".explorer")).to_have_attribute("data-drawn", re.compile(rf" {re.escape(kinds)}$"))


def test_grid_to_head_to_cell_by_mouse(visit: Visit, trace: AttentionTrace) -> None:
    page = visit(f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}")
    drawn(page)
    expect(page.locator(".tile")).to_have_count(10)
    page.get_by_role("button", name=re.compile("^Layer 2, head 2:")).click()
    canvas = page.locator("figure.cross canvas")
    expect(canvas).to_have_attribute("data-plot", re.compile(","))
    left, top, cell, *_ = map(float, (canvas.get_attribute("data-plot") or "").split(","))
    canvas.click(position={"x": left + 3.5 * cell, "y": top + 2.2 * cell})
    weight = trace.cross[1, 1, 2, 3]
    expect(page.locator(".cell")).to_contain_text(f"{weight:.4f}")
    rank = int((trace.cross[1, 1, 2] > weight).sum()) + 1
    expect(page.locator(".cell")).to_contain_text(f"{rank} of 5")
    wait_for(page, kind=None, layer="2", head="2", view="head", cell="3-4", step="3")  # type: ignore[arg-type]


def test_grid_to_head_to_cell_by_keyboard_and_the_link_reopens_it(
    visit: Visit, elsewhere: Visit, trace: AttentionTrace
) -> None:
    page = visit(f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}&kind=encoder")
    drawn(page, "encoder")
    page.get_by_role("button", name=re.compile("^Layer 1, head 1:")).focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("figure.encoder small")).to_contain_text("layer 2 · head 2")
    page.locator("figure.encoder canvas").focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator(".cell")).to_contain_text(f"{trace.encoder[1, 1, 2, 1]:.4f}")
    wait_for(page, kind="encoder", layer="2", head="2", view="head", cell="3-2")
    other = elsewhere(page.url)
    drawn(other, "encoder")
    for part in (".cell", ".caption", "figure.encoder figcaption"):
        assert other.locator(part).inner_text() == page.locator(part).inner_text()
    assert query(other) == query(page)


def test_captions_and_tables_say_what_was_computed(visit: Visit, trace: AttentionTrace) -> None:
    page = visit(f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}&view=head&layer=2&head=1&step=3")
    drawn(page)
    page.locator(".explorer summary").click()
    expect(page.locator(".explorer tbody tr")).to_have_count(trace.cross.shape[-1])
    row = trace.cross[1, 0, 2]
    cells = [line.split("\t") for line in page.locator(".explorer tbody tr").all_inner_texts()]
    assert [float(weight) for _, weight, _ in cells] == pytest.approx(row.tolist(), abs=5e-5)
    assert [int(rank) for *_, rank in cells] == [int((row > weight).sum()) + 1 for weight in row]
    best = int(row.argmax())
    expect(page.locator(".caption")).to_contain_text(re.compile(rf"{trace.src_tokens[best]}\s{round(100 * row[best])}"))


def test_one_kind_is_sent_at_first_and_another_when_it_is_opened(visit: Visit) -> None:
    page = visit(f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}")
    drawn(page)
    page.get_by_role("button", name="Side by side").click()
    drawn(page, "encoder+decoder+cross")
    expect(page.locator(".tile")).to_have_count(30)
    wait_for(page, view="heads.beside")


def test_lines_follow_the_hovered_token(visit: Visit, trace: AttentionTrace) -> None:
    page = visit(f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}&view=lines&layer=2&head=2")
    drawn(page)
    page.locator(".left .end").nth(2).hover()
    row = np.sort(trace.cross[1, 1, 2].astype(float))[::-1]
    few = int(np.searchsorted(np.cumsum(row), 0.8 - 1e-6)) + 1
    expect(page.locator(".body canvas")).to_have_attribute("data-lines", str(few))
    expect(page.locator(".caption")).to_contain_text("3 lis → predicts livres")


def test_steps_by_key_move_all_views_and_send_nothing_more(visit: Visit) -> None:
    page = visit(f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}&view=text&step=1")
    drawn(page)
    for key, step in (("ArrowRight", 2), ("End", 5), ("ArrowLeft", 4), ("Home", 1)):
        page.keyboard.press(key)
        expect(page.locator(".walk output")).to_have_text(f"step {step} of 5")
    wait_for(page, step="1", view="text")


@pytest.mark.parametrize("text", ["a", "</script>", "👩‍👩‍👧 🏳️‍🌈", "مرحبا بالعالم", "你好 世界", "the the the the"])
@pytest.mark.parametrize("view", ["heads.beside", "head", "lines", "text"])
def test_odd_sentences_are_drawn(visit: Visit, text: str, view: str) -> None:
    page = visit(f"/attention?model=reverse&view={view}")
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    field.fill(text)
    field.press("Enter")
    wait_for(page, text=text)
    expect(page.locator(".explorer")).to_have_attribute("data-view", view.split(".")[0])
    expect(page.locator(".caption")).not_to_be_empty()
    assert page.locator('[data-testid="stException"]').count() == 0


def test_the_button_of_a_cell_opens_its_numbers(visit: Visit, trace: AttentionTrace) -> None:
    page = visit(f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}&view=head&layer=2&head=2&cell=3-4")
    drawn(page)
    page.get_by_role("button", name="Where does this number come from?").click()
    wait_for(page, panel="cell")
    expect(page.get_by_text("Where does this weight come from?")).to_be_in_viewport()
    focused = page.locator(".arrival:focus")
    expect(focused).to_have_attribute("aria-label", "One cell")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".walk output")).to_have_text("step 4 of 5")


def test_keys_step_after_typing_and_after_clicking_anywhere(visit: Visit) -> None:
    page = visit(f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}&step=1")
    drawn(page)
    step = page.locator(".walk output")
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    field.fill("you see old houses")
    field.press("ArrowLeft")  # in the field, it moves the cursor
    field.press("Enter")
    wait_for(page, text="you see old houses")
    drawn(page)
    page.keyboard.press("Home")
    expect(step).to_have_text("step 1 of 5")
    assert field.input_value() == "you see old houses"
    page.get_by_role("button", name=re.compile("^Layer 2, head 2:")).click()
    wait_for(page, layer="2", head="2")
    page.keyboard.press("ArrowRight")
    expect(step).to_have_text("step 2 of 5")
    page.keyboard.press("Space")  # plays, and does not press the head again
    expect(step).to_have_text("step 5 of 5")
    page.mouse.click(1350, 740)  # beside everything
    page.keyboard.press("ArrowLeft")
    expect(step).to_have_text("step 4 of 5")
    assert page.evaluate("() => document.activeElement.tagName") == "BODY", "the page as a whole is not framed"
    page.keyboard.press("3")
    expect(page.locator(".explorer")).to_have_attribute("data-view", "lines")
    page.keyboard.press("?")
    expect(page.locator("dialog.keyhelp")).to_contain_text("one step back, forward")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.keyhelp")).to_have_count(0)


def test_it_opens_where_there_is_most_to_see_and_the_diagram_leads_to_another_place(visit: Visit) -> None:
    page = visit("/attention?model=multi30k-en-de")
    drawn(page)
    expect(page.locator(".walk output")).to_have_text("step 5 of 9")
    place = page.locator(".model [aria-checked=true]")
    expect(place).to_have_attribute("aria-label", "Cross-attention, layer 4")
    page.locator(".model").get_by_role("radio", name="Masked decoder self-attention, layer 2").click()
    expect(place).to_have_attribute("aria-label", "Masked decoder self-attention, layer 2")
    expect(page.get_by_role("button", name="Decoder self")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".caption")).to_contain_text("Masked decoder self-attention: all 16 heads")
    wait_for(page, kind="decoder", layer="2", step="5")


def settled_plot(page: Page) -> str:
    """Where a map stands in its canvas and how large its cells are, once the page around it has stopped moving."""
    canvas, before = page.locator("figure.cross canvas"), ""
    while (now := canvas.get_attribute("data-plot") or "") != before:
        before = now
        page.wait_for_timeout(500)
    return now


def test_a_head_is_equally_large_by_link_and_from_the_lines(visit: Visit) -> None:
    address = f"/attention?model=adjective-swap&text={TEXT.replace(' ', '+')}&layer=2&head=2"
    page = visit(f"{address}&view=head")
    drawn(page)
    opened = settled_plot(page)
    page = visit(f"{address}&view=lines")
    drawn(page)
    page.get_by_role("button", name="One head").click()
    expect(page.locator("figure.cross canvas")).to_have_attribute("data-plot", opened)
