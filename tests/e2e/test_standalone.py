"""Pages that stand alone, opened as files: they step, fork and show every head, without a server or a request."""

import dataclasses
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.decoding import Decoding, place_in
from explorer.files.standalone_page import Recording
from explorer.files.standalone_page import page as page_of
from explorer.notebook import show
from explorer.site.command import main
from model.trace import AttentionTrace
from tests.browser import Server, download, settle
from tests.explorer.planted_heads import random_trace
from tests.paths import ROOT

SOURCE = ["the", "c", "at", "sat", "<eos>"]
OWN, OTHER = (100, 101, 102, 103), (100, 200, 102)  # the second takes another candidate of the second row


@pytest.fixture(scope="module")
def traces() -> tuple[AttentionTrace, AttentionTrace]:
    own = random_trace(SOURCE, ["<sos>", "die", "katze", "saß"], seed=1)
    return dataclasses.replace(own, src_words=(0, 1, 1, 2, -1)), random_trace(SOURCE, ["<sos>", "die", "kater"], seed=2)


@pytest.fixture(scope="module")
def file(traces: tuple[AttentionTrace, AttentionTrace], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a translation and one fork."""
    recordings = [
        Recording(Decoding(trace, name, "planted", path), " ".join(trace.predicted_tokens), name, step=2)
        for trace, name, path in zip(traces, ("own", "fork"), (OWN, OTHER), strict=True)
    ]
    path = tmp_path_factory.mktemp("pages") / "page.html"
    path.write_bytes(page_of(recordings, place_in(traces[0], step=1), title="The cat sat", facts=["Model planted."]))
    return path


def test_a_translation_steps_and_its_forks_are_one_click_away(page: Page, file: Path) -> None:
    page.goto(file.as_uri())
    step = page.locator(".controls output")
    expect(step).to_have_text("step 1 of 4")
    expect(page.locator("h1")).to_have_text("The cat sat")
    page.keyboard.press("ArrowRight")
    expect(step).to_have_text("step 2 of 4")
    expect(page.locator(".reads")).to_contain_text("reads 2 die → predicts katze")
    # Only what was recorded can be picked.
    expect(page.locator(".option", has_text="other2")).to_be_disabled()
    page.locator(".option", has_text="other1").click()
    expect(page.locator(".reads")).to_contain_text("predicts kater")
    expect(step).to_have_text("step 2 of 3")
    expect(page.locator("#paths [aria-pressed=true]")).to_contain_text("die kater <eos> fork")
    page.locator("#paths button", has_text="own").click()
    expect(page.locator(".reads")).to_contain_text("predicts katze")
    page.keyboard.press("End")
    expect(step).to_have_text("step 4 of 4")
    # The browser's theme, until another is chosen.
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stepper")).to_have_attribute("data-theme", "dark")
    page.locator("#theme").click()
    expect(page.locator(".stepper")).to_have_attribute("data-theme", "light")
    expect(step).to_have_text("step 4 of 4")
    term = page.locator("figure.focus a.term")
    term.click()
    expect(page.locator("#tip")).to_contain_text("(")


def test_the_heads_are_at_the_same_place_and_their_numbers_are_exact(
    page: Page, file: Path, traces: tuple[AttentionTrace, AttentionTrace]
) -> None:
    page.goto(file.as_uri())
    page.locator(".controls output").wait_for()
    page.keyboard.press("ArrowRight")
    page.locator("#views button", has_text="Heads").click()
    expect(page.locator(".explorer output").first).to_have_text("step 2 of 4")
    expect(page.locator(".tile")).to_have_count(9)  # three layers of two heads and their mean
    page.locator('.tile[value="cross 2 1"]').click()
    canvas = page.locator("figure.cross canvas")
    expect(canvas).to_be_visible()
    for words in (False, True):
        if words:
            page.locator(".options").click()
            page.get_by_label("Whole words instead of subwords").check()
            page.keyboard.press("Escape")
        maps = attention_maps(traces[0], "cross", "words" if words else "tokens")
        columns = len(maps.columns)
        expect(canvas).to_have_attribute("data-plot", re.compile(rf",{columns}$"))
        left, top, cell, *_ = map(float, (canvas.get_attribute("data-plot") or "").split(","))
        canvas.click(position={"x": left + 1.5 * cell, "y": top + 2.5 * cell})
        weight = float(maps.weights[1, 0, 2, 1])
        expect(page.locator(".readout .cell")).to_contain_text(f"{weight:.3f}")
    # Back on the stage, at the place where the heads were left.
    page.locator("#views button", has_text="Step by step").click()
    expect(page.locator("figure.focus")).to_contain_text("layer 2 · head 1")
    expect(page.locator(".controls output")).to_have_text("step 3 of 4")


def test_in_the_frame_of_a_notebook(page: Page, tmp_path: Path, traces: tuple[AttentionTrace, AttentionTrace]) -> None:
    """The frame has no origin, so that nothing in it reaches the notebook; its views draw all the same."""
    notebook = tmp_path / "notebook.html"
    shown = [show(traces[0], title="ours", digits=4), show(encoder=traces[1].encoder, source=SOURCE, view="lines")]
    notebook.write_text("<!doctype html><body>" + "".join(one._repr_html_() for one in shown), encoding="utf-8")
    page.goto(notebook.as_uri())
    ours, theirs = (page.frame_locator("iframe").nth(i) for i in range(2))
    expect(ours.locator(".controls output")).to_have_text("step 1 of 4")
    ours.locator("button[value=forward]").click()
    expect(ours.locator(".controls output")).to_have_text("step 2 of 4")
    expect(theirs.locator(".lines canvas")).to_be_visible()
    expect(theirs.locator(".kinds button:visible")).to_have_text(["Encoder self"])
    origin = theirs.locator("body").evaluate("() => { try { return localStorage.length } catch { return 'none' } }")
    assert origin == "none"


def test_a_damaged_file_says_so(page: Page, file: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.html"
    torn.write_text(re.sub(r'(id="packed">.{500})[^<]*', r"\1", file.read_text(encoding="utf-8")), encoding="utf-8")
    page.goto(torn.as_uri())
    expect(page.get_by_role("alert")).to_contain_text("This page could not be opened")


def test_what_is_on_screen_is_downloaded_as_a_page_that_steps(page: Page, server: Server, tmp_path: Path) -> None:
    """With the fork that was made, at the step on screen; the file needs the server no more."""
    page.goto(f"{server.url}/?model=adjective-swap&text=I+read+red+books&step=2")
    settle(page)
    page.locator(".option:not([aria-current])").first.click()
    expect(page.locator(".reads")).to_contain_text("→ chosen:")
    page.get_by_role("button", name="Export", exact=True).click()
    page.goto(download(page, "Page that steps (HTML)", tmp_path).as_uri())
    expect(page.locator(".controls output")).to_have_text(re.compile("step 2 of "))
    expect(page.locator(".reads")).to_contain_text("→ chosen:")
    expect(page.locator("#paths li")).to_have_count(2)
    page.locator("#paths button").first.click()
    expect(page.locator(".reads")).to_contain_text("→ predicts")
    page.keyboard.press("Home")
    expect(page.locator(".controls output")).to_have_text(re.compile("step 1 of "))


def test_a_folder_of_pages_needs_no_server(page: Page, tmp_path: Path) -> None:
    """Its index is legible to everybody, and what it leads to steps."""
    models = ["--model", "reverse-lstm", "--model", "reverse", "--checkpoints", str(ROOT / "checkpoints")]
    assert main([str(tmp_path), "attention", "--no-live", *models]) == 0
    page.goto((tmp_path / "index.html").as_uri())
    axe = Axe()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert axe.run(page).response["violations"] == []
    page.locator("section", has_text="reverse-lstm").get_by_role("link", name="attention").click()
    expect(page.locator(".controls output")).to_have_text(re.compile("step . of "))
    page.keyboard.press("End")
    expect(page.locator(".controls output")).to_have_text("step 10 of 10")
    assert [one["id"] for one in axe.run(page).response["violations"]] == []
    page.get_by_role("link", name="All examples").click()
    expect(page.get_by_role("heading", name="What a translator looks at")).to_be_visible()
    page.locator("section").last.get_by_role("link", name="attention").click()
    expect(page.locator("h1")).to_have_text("attention")
