"""A run started, watched, stopped, resumed and opened in the browser, with the real training process behind it."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import psutil
import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.runs.lifecycle import Runs
from explorer.runs.process import LAUNCHES, read_launch
from explorer.runs.status import read_status
from tests.browser import TIMEOUT_MS, Server, box_of, serve
from tests.explorer.toy_runs import save_run

pytestmark = pytest.mark.slow  # real runs

SETTINGS = {
    "Updates (steps)": 160,
    "Updates between evaluations": 20,
    "Tokens per batch": 170,
    "Warm-up updates": 20,
}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_run(folder / "toy", steps=(0, 10, 20, 30))
    return folder


def environment(checkpoints: Path) -> dict[str, str]:
    return {"HEADLIGHT_CHECKPOINTS": str(checkpoints), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def server(checkpoints: Path) -> Iterator[Server]:
    with serve(environment(checkpoints) | {"STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "1"}) as running:
        yield running
    for path in (checkpoints / LAUNCHES).glob("*.json"):
        launch = read_launch(checkpoints, path.stem)
        if launch is not None and launch.alive:
            psutil.Process(launch.pid).kill()


def badge(page: Page, state: str) -> Locator:
    return page.get_by_text(state, exact=True)


def stop_button(page: Page) -> Locator:
    """Our button; Streamlit shows another one in the header while a slow script runs."""
    return page.get_by_test_id("stButton").get_by_role("button", name="Stop")


def step_of(page: Page) -> int:
    """The step that the progress bar names."""
    text = page.get_by_test_id("stProgress").inner_text()
    found = re.search(r"step ([\d,]+)", text)
    return int(found[1].replace(",", "")) if found else 0


@contextmanager
def held(checkpoints: Path, name: str, step: int = 1) -> Iterator[psutil.Process]:
    """The run's process, halted inside the block once it trains and has made this update: a late browser sees it."""
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while True:
        launch, status = read_launch(checkpoints, name), read_status(checkpoints, name)
        if launch and launch.alive and status and status.state == "running" and status.step >= step:
            break
        assert time.monotonic() < deadline, status
        time.sleep(0.02)
    process = psutil.Process(launch.pid)
    process.suspend()
    try:
        yield process
    finally:
        with suppress(psutil.NoSuchProcess):  # the block has killed it
            process.resume()


def fill(page: Page, role: Literal["spinbutton", "textbox"], name: str, value: str) -> None:
    field = page.get_by_role(role, name=name, exact=True)
    field.fill(value)
    field.press("Enter")


def start(page: Page, name: str, steps: int) -> None:
    """Name a run on the form, compare the command with the form, and start it."""
    fill(page, "textbox", "Name", name)
    page.get_by_text("The command").click()
    command = page.get_by_test_id("stCode").last
    expect(command).to_contain_text(f"--name {name} ")
    expect(command).to_contain_text(f"max_steps={steps}")
    page.get_by_role("button", name="Start training").click()


def choose_own_pairs(page: Page, server: Server) -> Locator:
    """The form of Train for pairs of one's own; returns the box for them."""
    page.goto(f"{server.url}/train")
    page.get_by_role("combobox", name="Data").click()
    page.get_by_role("option", name="Your own sentence pairs").click()
    return page.get_by_role("textbox", name="Or paste pairs, one on each line")


@pytest.mark.nightly  # tests/e2e/test_installed.py starts and stops a run; tests/model/training kills and resumes
def test_a_run_from_start_to_translate(page: Page, server: Server, checkpoints: Path) -> None:
    page.goto(f"{server.url}/train")
    page.get_by_text("Settings", exact=True).click()
    for label, value in SETTINGS.items():
        fill(page, "spinbutton", label, str(value))
        page.get_by_text("The command").scroll_into_view_if_needed()
    name = Runs(checkpoints).free_name("mine")  # it has a number where the test is repeated
    start(page, name, SETTINGS["Updates (steps)"])

    with held(checkpoints, name, step=SETTINGS["Updates between evaluations"] + 1):
        expect(badge(page, "running")).to_be_visible()
        expect(page).to_have_url(re.compile(rf"run={name}$"))
        page.get_by_text("Its sharpest row is").wait_for()  # the first evaluation has drawn the watched sentence
        expect(page.get_by_test_id("stProgress")).to_contain_text(re.compile(r"step [1-9]"))  # written apart
        first = step_of(page)
        expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible()
        caption = page.get_by_text(re.compile(r"^Training loss .* at step")).first
        before = caption.inner_text()
        page.reload()
        expect(badge(page, "running")).to_be_visible()

    with held(checkpoints, name, step=first + 2 * SETTINGS["Updates between evaluations"]):
        expect(page.get_by_text(re.compile(r"^Training loss .* at step")).first).not_to_have_text(before)
        expect(page.get_by_test_id("stProgress")).not_to_contain_text(re.compile(rf"step {first:,}\b"))  # written apart
        assert step_of(page) > first > 0
        stop_button(page).click()
        expect(stop_button(page)).to_be_disabled()
    expect(badge(page, "stopped")).to_be_visible()
    stopped = step_of(page)
    assert stopped < SETTINGS["Updates (steps)"]

    page.get_by_role("button", name="Resume").click()
    with held(checkpoints, name) as process:
        expect(badge(page, "running")).to_be_visible()
        process.kill()
    expect(badge(page, "failed")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    with held(checkpoints, name):
        expect(badge(page, "running")).to_be_visible()
    expect(badge(page, "finished")).to_be_visible()
    assert step_of(page) == SETTINGS["Updates (steps)"] > stopped

    page.get_by_role("button", name="Train again like this").click()
    fill(page, "spinbutton", "Seed", "7")
    expect(page.get_by_test_id("stCode").last).to_contain_text(
        f"--like {name} --name {Runs(checkpoints).free_name(name)} "
    )
    expect(page.get_by_test_id("stCode").last).to_contain_text("seed=7")
    page.goto(f"{server.url}/train?run={name}")

    page.get_by_role("link", name="Open in Translate").click()
    expect(page).to_have_url(re.compile(rf"model={name}\b"))
    expect(page.locator(".stepper")).to_be_visible()


def test_a_file_that_is_too_large_is_answered_where_it_stands(page: Page, server: Server) -> None:
    """In words that are seen: Streamlit itself shows them only to a pointer that hovers."""
    choose_own_pairs(page, server).wait_for()
    large = {"name": "large.tsv", "mimeType": "text/plain", "buffer": b"word\tWort\n" * 120_000}
    page.get_by_test_id("stMain").locator('input[type="file"]').first.set_input_files(large)
    said = page.get_by_test_id("stMain").get_by_text("must be 1.0MB or smaller")
    said.wait_for()
    box = box_of(said)
    assert box["width"] > 150
    assert box["height"] > 12


def test_heads_form_in_the_browser(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/runs?entry=toy")
    film = page.locator(".film")
    expect(film.get_by_role("slider")).to_be_visible()
    expect(film.locator(".controls output")).to_have_text("step 30 (4 of 4)")
    film.get_by_role("slider").press("ArrowLeft")
    film.get_by_role("slider").press("ArrowLeft")
    expect(film.locator(".controls output")).to_have_text("step 10 (2 of 4)")
    film.get_by_role("button", name="Layer 1, head 3").click()
    expect(film.locator("figcaption")).to_have_text("Cross-attention, layer 1, head 3, step 10")
    expect(page.get_by_text(re.compile(r"^Step 10, layer 1, head 3\."))).to_be_visible()
    film.get_by_role("button", name="Play").click()
    expect(film.locator(".controls output")).to_have_text("step 30 (4 of 4)")
    expect(film.get_by_role("button", name="Play")).to_be_visible()
    film.locator("figure canvas").press("ArrowDown")
    expect(film.locator("figure output")).to_contain_text("weight 0.")


def test_nothing_covers_the_choice_of_a_run(page: Page, server: Server) -> None:
    """It is in the page's first line, where Streamlit has its header."""
    page.goto(f"{server.url}/train")
    page.get_by_role("button", name="Start training").wait_for()
    page.get_by_test_id("stMain").get_by_test_id("stSelectbox").first.click()
    page.get_by_role("option", name="toy").click()
    expect(page).to_have_url(re.compile(r"run=toy"))
    expect(badge(page, "finished")).to_be_visible()
    page.get_by_role("button", name="New run").click()
    page.get_by_role("button", name="Start training").wait_for()


def test_the_pages_fit_the_screen(page: Page, server: Server) -> None:
    """Nothing is wider than the window, and the first screen of Train holds its one primary action."""
    for address, sign in (("/train", "Start training"), ("/runs?entry=toy", "Watch heads form")):
        page.goto(server.url + address)
        page.get_by_text(sign).first.wait_for()
        if address == "/train":
            last = box_of(page.get_by_text("paper-base", exact=True))
            edge = box_of(page.get_by_role("button", name="Start training"))
            assert last["x"] + last["width"] < edge["x"] + edge["width"], "every preset can be seen"
        box = box_of(page.get_by_text(sign).first)
        assert box["y"] + box["height"] < 768
        assert page.evaluate("document.documentElement.scrollWidth") <= 1366
