"""Every lesson in a real browser, first step to last, by mouse and by keyboard; handouts without a network."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from explorer.lessons.answers import Solution, solve
from explorer.lessons.lesson import Lesson
from explorer.lessons.lesson_file import read_lesson
from explorer.screens.lessons.running_models import evaluate, start_of
from explorer.web import runtime
from tests.browser import SCREEN, box_of, download, rest, settle
from tests.e2e.address import Visit
from tests.paths import ROOT

CONTENT = ROOT / "explorer" / "lessons" / "content"
LESSONS = {name: read_lesson(CONTENT / f"{name}.md") for name in ("attention", "machine", "masks", "translate")}
NEXT = ".st-key-lesson_next button"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", ROOT / "checkpoints")


def solution_of(lesson: Lesson, at: int) -> Solution | None:
    """The right answer of a step; None if it asks nothing, or if its model is not here."""
    step = lesson.step(at)
    if step.question is None or step.missing(runtime.models()):
        return None
    start = start_of(step)
    return solve(step.question, lambda expression: evaluate(expression, start, start))


def wrong_answer(solution: Solution) -> tuple[int | None, str]:
    """The number of a wrong choice, or None, and a wrong answer in words."""
    return None if solution.choice is None else int(solution.choice == 0), "something else"


def answer_by_keyboard(page: Page, choice: int | None, text: str) -> None:
    form = page.get_by_test_id("stForm")
    if choice is None:
        field = form.get_by_role("textbox")
        field.focus()
        expect(field).to_be_focused()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        return
    option, button = form.get_by_role("radio").nth(choice), form.get_by_role("button", name="Check the answer")
    option.press("Space")
    expect(option).to_be_checked()
    button.press("Enter")


def on_step(page: Page, lesson: Lesson, at: int) -> None:
    expect(page.get_by_role("heading", name=lesson.step(at).title, exact=True)).to_be_visible()
    settle(page)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["attention", "machine", "translate"])
def test_a_lesson_by_keyboard_in_large_type(visit: Visit, name: str) -> None:
    """Each question is answered wrongly first, then rightly; after any answer, the picture is there.

    These lessons have all kinds of figures; tests/pages answers the questions of all lessons.
    """
    lesson = LESSONS[name]
    page = visit(f"/lessons?lesson={lesson.name}&at=1&present=1")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    alerts, hidden = page.get_by_test_id("stAlert"), page.get_by_text("is shown once you have answered.")
    asked = 0
    for at in range(1, len(lesson.steps) + 1):
        on_step(page, lesson, at)
        solution = solution_of(lesson, at)
        if solution:
            asked += 1
            expect(hidden).to_have_count(int(lesson.step(at).after))
            answer_by_keyboard(page, *wrong_answer(solution))
            expect(alerts.filter(has_text="Not quite: you answered")).to_be_visible()
            expect(hidden).to_have_count(0)
            settle(page)
            answer_by_keyboard(page, solution.choice, solution.text)
            expect(alerts.filter(has_text="Right:")).to_be_visible()
            expect(alerts.filter(has_text="Not quite")).to_have_count(0)
            settle(page)
            page.evaluate("document.activeElement.blur()")
        if at < len(lesson.steps):
            page.keyboard.press("PageDown")
    assert asked >= 2
    expect(page.locator(NEXT)).to_be_disabled()
    expect(page.locator(".st-key-lesson_ending")).to_be_visible()
    page.keyboard.press("PageUp")
    on_step(page, lesson, len(lesson.steps) - 1)
    page.keyboard.press("p")
    expect(page.get_by_test_id("stHeader")).to_be_visible()


def test_a_figure_grows_with_the_type_and_knows_where_it_is_clicked(visit: Visit) -> None:
    page = visit("/lessons?lesson=attention&at=3&present=1")
    canvas = page.locator("canvas[data-plot]").first
    expect(canvas).to_have_attribute("data-plot", re.compile(","))
    larger = canvas.evaluate("canvas => canvas.getBoundingClientRect().width / canvas.offsetWidth")
    assert larger > 1.4
    rest(page)
    canvas.scroll_into_view_if_needed()
    left, top, cell, *_ = (float(number) for number in (canvas.get_attribute("data-plot") or "").split(","))
    box = box_of(canvas)
    assert box["x"] + box["width"] <= SCREEN["width"]
    page.mouse.click(box["x"] + larger * (left + 4.5 * cell), box["y"] + larger * (top + 0.5 * cell))
    rest(page)
    expect(page.locator("p", has_text=re.compile(r"\bDone\.$"))).to_be_visible()


def test_text_and_machine_move_together_and_on_a_phone_the_text_is_a_sheet(visit: Visit) -> None:
    page = visit("/lessons?lesson=machine&at=3")
    title, done = page.locator(".machine h3"), page.locator("p", has_text=re.compile(r"\bDone\.$"))
    expect(title).to_have_text("Cross-attention, decoder layer 1")
    expect(done).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Masked decoder self-attention")).first.click()
    expect(done).to_be_visible()
    settle(page)
    page.keyboard.press("PageDown")
    on_step(page, LESSONS["machine"], 4)
    expect(title).to_have_text("Cross-attention, decoder layer 1 › head 2")
    page.set_viewport_size({"width": 390, "height": 844})
    sheet, picture = page.locator(".st-key-lesson_sheet"), page.locator(".machine")
    rest(page)
    assert box_of(picture)["y"] < 300, "the picture is on the first screen, above the text"
    assert box_of(sheet)["y"] > 400
    page.get_by_text("Fold", exact=True).click()
    rest(page)
    assert box_of(sheet)["y"] > 740


@pytest.mark.nightly
def test_the_lesson_stays_open_on_another_page(visit: Visit) -> None:
    page = visit("/lessons?lesson=masks&at=4")
    page.get_by_role("button", name="Open on the page Masks").click()
    expect(page.get_by_role("heading", name="Decoder self-attention, masked")).to_be_visible()
    settle(page)
    side = page.get_by_test_id("stSidebar")
    expect(side.get_by_text("Why close anything?")).to_be_visible()
    page.get_by_test_id("stMain").get_by_text("Lift the causal mask", exact=True).click()
    settle(page)
    expect(side.locator("p", has_text=re.compile(r"\bDone\.$"))).to_be_visible()
    settle(page)
    side.locator(".st-key-lesson_onward button").click()
    on_step(page, LESSONS["masks"], 5)


@pytest.fixture
def offline(browser: Browser) -> Iterator[tuple[Page, list[str], list[str]]]:
    """A page without a network, its requests for anything but files, and the dialogs that opened."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: None if request.url.startswith("file:") else asked.append(request.url))

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    yield page, asked, dialogs
    context.close()


@pytest.mark.nightly
def test_handout_and_summary_open_without_a_network_and_run_nothing(
    visit: Visit, offline: tuple[Page, list[str], list[str]], tmp_path: Path
) -> None:
    lesson = LESSONS["attention"]
    page = visit(f"/lessons?lesson=attention&at={len(lesson.steps)}")
    page.get_by_test_id("stForm").get_by_role("textbox").fill(HOSTILE)
    page.get_by_role("button", name="Check the answer").click()
    expect(page.get_by_test_id("stAlert").filter(has_text=HOSTILE)).to_be_visible()
    page.get_by_text("On paper: handout and summary").click()
    page.get_by_role("textbox", name="Your name, for the summary").fill(HOSTILE)
    page.keyboard.press("Enter")
    settle(page)
    paper, asked, dialogs = offline
    for button in ("Summary to hand in", "Handout with answers"):
        paper.goto(download(page, button, tmp_path).as_uri())
        expect(paper.get_by_role("heading", name=lesson.title)).to_be_visible()
        assert not paper.locator("img, script").count()
        if button == "Summary to hand in":
            expect(paper.get_by_role("heading", name=f"Lessons: {HOSTILE}")).to_be_visible()
            expect(paper.get_by_role("cell", name=HOSTILE, exact=True)).to_be_visible()
        else:
            assert paper.locator(".figures figure svg").count() >= 1
            expect(paper.get_by_role("heading", name="Answers")).to_be_visible()
    assert not asked
    assert not dialogs


def test_progress_is_kept_in_the_browser_and_can_be_cleared(visit: Visit) -> None:
    page = visit("/lessons?lesson=attention&at=2")
    form = page.get_by_test_id("stForm")
    form.get_by_test_id("stRadio").locator("label:has(input)").nth(3).click()
    page.get_by_role("button", name="Check the answer").click()
    expect(page.get_by_test_id("stAlert").filter(has_text="Right:")).to_be_visible()
    page.wait_for_function("localStorage.getItem('headlight.lessons') === 'attention.01'")
    # A visit without a link, later: the list knows what was answered; then a link with progress of somebody else.
    page.goto(page.url.partition("?")[0])
    start = page.locator(".st-key-lesson_start_attention button")
    expect(start).to_have_text("Continue")
    expect(page.get_by_text("Your progress is kept in this browser")).to_be_visible()
    page.goto(page.url.partition("?")[0] + "?done=masks.1")
    page.get_by_role("button", name="Leave it out").click()
    expect(page.locator(".st-key-lesson_start_masks button")).to_have_text("Start")
    expect(start).to_have_text("Continue")
    page.wait_for_function("localStorage.getItem('headlight.lessons') === 'attention.01'")
    page.get_by_role("button", name="Clear my progress").click()
    page.get_by_role("button", name="Clear it").click()
    expect(start).to_have_text("Start")
    page.wait_for_function("localStorage.getItem('headlight.lessons') === null")
