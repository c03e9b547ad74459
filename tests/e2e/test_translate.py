"""The Translate page in a real browser: a user's first actions, and what must never happen."""

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.web.sidebar import PREFERRED
from model.data import get_task
from tests.browser import Server, Watch, box_of, settle
from tests.e2e.address import Visit, query, type_sentence
from tests.paths import ROOT

RED_BOOKS = "/?model=adjective-swap&text=I+read+red+books"


def steps(page: Page) -> tuple[int, int]:
    counter = page.locator(".controls output")
    expect(counter).to_have_text(re.compile(r"^step \d+ of \d+$"))
    step, last = re.findall(r"\d+", counter.inner_text())
    return int(step), int(last)


def at_step(page: Page, step: int, last: int) -> None:
    expect(page.locator(".controls output")).to_have_text(f"step {step} of {last}")


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
    for said in ("figure.encoder p", "figure.decoder p", ".says"):
        expect(page.locator(said)).to_contain_text("looks at")
    expect(page.locator(".checks")).to_contain_text("rows sum to 1")
    assert box_of(page.locator("figure.cross figcaption"))["y"] <= 740, "on a laptop, in sight without scrolling"
    # A term explains itself to the pointer, to a click and to the keyboard.
    tip, term, address = page.locator(".tip"), page.locator("figure.cross .term"), page.url
    term.hover()
    expect(tip).to_contain_text("cross-attention (looking at the source)")
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    term.click()
    expect(tip).to_be_visible()
    assert page.url == address
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(term).to_be_focused()
    expect(tip).to_contain_text("keys and values of the source")


def test_type_a_sentence_step_through_it_and_reload(visit: Visit) -> None:
    page = visit("/?model=adjective-swap")
    type_sentence(page, "They buy blue cars")
    expect(page.get_by_role("heading", name="ils achetent voitures bleu", exact=True)).to_be_visible()
    settle(page)
    _, last = steps(page)
    expect(page.locator("input:focus")).to_have_count(0)
    for key, step in (("Home", 1), ("ArrowRight", 2)):  # after typing, the keys step
        page.keyboard.press(key)
        at_step(page, step, last)
    page.mouse.click(1340, 400)  # where nothing is
    page.keyboard.press("End")
    at_step(page, last, last)
    assert page.evaluate("() => document.activeElement.matches('main')") is False, "the page is not framed"
    page.reload()
    settle(page)
    field = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    expect(field).to_have_value("They buy blue cars")
    field.fill("   ")
    field.press("Enter")
    expect(page.get_by_text("There is nothing to translate yet")).to_be_visible()


def test_back_and_forward_restore_what_was_on_screen_at_any_speed(visit: Visit) -> None:
    page = visit(f"{RED_BOOKS}&step=1")
    heading = page.locator("h4").first

    def on_screen() -> tuple[str, str | None]:
        settle(page)
        return heading.inner_text(), query(page).get("path")

    visits = [on_screen()]
    page.locator(".option:not([aria-current])").filter(has_text="nous").first.click()
    expect(heading).to_have_text(re.compile("^nous"))
    visits.append(on_screen())
    type_sentence(page, "They buy blue cars")
    expect(heading).not_to_have_text(visits[-1][0])
    visits.append(on_screen())
    assert len(set(visits)) == 3
    back, forward = list(reversed(visits[:-1])), visits[1:]
    for go, (answer, path) in [(page.go_back, at) for at in back] + [(page.go_forward, at) for at in forward]:
        go()
        expect(heading).to_have_text(answer)
        assert on_screen() == (answer, path)


def test_the_tour_goes_by_arrow_keys_and_is_not_offered_again(visit: Visit) -> None:
    page = visit(RED_BOOKS)
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
    framed, stage = box_of(card.locator(".ring")), box_of(page.locator(".stage"))
    assert abs(framed["x"] + 4 - stage["x"]) < 2
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    expect(card).to_be_hidden()
    at_step(page, step, last)
    expect(button).to_be_focused()
    page.reload()
    settle(page)
    expect(button).not_to_have_class("first")
    button.click()
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


@pytest.mark.nightly
def test_a_figure_whose_program_does_not_arrive_says_so(new_page: Page, server: Server, watch: Watch) -> None:
    """As on a class's Wi-Fi; the next visit tries again."""
    new_page.route("**/headlight/*/stepper.json", lambda route: route.fulfill(status=503, body="busy"))
    new_page.goto(f"{server.url}/?model=adjective-swap")
    expect(new_page.get_by_text("This figure could not be loaded. Reload the page.")).to_be_visible()
    new_page.unroute("**/headlight/*/stepper.json")
    new_page.reload()
    expect(new_page.locator("figure.cross canvas")).to_be_visible()
    assert watch.taken(), "the console says why"
