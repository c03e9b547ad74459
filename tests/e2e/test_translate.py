"""The Translate page in a real browser: a user's first actions, and what must never happen."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from explorer.web.sidebar import PREFERRED
from model.data import get_task
from tests.browser import Server, Watch, settle
from tests.paths import ROOT

Visit = Callable[[str], Page]
XSS = "<img src=x onerror=alert(1)>"


def counter(page: Page) -> str:
    return page.locator(".controls output").inner_text()


def steps(page: Page) -> tuple[int, int]:
    """(this step, how many there are)."""
    expect(page.locator(".controls output")).to_have_text(re.compile(r"^step \d+ of \d+$"))
    found = re.fullmatch(r"step (\d+) of (\d+)", counter(page))
    assert found
    return int(found[1]), int(found[2])


def at_step(page: Page, step: int, last: int) -> None:
    """Wait until the stepper is at this step."""
    expect(page.locator(".controls output")).to_have_text(f"step {step} of {last}")


def query(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def sentence(page: Page, text: str) -> None:
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    field.fill(text)
    field.press("Enter")
    shown = text if len(text) <= 4000 else None  # a longer one does not go into the address
    page.wait_for_function("text => new URLSearchParams(location.search).get('text') === text", arg=shown)
    settle(page)


def translated(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", name=text, exact=True)).to_be_visible()


def test_open_and_see_a_translation(visit: Visit) -> None:
    """The first screen: the best available model, an example of its task, the answer and all kinds of attention."""
    page = visit("/")
    model = next(name for name in PREFERRED if (ROOT / "checkpoints" / name).is_dir())
    expect(page.get_by_role("combobox", name="Model")).to_have_value(model)
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    expect(field).to_have_value(get_task(model).examples[0].source)
    expect(page.get_by_role("heading", level=4)).to_contain_text(re.compile(r"\w+ \w+"))
    not_the_last = re.compile(r"^step (\d+) of (?!\1$)\d+$")  # the last step predicts <eos>
    expect(page.locator(".controls output")).to_have_text(not_the_last)
    expect(page.locator("figure")).to_have_count(3)
    for kind in ("encoder", "decoder", "cross"):
        expect(page.locator(f"figure.{kind} p")).to_contain_text("looks at")
    expect(page.locator(".checks")).to_contain_text("rows sum to 1")
    page.set_viewport_size({"width": 1366, "height": 768})
    box = page.locator("figure.cross canvas").bounding_box()
    assert box
    assert box["y"] <= 520, "on a laptop, the map in question can be seen without scrolling"
    tip, term = page.locator(".tip"), page.locator("figure.cross .term")
    term.hover()
    expect(tip).to_contain_text("cross-attention (looking at the source)")
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    address = page.url
    term.click()
    expect(tip).to_be_visible()
    assert page.url == address
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(term).to_be_focused()
    expect(tip).to_contain_text("keys and values of the source")


def test_type_and_translate(visit: Visit) -> None:
    page = visit("/?model=adjective-swap")
    sentence(page, "They buy blue cars")
    translated(page, "ils achetent voitures bleu")
    assert query(page)["text"] == "They buy blue cars"


def test_step_by_click_and_by_key(visit: Visit) -> None:
    page = visit("/?model=adjective-swap&text=We+eat+green+apples")
    _, last = steps(page)
    page.get_by_role("button", name="To the first step").click()
    at_step(page, 1, last)
    expect(page.locator(".reads")).to_contain_text("predicts nous")
    page.get_by_role("button", name="One step forward").click()
    at_step(page, 2, last)
    for key, step in (("ArrowRight", 3), ("ArrowLeft", 2), ("End", last), ("Home", 1)):
        page.keyboard.press(key)
        at_step(page, step, last)


def test_play_runs_to_the_end(visit: Visit) -> None:
    page = visit("/?model=adjective-swap&text=We+eat+green+apples&step=4")
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".controls output")).to_have_text("step 5 of 5", timeout=5000)


def test_a_burst_of_keys_is_that_many_steps_and_one_message(context: BrowserContext, server: Server) -> None:
    sent: list[int] = []
    page = context.new_page()
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: sent.append(1)))
    page.goto(f"{server.url}/?model=reverse&text=abcdefghijklmnop&step=1")
    settle(page)
    at_step(page, 1, 17)
    page.wait_for_timeout(600)
    listen = "() => { window.pressed = []; addEventListener('keydown', () => pressed.push(performance.now()), true); }"
    page.evaluate(listen)
    before = len(sent)
    for _ in range(15):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(30)
    at_step(page, 16, 17)
    page.wait_for_function("() => new URLSearchParams(location.search).get('step') === '16'")
    page.wait_for_timeout(600)
    settle(page)
    pressed = page.evaluate("() => pressed")
    assert len(pressed) == 15
    # On a busy machine, two presses may arrive further apart than the pause; then there was a pause.
    pauses = sum(later - earlier > 200 for earlier, later in pairwise(pressed))
    assert 1 <= len(sent) - before <= 1 + pauses
    at_step(page, 16, 17)


def test_typing_a_sentence_does_not_step(visit: Visit) -> None:
    page = visit("/?model=adjective-swap&text=We+eat+green+apples&step=3")
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    field.focus()
    for key in ("Home", "ArrowRight", "End", "Space"):
        field.press(key)
    page.wait_for_timeout(100)
    at_step(page, 3, 5)


def test_the_hint_says_what_the_screen_says(visit: Visit) -> None:
    """Both speak of the word that is predicted, which the row names, too."""
    page = visit("/?model=adjective-swap&text=I+read+red+books&step=3&layer=2")
    expect(page.get_by_text("to predict “livres” it looks at “books”, then back at “red”")).to_be_visible()
    expect(page.locator(".says")).to_contain_text(re.compile(r"^To write livres, .* looks at 4\sbooks"))
    page.keyboard.press("ArrowRight")
    expect(page.locator(".says")).to_contain_text(re.compile(r"^To write rouge, .* looks at 3\sred"))


def test_fork_and_go_back(visit: Visit) -> None:
    page = visit("/?model=adjective-swap&text=I+read+red+books&step=1")
    translated(page, "je lis livres rouge")
    other = page.locator(".option:not([aria-current])").filter(has_text="nous").first
    other.click()
    expect(page.get_by_role("heading", name=re.compile("^nous"))).to_be_visible()
    expect(page.get_by_text("Paths you chose")).to_be_visible()
    settle(page)
    assert "path" in query(page)
    page.get_by_role("button", name="Show", exact=True).click()
    translated(page, "je lis livres rouge")
    settle(page)
    assert "path" not in query(page)


def test_a_copied_link_opens_the_same_view_elsewhere(visit: Visit, elsewhere: Visit) -> None:
    page = visit("/?model=adjective-swap&text=They+buy+blue+cars&step=2")
    page.get_by_role("button", name="Encoder self").click()
    page.get_by_role("button", name="Layer 1").first.click()
    page.get_by_role("button", name="Head 2").first.click()
    page.locator(".option:not([aria-current])").first.click()
    expect(page.get_by_text("Paths you chose")).to_be_visible()
    page.wait_for_timeout(600)
    settle(page)
    page.get_by_role("button", name="Copy link").click()
    other = elsewhere(page.url)
    expect(other.locator(".line.target")).to_have_text(page.locator(".line.target").text_content() or "")
    expect(other.locator(".reads")).to_contain_text("chosen:")
    assert other.locator(".reads").inner_text() == page.locator(".reads").inner_text()
    expect(other.get_by_role("button", name="Back to the model's own choice")).to_be_visible()
    assert counter(other) == counter(page)
    for tab in (page, other):
        expect(tab.get_by_role("button", name="Encoder self")).to_have_attribute("aria-pressed", "true")
        expect(tab.get_by_role("button", name="Head 2").first).to_have_attribute("aria-pressed", "true")
    assert other.locator("figure.encoder small").inner_text() == page.locator("figure.encoder small").inner_text()


def test_the_copy_button_copies_the_address(visit: Visit, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit("/?model=adjective-swap&text=They+buy+blue+cars&step=2")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url


@pytest.mark.parametrize(
    "address",
    [
        "/?text=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "/?model=reverse&text=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "/?model=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "/?text=%3C%2Fscript%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/?text=!%5B%5D(http%3A%2F%2Fexample.org%2Fx.png)%20%24x%24%20%3Ared%5By%5D",
    ],
)
def test_markup_in_the_address_stays_text(visit: Visit, address: str) -> None:
    """Dialogs, script errors and requests to other hosts fail the test when its browser profile closes."""
    page = visit(address)
    assert page.locator("img[src='x'], img[src*='example.org']").count() == 0
    page.wait_for_timeout(300)


def test_markup_typed_stays_text_everywhere(visit: Visit) -> None:
    page = visit("/?model=adjective-swap")
    sentence(page, f"I read {XSS} books")
    page.locator(".stepper details summary").click()
    page.keyboard.press("Home")
    page.wait_for_timeout(300)
    assert page.locator("img[src='x']").count() == 0
    expect(page.locator(".line.source")).to_contain_text("onerror")


@pytest.mark.parametrize("text", ["a", "👩‍👩‍👧 🏳️‍🌈", "مرحبا بالعالم", "你好 世界", "word " * 5000])
def test_odd_sentences_are_drawn(visit: Visit, text: str) -> None:
    page = visit("/?model=adjective-swap")
    sentence(page, text)
    expect(page.locator(".source .chip").last).to_contain_text("<eos>")
    if "好" in text:  # what lies outside what the model can do is said beside the answer
        expect(page.get_by_text("this is far from them")).to_be_visible()
    assert page.locator('[data-testid="stException"]').count() == 0
    if len(text) > 4000:
        expect(page.get_by_text(re.compile("reads at most"))).to_be_visible()
        assert "text" not in query(page)


def test_an_empty_sentence_says_what_to_do(visit: Visit) -> None:
    page = visit("/?model=adjective-swap")
    sentence(page, "   ")
    expect(page.get_by_text("There is nothing to translate yet")).to_be_visible()
    sentence(page, "I read red books")
    translated(page, "je lis livres rouge")


def test_the_sentence_survives_a_reload(visit: Visit) -> None:
    page = visit("/?model=adjective-swap")
    sentence(page, "She sees small houses")
    page.reload()
    settle(page)
    expect(page.get_by_role("textbox", name=re.compile("Type a sentence"))).to_have_value("She sees small houses")


def test_nothing_moves_while_stepping(visit: Visit) -> None:
    page = visit("/?model=adjective-swap&text=I+read+red+books&step=1")
    places = [page.locator(f"figure.{kind}").bounding_box() for kind in ("encoder", "decoder", "cross")]
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)
        assert [page.locator(f"figure.{kind}").bounding_box() for kind in ("encoder", "decoder", "cross")] == places


def test_the_tour_goes_by_arrow_keys_and_is_not_offered_again(visit: Visit) -> None:
    page = visit("/?model=adjective-swap&text=I+read+red+books")
    step, last = steps(page)
    button = page.get_by_role("button", name="Show me")
    expect(button).to_have_class("first")
    button.click()
    card = page.get_by_role("dialog", name="Tour of this page")
    expect(card.locator(".count")).to_have_text("1 of 9")
    expect(card.get_by_role("button", name="Next")).to_be_focused()
    for number in (2, 3):
        page.keyboard.press("ArrowRight")
        expect(card.locator(".count")).to_have_text(f"{number} of 9")
    # What it says is what the stage says.
    said = page.locator(".stepper .says").inner_text()
    for share in re.findall(r"\d+\u202f%", card.locator(".words").inner_text()):
        assert share in said
    at_step(page, step, last)
    page.keyboard.press("ArrowRight")
    at_step(page, step + 1, last)
    page.keyboard.press("ArrowLeft")
    at_step(page, step, last)
    framed = card.locator(".ring").bounding_box()
    stage = page.locator(".stage").bounding_box()
    assert framed is not None
    assert stage is not None
    assert abs(framed["x"] + 4 - stage["x"]) < 2
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    expect(card).to_be_hidden()
    at_step(page, step, last)
    expect(button).to_be_focused()
    page.reload()
    settle(page)
    expect(page.get_by_role("button", name="Show me")).not_to_have_class("first")
    page.get_by_role("button", name="Show me").click()
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


def test_after_typing_the_keys_step(visit: Visit) -> None:
    page = visit("/?model=adjective-swap")
    sentence(page, "They buy blue cars")
    _, last = steps(page)
    page.keyboard.press("Home")
    at_step(page, 1, last)
    page.keyboard.press("ArrowRight")
    at_step(page, 2, last)
    page.mouse.click(1340, 400)  # where nothing is
    page.keyboard.press("End")
    at_step(page, last, last)
    assert page.evaluate("() => document.activeElement.matches('main')") is False, "the page is not framed"


def test_back_and_forward_restore_what_was_on_screen_at_any_speed(visit: Visit) -> None:
    page = visit("/?model=adjective-swap&text=I+read+red+books&step=1")
    heading = page.locator("h4").first

    def on_screen() -> tuple[str, str | None]:
        settle(page)
        return heading.inner_text(), query(page).get("path")

    deeds = [on_screen()]
    page.locator(".option:not([aria-current])").filter(has_text="nous").first.click()
    expect(heading).to_have_text(re.compile("^nous"))
    deeds.append(on_screen())
    for text in ("They buy blue cars", "We see big houses"):
        sentence(page, text)
        expect(heading).not_to_have_text(deeds[-1][0])  # a busy server may not have begun when the page looks settled
        deeds.append(on_screen())
    assert len(set(deeds)) == 4
    for answer, path in reversed(deeds[:-1]):
        page.go_back()
        expect(heading).to_have_text(answer)
        assert on_screen() == (answer, path)
    for answer, path in deeds[1:]:
        page.go_forward()
        expect(heading).to_have_text(answer)
        assert on_screen() == (answer, path)


def test_a_figure_whose_program_does_not_arrive_says_so(new_page: Page, server: Server, watch: Watch) -> None:
    """As on a class's Wi-Fi; the next visit tries again."""
    new_page.route("**/headlight/*/stepper.json", lambda route: route.fulfill(status=503, body="busy"))
    new_page.goto(f"{server.url}/?model=adjective-swap")
    expect(new_page.get_by_text("This figure could not be loaded. Reload the page.")).to_be_visible()
    new_page.unroute("**/headlight/*/stepper.json")
    new_page.reload()
    expect(new_page.locator("figure.cross canvas")).to_be_visible()
    assert watch.taken(), "the console says why"
