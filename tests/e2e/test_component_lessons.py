"""Lessons of the site in a browser, beside a stand-in desk: exercises, answers, progress, keys, themes, phones."""

import re
from collections.abc import Callable
from urllib.parse import unquote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Course
from tests.e2e.lesson_page import page as lesson_page
from tests.some import some

Open = Callable[..., Page]


@pytest.fixture
def opened(page: Page, course: Course) -> Open:
    """`opened("lesson=attention&at=2")`: the page at an address."""
    course.body = lesson_page().decode()

    def go(query: str = "", on: Page = page) -> Page:
        on.goto(f"{course.site}/?{query}")
        on.wait_for_function("() => window.ready")
        return on

    return go


def done(page: Page) -> str | None:
    """The progress in the address."""
    match = re.search(r"[?&]done=([^&]*)", page.url)
    return unquote(match[1]) if match else None


def move(page: Page, **changes: str) -> None:
    page.evaluate("changes => desk.move(changes)", changes)


def heading(page: Page) -> Locator:
    return page.locator(".lessons h2")


def test_a_lesson_from_the_list_to_its_end(opened: Open) -> None:
    page = opened()
    expect(page.locator(".lesson-list li")).to_have_count(5)
    elsewhere = page.locator(".lesson-list li", has_text="Train one yourself")
    expect(elsewhere).to_contain_text("This lesson needs the app: 6 of its 8 pages use parts that only the app has.")
    expect(elsewhere.get_by_role("button")).to_have_count(0)
    expect(page.locator("#desk")).to_be_hidden()
    page.get_by_role("button", name="Start").first.click()

    # The exercise ticks itself, and only then.
    expect(heading(page)).to_have_text("A model that writes backwards")
    expect(heading(page)).to_be_focused()
    expect(page.locator(".prose")).to_contain_text("It read hello and wrote olleh")
    assert page.evaluate("() => asked") == [[{"text": "hello", "step": "1", "model": "reverse"}, "translate"]]
    move(page, step="2")
    expect(page.locator(".do .done")).to_have_text("")
    move(page, step="3")
    expect(page.locator(".do .done")).to_have_text("✓ Done.")
    assert done(page) == "attention.4"

    # Wrong, wrong, right.
    check = page.get_by_role("button", name="Check the answer")
    check.click()
    expect(page.locator(".feedback")).to_have_text("Choose or type an answer first.")
    field = page.get_by_label("How many steps does the model need for hello, the end included?")
    field.fill("5")
    field.press("Enter")
    expect(page.locator(".feedback .wrong")).to_have_text(
        "Not quite: you answered 5. Count the tokens that the model writes, <eos> included."
    )
    assert done(page) == "attention.4"
    field.fill("<b>7</b>")
    check.click()
    expect(page.locator(".feedback .wrong")).to_contain_text("you answered <b>7</b> (2 tries so far).")
    field.fill(" 6,0 ")
    check.click()
    expect(page.locator(".feedback")).to_have_text("Right: 6 steps: five letters and the end.")
    assert done(page) == "attention.6"
    expect(page.get_by_role("button", name="Page 1, done: A model that writes backwards")).to_be_visible()

    # Choices.
    page.keyboard.press("PageDown")
    expect(heading(page)).to_have_text("Where should it look?")
    expect(page.locator("#desk")).to_be_visible()
    page.get_by_role("radio", name="h", exact=True).check()
    check.click()
    expect(page.locator(".feedback .wrong")).to_contain_text("you answered h. The first letter")
    page.get_by_role("button", name="Show me the answer").click()
    expect(page.locator(".feedback .neutral")).to_have_text(
        "The answer: o, the last letter of the source: the model looks at the letter that it writes next."
    )
    assert done(page) == "attention.63"
    page.get_by_role("radio", name="o", exact=True).check()
    check.click()
    expect(page.locator(".feedback .right")).to_contain_text("Right: o, the last letter")
    assert done(page) == "attention.63", "the first outcome is final"
    page.keyboard.press("PageUp")
    expect(page.locator(".feedback")).to_contain_text("Right: 6 steps")

    # The end: about a word of the reader's own.
    page.get_by_role("button", name="Page 7: A word of your own").click()
    expect(page.locator(".ending")).to_contain_text("summed up here once you have answered the last question")
    move(page, text="abc")
    expect(page.locator(".away")).to_have_text("You are looking at a sentence or model of your own. Put it back")
    own = page.get_by_label("What does the model write first for your word?")
    own.fill("o")
    own.press("Enter")
    expect(page.locator(".feedback .wrong")).to_contain_text("It is the token that row 1 predicts.")
    own.fill("c")
    own.press("Enter")
    expect(page.locator(".feedback .right")).to_have_text("Right: c, since it begins at the end.")
    expect(page.locator(".ending li")).to_have_count(4)
    expect(page.locator(".ending")).to_contain_text("7 questions: 2 right after more tries, 1 shown.")
    assert page.evaluate("() => totals.at(-1)") == {
        "complete": 2,
        "steps": 27,
        "questions": 27,
        "counts": [24, 0, 2, 1],
    }
    page.get_by_role("button", name="Next lesson: The whole machine").click()
    expect(heading(page)).to_have_text("Two rows of boxes")
    page.get_by_role("button", name="All lessons").click()
    expect(page.locator(".lesson-list li").first).to_contain_text("2 of 7 pages done")

    # To hand in.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the link with my progress").click()
    expect(page.locator("output")).to_contain_text("Copied: ")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert unquote(copied).endswith("/?done=attention.6300006")


def test_progress_is_kept_in_the_browser_and_in_links_of_the_app(opened: Open) -> None:
    page = opened("lesson=translate&at=3&done=translate.512~masks.1")
    expect(heading(page)).to_have_text("Every token gets a probability")
    expect(page.get_by_role("button", name="Page 1, done: It begins with nothing")).to_be_visible()
    expect(page.locator(".feedback .neutral")).to_contain_text("You had it right: mangeons, with a probability")
    opened("")
    expect(page.locator(".lesson-list li", has_text="word by word")).to_contain_text("2 of 8 pages done")
    assert done(page) == "masks.1~translate.512"
    assert page.evaluate("() => localStorage.getItem('headlight.lessons')") == "masks.1~translate.512"

    # A link of somebody else adds to it, and is left out again.
    opened("done=attention.1~translate.111")
    assert done(page) == "attention.1~masks.1~translate.511"
    page.get_by_role("button", name="Leave it out").click()
    assert done(page) == "masks.1~translate.512"
    expect(page.get_by_role("button", name="Leave it out")).to_have_count(0)

    # Another tab's progress arrives, and clearing it clears this one.
    other = page.context.new_page()
    opened("lesson=machine&at=3", other)
    other.get_by_role("textbox").fill("24")
    other.get_by_role("button", name="Check the answer").click()
    expect(other.locator(".feedback .right")).to_be_visible()
    expect(page.locator(".lesson-list li", has_text="The whole machine")).to_contain_text("0 of 6 pages done")
    page.get_by_text("Clear my progress").click()
    page.get_by_role("button", name="Clear it").click()
    expect(page.locator(".lesson-list li", has_text="The whole machine")).to_contain_text("6 pages, about")
    assert done(page) is None
    expect(other.get_by_role("button", name="Page 3: Three places of attention")).to_be_visible()


def test_a_link_with_a_sentence_of_its_own_is_left_as_it_is(opened: Open) -> None:
    page = opened("lesson=attention&at=5&text=world&model=reverse")
    expect(heading(page)).to_have_text("From the end to the beginning")
    assert page.evaluate("() => asked") == []
    expect(page.locator(".away")).to_contain_text("The question is about the page's.")
    page.get_by_role("button", name="Put it back").click()
    expect(page.locator(".away")).to_be_hidden()
    assert page.evaluate("() => desk.query().text") == "hello"


def test_without_storage_a_sentence_says_so_and_lessons_work(new_page: Page, opened: Open) -> None:
    new_page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })")
    page = opened("", new_page)
    page.get_by_role("button", name="Start").first.click()
    move(page, step="3")
    expect(page.locator(".do .done")).to_have_text("✓ Done.")
    page.get_by_role("button", name="All lessons").click()
    expect(page.locator(".lesson-foot")).to_contain_text("your progress is only in the address of this page")
    assert done(page) == "attention.4"


def test_what_is_wrong_is_said_and_the_rest_works(opened: Open) -> None:
    page = opened("lesson=nothing&at=2&done=!")
    expect(page.get_by_role("alert")).to_have_text(
        "There is no lesson “nothing” here. The lessons below are available."
        "Part of the progress in the link is unreadable and was ignored."
    )
    page = opened("lesson=attention&at=99")
    expect(page.locator(".lesson-words [role=alert]")).to_contain_text("This lesson has pages 1 to 7, not “99”.")
    page.evaluate("() => { desk.failure = 'The model could not be loaded: '.padEnd(900, 'x'); }")
    page.get_by_role("button", name="Next").click()
    failed = page.locator(".lesson-picture [role=alert]")
    page.get_by_role("button", name="Next").click()
    expect(failed).to_contain_text("The figure of this page could not be opened. The model could not be loaded")
    assert len(failed.inner_text()) < 280
    page.get_by_role("textbox").fill("99")
    page.get_by_role("button", name="Check the answer").click()
    expect(page.locator(".feedback .right")).to_be_visible()
    page.evaluate("() => { desk.failure = ''; }")
    page.get_by_role("button", name="Page 7").click()
    move(page, text="!")
    page.get_by_role("textbox").fill("x")
    page.get_by_role("button", name="Check the answer").click()
    expect(page.locator(".feedback")).to_have_text("The answer could not be computed. Type a sentence.")


def test_a_figure_that_would_give_the_answer_away_comes_after_it(opened: Open) -> None:
    page = opened("lesson=masks&at=5")
    expect(page.locator(".caption")).to_have_text("The picture is shown once you have answered.")
    expect(page.locator("#desk, .do")).to_have_count(2)
    for hidden in page.locator("#desk, .do").all():
        expect(hidden).to_be_hidden()
    assert page.evaluate("() => asked") == []


def test_terms_explain_themselves_and_links_leave_the_page_alone(opened: Open) -> None:
    page = opened("lesson=attention&at=2")
    page.locator(".prose a.term").first.click()
    expect(page.locator("#tip")).to_contain_text("attention weight")
    assert page.evaluate("() => [...document.querySelectorAll('.prose a[href^=http]')].length") == 0
    # Page Up and Page Down belong to a text that is being edited.
    page.evaluate("() => document.body.append(document.createElement('textarea'))")
    page.locator("textarea").focus()
    page.keyboard.press("PageDown")
    expect(heading(page)).to_have_text("Where should it look?")


@pytest.mark.parametrize(("width", "dark"), some([(390, True), (1366, False)], 2))
def test_every_page_is_accessible_and_fits(opened: Open, width: int, dark: bool) -> None:
    page = opened()
    page.set_viewport_size({"width": width, "height": 844 if width < 500 else 768})
    page.emulate_media(color_scheme="dark" if dark else "light")
    for address in ("", "lesson=attention&at=2", "lesson=machine&at=1", "lesson=masks&at=4", "lesson=attention&at=7"):
        opened(address)
        if address.endswith("at=2"):
            page.get_by_role("radio").first.check()
            page.get_by_role("button", name="Check the answer").click()
            page.get_by_role("button", name="Show me the answer").click()
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), address
        # A link to a term opens its explanation by script; below the edge of a sheet, axe takes it for a skip link.
        found = Axe().run(page, options={"rules": {"skip-link": {"enabled": False}}}).response["violations"]
        assert [one["id"] for one in found] == [], address
        if address.startswith("lesson=attention"):
            text, figure = (page.locator(f".lesson-{part}").bounding_box() for part in ("text", "picture"))
            assert text
            assert figure
            beside = figure["x"] >= text["x"] + text["width"]
            over = text["y"] > figure["y"] and round(text["y"] + text["height"]) == 844  # a sheet
            assert (beside, over) == (width > 500, width < 500)
