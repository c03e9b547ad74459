"""The site whose pages compute the models: it shows what the app computes for the same link, number for number."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from explorer.decoding.aggregates import aggregate
from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.comparison import compare, compare_rows, counterpart, pair_in_words
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import map_caption
from explorer.decoding.pair_marks import own_words
from explorer.decoding.translator import Translation
from explorer.site.command import main
from model.config import AttentionKind, DecodeConfig
from model.edits import HeadEdit, HeadEdits
from model.trace import kinds_of
from tests.e2e.live_site import HEADERS, STORED, answered, served, translator, visit
from tests.some import some

# The others are compared with Python by tests/explorer/browser, without a browser.
OWN = {
    "adjective-swap": "We buy blue cars",
    "reverse-decoder": "headlight",  # a decoder alone
    "multi30k-en-de": "A brown dog doesn't run through the deep snow.",  # words in pieces
    "reverse": "headlight",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of some shipped models, without recordings."""
    out = tmp_path_factory.mktemp("site") / "under" / "a path"
    assert main([str(out), "--examples", "0", *(f"--model={name}" for name in OWN)]) == 0
    return out


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """The address of the site, under a base path."""
    with served(folder.parent.parent) as root:
        yield f"{root}under/a%20path/"


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
    np.testing.assert_allclose(found, expected.trace.weights(kind), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", some(OWN, len(OWN)))
def test_a_sentence_of_ones_own_is_computed_forked_and_edited_as_in_the_app(page: Page, site: str, name: str) -> None:
    """On a server that has only files; nothing else is asked for."""
    model, sentence = translator(name), OWN[name]
    own = model.translate(sentence, DecodeConfig())
    visit(page, site, model=name)
    box = page.get_by_role("textbox", name="Sentence")
    box.fill(sentence)
    page.get_by_role("button", name="Continue" if own.n_prompt else "Translate", exact=True).click()
    expect(page.locator(".answer .text")).to_have_text(own.text)
    answered(page)
    assert_same(page, own)

    page.locator(".stepper .steps").fill(f"{own.n_prompt + 1}")  # a decoder alone reads the sentence first
    page.locator(".options button").nth(1).click()
    prefix = (*own.path[: own.n_prompt], int(own.trace.top_ids[own.n_prompt][1]))
    forked = model.translate(sentence, DecodeConfig(), prefix=prefix)
    expect(page.get_by_role("button", name="Back to the model’s own choice")).to_be_visible()
    answered(page)
    assert_same(page, forked)
    expect(page).to_have_url(re.compile(f"path={'-'.join(map(str, prefix))}"))
    page.get_by_role("button", name="Back to the model’s own choice").click()
    expect(page.locator(".answer .text")).to_have_text(own.text)

    kind: AttentionKind = kinds_of(own.trace)[0]
    visit(page, f"{site}attention/", model=name, text=sentence, kind=kind, layer="1", head="1", view="head")
    page.get_by_role("button", name="Switch off").click()
    expect(page.locator(".changes")).to_contain_text(f"{kind} L1 H1 switched off")
    answered(page)
    edited = model.translate(sentence, DecodeConfig(), edit=HeadEdits((HeadEdit(kind, 0, 0, "zero"),)))
    assert_same(page, edited)
    expect(page).to_have_url(re.compile(re.escape(f"edit={kind}.1.1.zero")))

    visit(page, f"{site}attention/", model=name, text=sentence, kind=kind, layer="1", head="1", view="head", cell="1-1")
    page.get_by_role("button", name="Where does this number come from?").click()
    shown = re.compile(r"visible keys?, [\d.]+: (?:[<>] )?(\d(?:\.\d+)?)(?:\. |$)")
    line = page.locator(".cell-panel li", has_text=re.compile("^weight"))
    expect(line).to_have_text(shown)
    found = shown.search(line.inner_text())
    assert found
    assert float(found[1]) == pytest.approx(own.trace.weights(kind)[0, 0, 0, 0], abs=5.1e-4)
    expect(page).to_have_url(re.compile("panel=cell"))

    visit(page, f"{site}attention/", model=name, text=sentence, kind=kind, layer="1", step="1", panel="cell")
    said, explained = page.locator(".cell-panel .said"), page.locator(".cell-panel .each [aria-pressed=true]")
    expect(said).to_contain_text("No cell is chosen")
    explained.click()
    best = np.unravel_index(own.trace.weights(kind)[0, :, 0].argmax(), own.trace.weights(kind)[0, :, 0].shape)
    expect(page).to_have_url(re.compile(f"head={best[0] + 1}.*cell=1-{best[1] + 1}"))
    expect(said).to_have_text("")


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
    page.get_by_role("button", name="Options").click()
    page.get_by_role("button", name="Predict first").click()
    expect(page.get_by_role("heading", name="Hund")).to_be_visible()
    page.wait_for_function("() => !location.search.includes('guess')")
    visit(page, site, model="nobody", text="attention", path="5-x", edit="cross.9.9.zero~cross.1.1.mean")
    expect(page.get_by_role("alert")).to_contain_text("The model nobody is not on this page")
    expect(page.get_by_role("alert")).to_contain_text("not a list of token ids")
    expect(page.get_by_role("alert")).to_contain_text("“cross.9.9.zero” is left out")
    visit(page, site, model="reverse", text="abc", path="5-9999")
    expect(page.get_by_role("alert")).to_contain_text("path does not fit this model")
    expect(page.locator("figcaption:visible").first).to_be_visible()


def test_earlier_weights_read_the_target_that_the_trained_model_wrote(page: Page, site: str) -> None:
    for trained, reads in (("0", "→ next token read: "), ("1500", "→ predicts ")):
        visit(page, f"{site}inside/", model="reverse", text="hello", step="2", trained_1500=trained)
        expect(page.locator(".machine .says")).to_contain_text(reads)


def test_the_browsers_language_counts_until_another_is_chosen_which_links_keep(browser: Browser, site: str) -> None:
    context = browser.new_context(locale="de-AT")
    page = context.new_page()
    place = {"kind": "encoder", "layer": "2", "head": "1", "view": "head", "cell": "1-2"}
    visit(page, f"{site}attention/", model="reverse", text="abc", **place)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("figcaption:visible")).to_contain_text("Schicht 2 · Kopf 1")
    before = urlsplit(page.url).query
    assert "lang" not in before
    for code, caption, inside in (("en", "layer 2 · head 1", "Inside"), ("de", "Schicht 2 · Kopf 1", "Im Inneren")):
        page.locator("#language").select_option(code)
        answered(page)
        expect(page.locator("html")).to_have_attribute("lang", code)
        expect(page.locator("figcaption:visible")).to_contain_text(caption)
        assert sorted(urlsplit(page.url).query.split("&")) == sorted([f"lang={code}", *before.split("&")])
        assert f"lang={code}&" in str(page.get_by_role("link", name=inside, exact=True).get_attribute("href"))
    page.get_by_role("link", name="Im Inneren", exact=True).click()
    expect(page.locator(".machine")).to_contain_text("Encoderschicht 1")
    page.get_by_role("link", name="Lektionen", exact=True).click()
    page.get_by_role("button", name="Beginnen").first.click()
    expect(page.get_by_role("button", name="Weiter", exact=True)).to_be_visible()
    assert "lang=de" in page.url
    context.close()


def test_what_is_different_is_said_as_in_the_app(page: Page, site: str) -> None:
    """The same link shows the same sentences: words replaced, removed and added, tokens and weights that differ."""
    model, at = translator("multi30k-en-de"), Place("cross", 4, 2, row=5)
    a = model.translate("Two young children are playing football in the park.", DecodeConfig())
    place = {"model": "multi30k-en-de", "text": a.source.text, "kind": "cross", "layer": "4", "head": "2", "step": "5"}
    box, said = page.locator(".compare-panel"), page.locator(".compare-panel .said")
    visit(page, f"{site}attention/", **place, view="head", panel="compare.row-7")
    _, difference = compare_rows(a.trace, at, 7)
    expect(box.locator("figcaption")).to_have_text([map_caption(difference)])
    box.get_by_label("Compare the map in view with").select_option("text")
    expect(box.get_by_label("The other sentence")).not_to_have_value(a.source.text)
    expect(box.locator("figure")).to_have_count(3)
    for text in (
        "Two young dogs are playing football in the park.",
        "Two children are playing football, in a big park.",
        "A man with a hat sits, sleeps and eats two young children.",
        "In the park two young children are playing football.",
        "Two football children are playing young in the park.",
        "Two young girls are feeding birds in the park.",
        "Two young unicyclists are playing football in the park.",
        "Two young children are playing football in the park",
    ):
        box.get_by_label("The other sentence").fill(text)
        box.get_by_label("The other sentence").press("Enter")
        b = model.translate(text, DecodeConfig())
        maps = (counterpart(each.trace, at, model="", title="") for each in (a, b))
        found = compare(*maps)
        words = pair_in_words(found)
        expect(said).to_have_text(words.replace(" %", "\u202f%"))
        expect(box.locator(".legend")).to_have_text(found.legend)
        expect(box.locator(".about")).to_have_text(found.caption)
        own = own_words(a.source.text, b.source.text), own_words(a.text, b.text)
        for side, line in enumerate(box.locator(".pair").all()):
            alone = [word.rstrip() for texts in own for word, is_alone in texts[side] if is_alone]
            expect(line.locator("b")).to_have_text(alone)
        expect(box.locator(".pair")).to_have_text([f"A: {a.source.text} → {a.text}", f"B: {text} → {b.text}"])
        expect(box.locator("figcaption")).to_have_text([""] * 3)
    assert urlencode({"panel": "compare.way-text", "other": text}) in page.url
    with page.expect_download() as saving:
        box.get_by_role("button", name="Both as one picture").click()
    assert Image.open(saving.value.path()).size > (800, 300)
    box.get_by_label("Compare the map in view with").select_option("heads")
    box.get_by_label("Aggregate").select_option("max-all")
    pooled = aggregate("max-all", attention_maps(a.trace, "cross"), at, lambda source: np.empty(0, np.float32))
    expect(box.locator("figcaption").last).to_have_text(map_caption(pooled))
    visit(page, f"{site}attention/", **place, panel="compare.way-edit.layer-4.head-2.is-uniform.along-no")
    edits = HeadEdits((HeadEdit("cross", 3, 1, "uniform"),))
    assert model.translate(a.source.text, DecodeConfig(), edit=edits).path == a.path
    expect(said).to_contain_text("cross L4 H2 made uniform. On its own, the edited model says the same.")
    box.get_by_label("along the same target").check()
    edited = model.translate(a.source.text, DecodeConfig(), prefix=a.path, edit=edits)
    caption = map_caption(counterpart(edited.trace, at, model="", title=""))
    expect(box.locator("figure canvas").nth(1)).to_have_attribute("aria-label", re.compile(f"^{re.escape(caption)}"))
    assert "along" not in page.url
    foot = box.locator(".foot").nth(2)  # of B minus A
    expect(foot).to_contain_text(re.compile(r"0\.\d+ B − A"))
    expect(foot).to_contain_text(re.compile(r"less than 0\.05 from 0|choose a cell"))
    box.get_by_label("Compare the map in view with").select_option("model")
    expect(box.locator(".legend")).to_contain_text("≠ marks words that differ or are missing.")
    box.get_by_role("button", name="Close").click()
    page.wait_for_function("() => !location.search.includes('panel')")


def test_of_two_words_chosen_at_once_the_last_one_counts(page: Page, site: str) -> None:
    """The first choice is given up while it is computed; it leaves no path behind."""
    model, sentence = translator("adjective-swap"), "I read red books"
    visit(page, site, model="adjective-swap", text=sentence, step="1")
    own = model.translate(sentence, DecodeConfig())
    page.locator(".options").evaluate("list => [1, 2].forEach(i => list.querySelectorAll('button')[i].click())")
    answered(page)
    last = model.translate(sentence, DecodeConfig(), prefix=(int(own.trace.top_ids[0][2]),))
    expect(page.locator(".answer .text")).to_have_text(last.text)
    expect(page.locator(".paths li")).to_have_count(2)
    expect(page.locator(".paths li [aria-pressed=true]")).to_contain_text(last.text)
    expect(page).to_have_url(re.compile(f"path={'-'.join(map(str, last.path))}"))


def test_the_hint_of_an_example_ends_in_a_button(page: Page, site: str) -> None:
    visit(page, site, model="multi30k-en-de", text="Two young children are playing football in the park.")
    expect(page.locator(".remarks")).to_contain_text("American football")
    page.get_by_role("button", name="Choose “Fußball”").click()
    expect(page.get_by_role("heading", name="Zwei kleine Kinder spielen Fußball im Park.")).to_be_visible()
    expect(page.get_by_role("button", name="Choose “Fußball”")).to_have_count(0)


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


@pytest.mark.parametrize("harm", some(["changed", "missing"], 2))
def test_a_damaged_model_is_refused_and_another_one_opens(page: Page, site: str, folder: Path, harm: str) -> None:
    (weights,) = (folder / "models" / "reverse").glob("model-*")
    whole = weights.read_bytes()
    damaged = whole[:-1] + bytes([whole[-1] ^ 1]) if harm == "changed" else None
    page.route(
        f"**/{weights.name}", lambda route: route.fulfill(body=damaged) if damaged else route.fulfill(status=404)
    )
    page.goto(f"{site}?model=reverse")
    says = "could not be loaded (404)" if harm == "missing" else "was cut short, or is not the one"
    expect(page.get_by_role("alert")).to_contain_text(says)
    page.locator(".which [name=model]").select_option("adjective-swap")
    answered(page)
    expect(page.get_by_role("alert")).to_be_hidden()
    page.unroute(f"**/{weights.name}")
    page.locator(".which [name=model]").select_option("reverse")
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


def test_models_the_tour_and_attention_are_loaded_when_they_are_asked_for(browser: Browser, site: str) -> None:
    context = browser.new_context(service_workers="block")
    page, asked = context.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.route("**/code/attention-*", lambda route: route.abort())
    visit(page, site, model="reverse", text="abc")
    assert any("/code/site-" in address for address in asked)
    assert not any("/code/attention-" in address for address in asked)
    assert {address.split("/")[-2] for address in asked if "/model-" in address} == {"reverse"}
    with page.expect_request("**/adjective-swap/model-*"):
        page.locator("[name=model]").first.select_option("adjective-swap")
    page.get_by_role("button", name="Show me").click()
    expect(page.locator("#offline")).to_contain_text("could not be loaded")
    page.unroute_all()
    page.get_by_role("button", name="Show me").click()
    expect(page.get_by_role("dialog", name="Tour of this page")).to_be_visible()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Attention", exact=True).click()
    expect(page.get_by_text("Table: Cross-attention, all heads")).to_be_visible()
    expect(page.locator("#offline")).to_be_empty()
    assert sum("/code/attention-" in address for address in asked) == 2
    context.close()


def test_the_documented_pattern_names_the_files_that_may_be_cached(folder: Path) -> None:
    """All tests of this file are under the headers of the documentation (tests/e2e/live_site.py)."""
    assert len(HEADERS) == 4
    hashed = {path for path in folder.rglob("*") if re.search(STORED, path.name)}
    assert hashed == {path for part in ("code", "models") for path in (folder / part).rglob("*.*")}


def test_a_folder_opened_from_a_disk_says_what_to_do(page: Page, folder: Path) -> None:
    page.goto((folder / "index.html").as_uri())
    expect(page.get_by_role("alert")).to_have_text(re.compile("put the folder on a web server"))


def test_a_class_is_a_table_that_is_sorted_copied_and_not_stored(page: Page, site: str) -> None:
    page.goto(f"{site}class/")
    expect(page.locator("table")).to_be_hidden()
    lines = ("Ada ?lesson=attention&at=3&done=attention.512", "=Bob: ?done=attention.30", "nonsense", "x" * 300)
    page.get_by_label("Progress links, one a line, each with a name before it").fill("\n".join(lines[:3]))
    expect(page.locator(".problems li")).to_have_text("Line 3 has no progress link.")
    expect(page.locator("caption")).to_have_text("2 people, 2 lessons begun")
    head, done = page.get_by_role("columnheader", name="Pages done"), page.locator("tbody tr > :nth-child(4)")
    for order, column in (("ascending", ["0 of 7", "1 of 7"]), ("descending", ["1 of 7", "0 of 7"])):
        head.get_by_role("button").press("Enter")
        expect(head).to_have_attribute("aria-sort", order)
        expect(done).to_have_text(column)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.locator("output")).to_have_text("Copied: paste it into a spreadsheet.")
    copied = page.evaluate("() => navigator.clipboard.readText()").splitlines()
    assert copied[0] == "Name,Lesson,At page,Pages done,Right at first try,Right later,Shown,Not answered,Pages"
    assert sorted(copied[1:])[0] == "'=Bob,What is attention?,,0,0,0,1,6,7"
    page.evaluate("""() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined });
      document.execCommand = () => false;
    }""")
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.get_by_label("The table as CSV"), "to be copied by hand").to_have_value(re.compile("^Name,Lesson"))
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_role("textbox").first.fill(f"{lines[3]} ?done=attention.1")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert [each["id"] for each in Axe().run(page).response["violations"]] == []
    assert page.evaluate("() => localStorage.length + sessionStorage.length") == 0
    assert "?" not in page.url


@pytest.mark.parametrize("place", some(("", "inside/", "attention/", "lessons/"), 4))
def test_it_is_accessible(page: Page, site: str, place: str) -> None:
    colours = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}  # in the dark, the rest is alike
    page.emulate_media(color_scheme="light")
    visit(page, f"{site}{place}", model="reverse", text="attention", lesson="attention", at="1")
    for scheme, rules in (("light", {}), ("dark", colours)):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options=rules).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
