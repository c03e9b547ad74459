"""The pictures of the app in docs/images/, taken in headless Chromium from a server of this checkout."""

import io
from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import FloatRect, Page, expect, sync_playwright

from tests.browser import SCREEN, launch, rest, serve
from tests.e2e.tab import OUTSIDE
from tests.paths import ROOT

IMAGES = ROOT / "docs" / "images"
STILL, MOVING = IMAGES / "translate.png", IMAGES / "steps.gif"
SENTENCE = "Two young children are playing football in the park."
STEP_MS, LAST_MS = 1000, 2500
PART: FloatRect = {"x": 320, "y": 0, "width": 1046, "height": 464}  # beside the sidebar, above the maps
MOVING_SIZE = (960, 426)


def take_all() -> None:
    with serve() as server, sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_context(
            viewport={"width": SCREEN["width"], "height": SCREEN["height"]}, reduced_motion="reduce"
        ).new_page()
        page.goto(f"{server.url}/?{urlencode({'model': 'multi30k-en-de', 'text': SENTENCE})}")
        page.mouse.move(*OUTSIDE)
        rest(page)
        page.screenshot(path=STILL)
        save_moving(list(_steps(page)))
        browser.close()


def _steps(page: Page) -> Iterator[Image.Image]:
    page.locator(".controls input").press("Home")
    steps = int(page.locator(".controls output").inner_text().split()[-1])
    for step in range(1, steps + 1):
        expect(page.locator(".controls output")).to_have_text(f"step {step} of {steps}")
        page.mouse.move(*OUTSIDE)
        rest(page)
        picture = Image.open(io.BytesIO(page.screenshot(clip=PART)))
        yield picture.convert("RGB").resize(MOVING_SIZE, Image.Resampling.LANCZOS)
        page.keyboard.press("ArrowRight")


def save_moving(frames: Sequence[Image.Image]) -> None:
    """Save frames as a GIF with one palette, so that only what moves is stored again."""
    width, height = frames[0].size
    everything = Image.new("RGB", (width, height * len(frames)))
    for i, frame in enumerate(frames):
        everything.paste(frame, (0, i * height))
    palette = everything.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [STEP_MS] * len(others) + [LAST_MS]
    first.save(MOVING, save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
