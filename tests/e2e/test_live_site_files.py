"""Folders, single pages and packages that the command of the site writes, opened and updated in a browser."""

import os
import re
import shutil
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer.decoding.translator import Translator
from explorer.site.command import main
from model.checkpoint import load_model
from model.config import DecodeConfig
from tests.browser import TIMEOUT_MS
from tests.e2e.live_site import Quiet, answered, served, translator, visit
from tests.explorer.toy_models import save_toy
from tests.some import some


@pytest.mark.nightly  # the second visit without a network: test_live_site
def test_an_update_replaces_program_and_weights_together(page: Page, tmp_path: Path) -> None:
    """Written over the old folder, as the documentation says; without a network, the newest version opens."""
    models, out, texts = tmp_path / "models", tmp_path / "site", list[str]()
    write = [str(out), "--examples", "0", "--checkpoints", str(models), "--model", "toy", "--overwrite"]

    def look(site: str) -> None:
        visit(page, site, text="abc")
        expect(page.locator(".answer .text")).to_have_text(texts[-1])

    with ExitStack() as after, served(out) as site:
        for seed in (1, 2):
            shutil.rmtree(models, ignore_errors=True)
            save_toy(models / "toy", "reverse", seed=seed)
            texts.append(Translator(load_model(models / "toy")).translate("abc", DecodeConfig()).text)
            assert main(write) == 0
            for file in out.rglob("*") if seed == 1 else ():  # the server tells files apart by the second
                os.utime(file, (time.time() - 60,) * 2)
            (version,) = re.findall(r"[0-9a-f]{10}(?=`)", (out / "service-worker.js").read_text(encoding="utf-8"))
            Quiet.asked.clear()
            look(site)
            page.evaluate("navigator.serviceWorker.ready.then((found) => found.update())")
            deadline = time.monotonic() + TIMEOUT_MS / 1000
            while page.evaluate("caches.keys()") != [f"headlight {site} {version}"]:
                assert time.monotonic() < deadline, "the new version did not replace the old one"
                page.wait_for_timeout(50)
            if seed == 1:
                look(site)  # what is loaded from now on is stored
        assert texts[0] != texts[1]
        assert any("/model-" in line for line in Quiet.asked)
        assert not any("/tokenizer-" in line for line in Quiet.asked), "what is the same is not loaded again"
        after.callback(page.context.set_offline, False)
        page.context.set_offline(True)
        look(site)


@pytest.mark.parametrize("compiles", some((True, False), 2))
def test_one_file_contains_its_model(page: Page, tmp_path: Path, compiles: bool) -> None:
    """From a disk, too, it multiplies in WebAssembly; or without, where a policy forbids that."""
    file = tmp_path / "page.html"
    assert main([str(file), "--model", "reverse", "attention"]) == 0
    assert file.stat().st_size < 1_200_000
    if not compiles:
        file.write_text(file.read_text(encoding="utf-8").replace(" 'wasm-unsafe-eval'", ""), encoding="utf-8")
    page.goto(file.as_uri())
    answered(page)
    (worker,) = page.workers
    empty = "new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))"
    assert worker.evaluate(f"() => {{ try {{ return !!{empty}; }} catch {{ return false; }} }}") is compiles
    expect(page.locator(".answer .text")).to_have_text("noitnetta")
    box = page.get_by_role("textbox", name="Sentence")
    box.fill("usb stick")
    box.press("Enter")
    expect(page.locator(".answer .text")).to_have_text(
        translator("reverse").translate("usb stick", DecodeConfig()).text
    )
    page.get_by_role("link", name="Attention", exact=True).click()
    expect(page.get_by_role("button", name="All heads")).to_be_visible()
    expect(page).to_have_url(re.compile("page=attention"))  # written once the page has been painted
    page.reload()
    answered(page)
    expect(page.get_by_role("textbox", name="Sentence")).to_have_value("usb stick")
    expect(page.get_by_role("button", name="All heads")).to_be_visible()
