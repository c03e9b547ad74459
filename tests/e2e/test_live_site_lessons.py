"""Lessons of the site in a browser: exercises, answers, progress, keys, themes, phones; and as a SCORM 1.2 package."""

import re
import zipfile
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FrameLocator, Locator, Page, expect

from explorer.site.command import main
from tests.e2e.live_site import served
from tests.paths import ROOT
from tests.some import some

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    out = tmp_path_factory.mktemp("site")
    assert main([str(out), "--examples", "0", "--model=reverse", "--model=adjective-swap"]) == 0
    with served(out) as address:
        yield f"{address}lessons/"


@pytest.fixture
def opened(page: Page, site: str) -> Open:
    """`opened("lesson=attention&at=2")`: the page at an address."""

    def go(query: str = "", on: Page = page) -> Page:
        on.goto(f"{site}?{query}")
        expect(on.locator(".lesson-words h2, .lesson-list").first).to_be_visible()
        return on

    return go


def done(page: Page) -> str | None:
    match = re.search(r"[?&]done=([^&]*)", page.url)
    return unquote(match[1]) if match else None


def heading(page: Page) -> Locator:
    return page.locator(".lesson-words h2")


def step_on(page: Page | FrameLocator) -> None:
    page.get_by_role("button", name="One step forward").click()


def translate(page: Page | FrameLocator, text: str) -> None:
    page.get_by_role("textbox", name="Sentence").fill(text)
    page.get_by_role("button", name="Translate", exact=True).click()


def test_a_lesson_from_the_list_to_its_end(opened: Open) -> None:
    page = opened()
    elsewhere = page.locator(".lesson-list li", has_text="Train one yourself")
    expect(elsewhere).to_contain_text("This lesson needs the app: 6 of its 8 pages use parts that only the app has.")
    expect(elsewhere.get_by_role("button")).to_have_count(0)
    expect(page.locator(".desk")).to_be_hidden()
    page.get_by_role("button", name="Start").first.click()

    # The exercise ticks itself, and only then.
    expect(heading(page)).to_have_text("A model that writes backwards")
    expect(heading(page)).to_be_focused()
    expect(page.locator(".prose")).to_contain_text("Here it reads hello.")
    expect(page.locator(".answer .text")).to_have_text("olleh")
    step_on(page)
    expect(page.locator(".do .done")).to_have_text("")
    step_on(page)
    expect(page.locator(".do .done")).to_have_text("✓ Done.")
    assert done(page) == "attention.4"

    # Wrong, wrong, right.
    check = page.get_by_role("button", name="Check the answer")
    check.click()
    expect(page.locator(".feedback")).to_have_text("Choose or type an answer first.")
    field = page.get_by_label("What will it write for another word, cat?")
    field.fill("cat")
    field.press("Enter")
    expect(page.locator(".feedback .wrong")).to_have_text("Not quite: you answered cat. Read cat from its end.")
    field.fill("<b>7</b>")
    check.click()
    expect(page.locator(".feedback .wrong")).to_contain_text("you answered <b>7</b> (2 tries so far).")
    field.fill(" tac ")
    check.click()
    expect(page.locator(".feedback")).to_have_text("Right: tac, the letters of cat from the last one to the first.")
    assert done(page) == "attention.6"
    expect(page.get_by_role("button", name="Page 1, done: A model that writes backwards")).to_be_visible()

    # Choices.
    page.keyboard.press("PageDown")
    expect(heading(page)).to_have_text("Where should it look?")
    page.get_by_role("radio", name="h", exact=True).check()
    check.click()
    expect(page.locator(".feedback .wrong")).to_contain_text("you answered h. The answer is the source backwards")
    page.get_by_role("button", name="Show me the answer").click()
    expect(page.locator(".feedback .neutral")).to_have_text(
        "The answer: e: the head looks at the letter that the model writes next."
    )
    assert done(page) == "attention.63"
    page.keyboard.press("PageUp")
    expect(page.locator(".feedback")).to_contain_text("Right: tac")

    # The end: about a word of the reader's own.
    page.get_by_role("button", name="Page 7: A word of your own").click()
    expect(page.locator(".ending")).to_contain_text("summed up here once you have answered the last question")
    translate(page, "abc")
    expect(page.locator(".away")).to_have_text("You are looking at a sentence or model of your own. Put it back")
    own = page.get_by_label("What does the model write first for your word?")
    own.fill("c")
    own.press("Enter")
    expect(page.locator(".feedback .right")).to_have_text("Right: c, since it begins at the end.")
    expect(page.locator(".ending li")).to_have_count(4)
    expect(page.locator(".ending")).to_contain_text("7 questions: 1 right at the first try")
    page.get_by_role("button", name="Next lesson: The whole machine").click()
    expect(heading(page)).to_have_text("Two rows of boxes")
    page.get_by_role("button", name="All lessons").click()
    expect(page.locator(".lesson-list li").first).to_contain_text("2 of 7 pages done")

    # To hand in.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the link with my progress").click()
    expect(page.locator("output", has_text="Copied: ")).to_be_visible()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert unquote(copied).endswith("done=attention.6300005")
    page.get_by_role("link", name="Class", exact=True).click()
    page.get_by_role("textbox").fill(f"Ada {copied}")
    expect(page.locator("table tbody tr")).to_contain_text("Ada")


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
    page.get_by_text("Clear my progress").click()
    page.get_by_role("button", name="Clear it").click()
    expect(page.locator(".lesson-list li", has_text="word by word")).to_contain_text("20 min")
    assert done(page) is None


def test_a_link_with_a_sentence_of_its_own_is_left_as_it_is(opened: Open) -> None:
    page = opened("lesson=attention&at=5&text=world&model=reverse")
    expect(heading(page)).to_have_text("From the end to the beginning")
    expect(page.locator(".away")).to_contain_text("The question is about the page's.")
    page.get_by_role("button", name="Put it back").click()
    expect(page.locator(".away")).to_be_hidden()
    expect(page.get_by_role("textbox", name="Sentence")).to_have_value("hello")


def test_what_is_wrong_is_said_and_the_rest_works(page: Page, opened: Open) -> None:
    page.route("**/model-*", lambda route: route.fulfill(status=404))
    opened("lesson=attention&at=2")
    expect(page.locator(".lesson-picture [role=alert]", has_text="could not be loaded (404)")).to_be_visible()
    page.unroute("**/model-*")
    opened("lesson=nothing&at=2&done=!")
    expect(page.get_by_role("alert").first).to_have_text(
        "There is no lesson “nothing” here. The lessons below are available."
        "Part of the progress in the link is unreadable and was ignored."
    )
    opened("lesson=attention&at=99")
    expect(page.locator(".lesson-words [role=alert]")).to_contain_text("This lesson has pages 1 to 7, not “99”.")


def test_a_figure_that_would_give_the_answer_away_comes_after_it(opened: Open) -> None:
    page = opened("lesson=masks&at=5")
    expect(page.locator(".caption")).to_have_text("The picture is shown once you have answered.")
    expect(page.locator(".desk")).to_be_hidden()
    expect(page.locator(".do")).to_be_hidden()


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
    for address in ("", "lesson=attention&at=2", "lesson=machine&at=1"):
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


# The platform: its API, which enforces the standard, is in the window around the frame of the lesson.
_PLATFORM = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Platform</title>
<link rel="icon" href="data:,"></head><body><script type="module">
%s
window.begin = (kept) => {
  window.platform = scormApi(kept);
  window.API = platform.api;
  const frame = document.createElement("iframe");
  frame.src = "attention/index.html";
  Object.assign(frame.style, { width: "1200px", height: "700px" });
  document.body.replaceChildren(frame);
};
window.finish = () => document.body.replaceChildren();
</script></body></html>"""


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a platform with the unpacked package of the first lesson."""
    folder = tmp_path_factory.mktemp("platform")
    assert main([str(folder), "--scorm", "--model=reverse", "--lang=en"]) == 0
    zipfile.ZipFile(folder / "attention.zip").extractall(folder / "attention")
    api = (ROOT / "tests" / "js" / "scorm_api.js").read_text(encoding="utf-8").replace("export function", "function")
    (folder / "index.html").write_text(_PLATFORM % api, encoding="utf-8")
    with served(folder) as address:
        yield address


def begin(page: Page, kept: dict[str, str]) -> FrameLocator:
    page.evaluate("kept => begin(kept)", kept)
    frame = page.frame_locator("iframe")
    frame.locator(".lessons").wait_for()
    return frame


def finish(page: Page) -> dict[str, Any]:
    """Leave the lesson; returns what the platform has kept."""
    page.evaluate("() => finish()")
    page.wait_for_function("() => platform.log.at(-1)[0] === 'LMSFinish'")
    assert page.evaluate("() => platform.failures()") == []
    return dict(page.evaluate("() => platform.committed()"))


def test_a_package_over_two_visits_within_the_standard(page: Page, platform: str) -> None:
    """tests/js/scorm.test.js has the rest of the standard."""
    page.goto(platform)
    frame = begin(page, {"cmi.student_data.mastery_score": "50"})
    frame.get_by_label("What will it write for another word").fill("tac")
    frame.get_by_role("button", name="Check the answer").click()
    expect(frame.locator(".feedback .right")).to_be_visible()
    frame.get_by_role("button", name="Next", exact=True).click()
    expect(frame.locator(".lesson-words h2")).to_have_text("Where should it look?")
    kept = finish(page)
    assert kept["cmi.core.lesson_status"] == "incomplete"
    assert kept["cmi.suspend_data"] == "attention.1"
    assert kept["cmi.core.lesson_location"] == "attention:2"
    assert kept["cmi.core.exit"] == "suspend"
    assert kept["cmi.core.session_time"].startswith("0000:0")

    # The second visit goes on where the first one ended, on another computer, too: nothing is in the browser.
    assert page.evaluate("() => localStorage.length") == 0
    frame = begin(page, kept | {"cmi.suspend_data": "attention.555115", "cmi.core.entry": "resume"})
    expect(frame.locator(".lesson-words h2")).to_have_text("Where should it look?")
    frame.get_by_role("button", name="Page 7").click()
    translate(frame, "abc")
    expect(frame.locator(".answer .text")).to_have_text("cba")
    frame.get_by_label("What does the model write first").fill("c")
    frame.get_by_role("button", name="Check the answer").click()
    page.wait_for_function("() => platform.values['cmi.core.lesson_status'] === 'passed'")
    kept = finish(page)
    assert kept["cmi.suspend_data"] == "attention.5551155"
    assert (kept["cmi.core.score.raw"], kept["cmi.core.exit"]) == ("100", "")
