"""The site whose pages compute the models: it shows what the app computes for the same link, number for number."""

from __future__ import annotations

import csv
import functools
import io
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.decoding.translator import Translation, Translator
from explorer.files.site import main
from model.checkpoint import load_model
from model.config import AttentionKind, DecodeConfig
from model.edits import HeadEdit, HeadEdits
from model.trace import kinds_of
from tests.browser import Watch
from tests.paths import CHECKPOINTS

OWN = {
    "reverse": "headlight",
    "dates": "7 May 1998",
    "phrases-en-de": "good evening",
    "adjective-swap": "We buy blue cars",
    "adjective-swap-unmasked": "We buy blue cars",
    "multi30k-en-de": "A brown dog doesn't run through the deep snow.",
    "multi30k-de-en": "Zwei Männer spielen vor'm Haus Fußball.",
}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of all shipped models, without recordings."""
    out = tmp_path_factory.mktemp("site") / "under" / "a path"
    assert main([str(out), "--examples", "0"]) == 0
    return out


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """Its address, under a base path, on a server that has files only."""
    handler = functools.partial(_Quiet, directory=str(folder.parent.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/under/a%20path/"
        server.shutdown()


@functools.cache
def translator(name: str) -> Translator:
    return Translator(load_model(CHECKPOINTS / name))


def visit(page: Page, address: str, /, **query: str) -> None:
    page.goto(f"{address}?{urlencode(query)}")
    answered(page)


def answered(page: Page) -> None:
    """Wait until the page has computed what it was asked."""
    expect(page.locator(".desk:not(.busy) .opened")).to_be_visible()


def weights(page: Page) -> tuple[str, np.ndarray]:
    """The kind of attention in view, and all its weights as the page saves them."""
    with page.expect_download() as saving:
        page.get_by_role("button", name="Weights (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(saving.value.path().read_text(encoding="utf-8-sig"), newline="")))
    shape = [max(int(row[axis]) for row in rows) for axis in ("layer", "head", "row", "column")]
    return rows[0]["kind"], np.array([float(row["weight"]) for row in rows]).reshape(shape)


def assert_same(page: Page, expected: Translation) -> None:
    """The translation, and every weight of the kind in view, are the app's but for the last digit."""
    expect(page.locator(".answer .text")).to_have_text(expected.text)
    kind, found = weights(page)
    computed = expected.trace.weights(kind)
    assert found.shape == computed.shape
    assert np.abs(found - computed).max() <= 1e-5


@pytest.mark.parametrize("name", OWN)
def test_a_sentence_of_ones_own_is_computed_forked_and_edited_as_in_the_app(
    page: Page, watch: Watch, site: str, name: str
) -> None:
    """On a server that has only files; nothing else is asked for."""
    model, sentence = translator(name), OWN[name]
    own = model.translate(sentence, DecodeConfig())
    visit(page, site, model=name)
    box = page.get_by_role("textbox", name="Sentence")
    box.fill(sentence)
    box.press("Enter")
    expect(page.locator(".answer .text")).to_have_text(own.text)
    answered(page)
    assert_same(page, own)

    page.locator(".stepper .steps").press("Home")
    page.locator(".options button").nth(1).click()
    token = int(own.trace.top_ids[0][1])
    forked = model.translate(sentence, DecodeConfig(), prefix=(token,))
    expect(page.get_by_role("button", name="Back to the model’s own choice")).to_be_visible()
    answered(page)
    assert_same(page, forked)
    assert f"path={token}" in page.url
    page.get_by_role("button", name="Back to the model’s own choice").click()
    expect(page.locator(".answer .text")).to_have_text(own.text)

    kind: AttentionKind = kinds_of(own.trace)[0]
    visit(page, f"{site}attention/", model=name, text=sentence, kind=kind, layer="1", head="1", view="head")
    page.get_by_role("button", name="Switch off").click()
    expect(page.locator(".changes")).to_contain_text(f"{kind} L1 H1 switched off")
    answered(page)
    edited = model.translate(sentence, DecodeConfig(), edit=HeadEdits((HeadEdit(kind, 0, 0, "zero"),)))
    assert_same(page, edited)
    assert f"edit={kind}.1.1.zero" in page.url

    visit(page, f"{site}attention/", model=name, text=sentence, kind=kind, layer="1", head="1", view="head", cell="1-1")
    page.get_by_role("button", name="Where does this number come from?").click()
    shown = re.compile(r"= (?:[<>] )?(\d(?:\.\d+)?)$")
    line = page.locator(".cell-panel li", has_text=re.compile("^weight"))
    expect(line).to_have_text(shown)
    found = shown.search(line.inner_text())
    assert found
    assert float(found[1]) == pytest.approx(own.trace.weights(kind)[0, 0, 0, 0], abs=1e-4)
    assert "panel=cell" in page.url
    assert watch.taken() == []


def test_a_link_of_the_app_opens_at_its_place_and_back_goes_back(page: Page, site: str) -> None:
    query = {"model": "multi30k-en-de", "text": "A dog runs.", "kind": "encoder", "layer": "2", "head": "3"}
    visit(page, f"{site}attention/", **query, view="head.words", cell="2-4")
    expect(page.locator("figcaption:visible")).to_contain_text("layer 2 · head 3")
    assert "cell=2-4" in page.url
    assert "view=head.words" in page.url
    page.get_by_role("link", name="Translate", exact=True).click()
    expect(page.get_by_role("button", name="Show me")).to_be_visible()
    assert re.fullmatch(re.escape(site) + r"\?.*text=A\+dog\+runs\..*", page.url)
    page.go_back()
    expect(page.locator("figcaption:visible")).to_contain_text("layer 2 · head 3")
    visit(page, site, model="multi30k-en-de", text="A dog runs.", view="guess")
    expect(page.get_by_role("heading", name="Predict it first")).to_be_visible()
    expect(page.locator(".target .next .token")).to_have_text("?")
    page.get_by_role("button", name="Predict first").click()
    expect(page.get_by_role("heading", name="Hund")).to_be_visible()
    page.wait_for_function("() => !location.search.includes('guess')")
    visit(page, site, model="nobody", text="attention", path="5-x", edit="cross.9.9.zero~cross.1.1.mean")
    expect(page.get_by_role("alert")).to_contain_text("The model nobody is not on this page")
    expect(page.get_by_role("alert")).to_contain_text("not a list of token ids")
    expect(page.get_by_role("alert")).to_contain_text("'cross.9.9.zero' is left out")


def test_beam_search_and_drawing_at_random(page: Page, site: str) -> None:
    visit(page, site, model="reverse", text="attention")
    page.get_by_text("Next word: likeliest").click()
    page.get_by_label("Method").select_option("beam")
    expect(page.locator(".hypotheses li")).to_have_count(4)
    beam = translator("reverse").translate("attention", DecodeConfig(method="beam", beam_size=4))
    for number, (text, hypothesis) in enumerate(beam.hypotheses):
        row = page.locator(".hypotheses li").nth(number)
        expect(row).to_contain_text(f"{number + 1}. {text} · score {hypothesis.score:.3f}")
    page.get_by_label("Method").select_option("sample")
    page.locator("[name=temperature]").fill("3")
    page.locator("[name=temperature]").press("Enter")
    expect(page.locator(".method summary")).to_have_text("Next word: drawn at temperature 3")
    answered(page)
    drawn = page.locator(".answer .text").inner_text()
    page.get_by_role("button", name="Draw again").click()
    expect(page.locator(".answer .text")).not_to_have_text(drawn)
    page.get_by_label("Seed").fill("0")
    page.get_by_label("Seed").press("Enter")
    expect(page.locator(".answer .text")).to_have_text(drawn)


@pytest.mark.parametrize("harm", ["truncated", "changed", "missing"])
def test_a_damaged_model_is_refused_and_another_one_opens(page: Page, site: str, folder: Path, harm: str) -> None:
    (weights,) = (folder / "models" / "reverse").glob("model-*")
    whole = weights.read_bytes()
    damaged = {"truncated": whole[:-8], "changed": whole[:-1] + bytes([whole[-1] ^ 1]), "missing": None}[harm]
    page.route(
        f"**/{weights.name}", lambda route: route.fulfill(body=damaged) if damaged else route.fulfill(status=404)
    )
    page.goto(f"{site}?model=reverse")
    says = "could not be loaded (404)" if harm == "missing" else "was cut short, or is not the one"
    expect(page.get_by_role("alert")).to_contain_text(says)
    page.locator("[name=model]").select_option("dates")
    answered(page)
    expect(page.get_by_role("alert")).to_be_hidden()
    page.unroute(f"**/{weights.name}")
    page.locator("[name=model]").select_option("reverse")
    expect(page.locator(".answer .text")).to_have_text("thgildaeh")


def test_what_cannot_be_translated_is_one_sentence(page: Page, site: str) -> None:
    visit(page, site, model="reverse", text="attention")
    box = page.get_by_role("textbox", name="Sentence")
    for text, says in (("   ", "Type a sentence."), ("a" * 300, "This model reads at most")):
        box.fill(text)
        box.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text(says)
    box.fill("日本<b>x</b>")
    box.press("Enter")
    expect(page.locator(".doubt")).to_contain_text("never occurred in training")
    expect(page.locator(".desk b", has_text=re.compile("^x$"))).to_have_count(0)


def test_a_browser_without_workers_is_told(page: Page, site: str) -> None:
    other = page.context.new_page()
    other.add_init_script("delete globalThis.Worker")
    other.goto(site)
    expect(other.get_by_role("alert")).to_contain_text("does not let the page start a worker")
    expect(other.get_by_role("link", name="Recorded examples")).to_be_visible()
    other.close()


def test_the_second_visit_needs_no_network(page: Page, site: str) -> None:
    visit(page, site, model="reverse", text="attention")
    page.evaluate("navigator.serviceWorker.ready")
    visit(page, site, model="reverse", text="attention")  # through the service worker, which stores it
    page.context.set_offline(True)
    try:
        visit(page, site, model="reverse", text="offline")
        expect(page.locator(".answer .text")).to_have_text("enilffo")
    finally:
        page.context.set_offline(False)


def test_one_file_contains_its_model(page: Page, watch: Watch, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert main([str(file), "--model", "reverse", "attention"]) == 0
    assert file.stat().st_size < 1_200_000
    page.goto(file.as_uri())
    answered(page)
    expect(page.locator(".answer .text")).to_have_text("noitnetta")
    box = page.get_by_role("textbox", name="Sentence")
    box.fill("usb stick")
    box.press("Enter")
    expect(page.locator(".answer .text")).to_have_text(
        translator("reverse").translate("usb stick", DecodeConfig()).text
    )
    page.get_by_role("link", name="Attention", exact=True).click()
    expect(page.get_by_role("button", name="All heads")).to_be_visible()
    page.reload()
    answered(page)
    expect(page.get_by_role("textbox", name="Sentence")).to_have_value("usb stick")
    expect(page.get_by_role("button", name="All heads")).to_be_visible()
    assert watch.taken() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible(page: Page, site: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    for place in ("", "attention/", "inside/"):
        visit(page, f"{site}{place}", model="reverse", text="attention")
        found = Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
