"""Injection probes as tokens, sentences, names, labels, files and parameters on every page: shown as text, never run.

One tab visits every page. Its browser does not enforce the Content-Security-Policy, so anything that a probe loads or
runs is noticed here and not merely blocked by the policy.
"""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from explorer.probing.sample import SampleChoice, to_link
from explorer.screens.attention.panels import PANELS
from tests.browser import Server, serve, settle
from tests.e2e.tour import ADDRESSES, Tour, touring
from tests.probes import (
    FILE_NAME,
    FIND,
    HOST,
    MARK,
    PROBES,
    attention_file,
    pairs_file,
    save_hostile,
    save_lessons,
    sentence,
    zip_file,
)

pytestmark = pytest.mark.nightly  # tests/e2e/test_component_maps.py has tokens, tests/test_boundaries.py the code
# A sample of three sentences, so that the Probe page is measured quickly.
SAMPLE = to_link(SampleChoice("own", tuple(f"{sentence(i)}\t{sentence(i + 1)}" for i in range(3))))
HOSTILE = {"model": "hostile", "text": sentence(), "run": "hostile", "entry": "hostile", "sample": SAMPLE}
# Parameters that pages read themselves; Streamlit handles the names of widgets in the address.
PARAMETERS = (
    *("model", "text", "path", "step", "kind", "layer", "head", "view", "panel", "cell", "other", "run", "entry"),
    *("edit", "lesson", "at", "done", "present", "experiment", "operation"),
)


def made_by_probes(page: Page) -> list[str]:
    """Elements that a probe has created."""
    found: list[str] = page.evaluate(FIND, [MARK, HOST])["made"]
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "checkpoints").mkdir()
    save_hostile(folder / "checkpoints")
    folders = {
        "HEADLIGHT_CHECKPOINTS": str(folder / "checkpoints"),
        "HEADLIGHT_LESSONS": str(save_lessons(folder / "lessons")),
    }
    with serve(folders | {"OMP_NUM_THREADS": "1"}) as running:
        yield running
        assert "Traceback" not in running.output()


@pytest.fixture(scope="module")
def tour(browser: Browser, server: Server) -> Iterator[Tour]:
    with touring(browser, server, made_by_probes, bypass_csp=True) as going:
        yield going
        going.page.wait_for_timeout(500)  # scripts and requests of the last page may be late
        going.look("the end")
        assert going.problems() == []


def readable(page: Page) -> bool:
    """Whether any probe is on the page, as text or in a field."""
    found: bool = page.evaluate(FIND, [MARK, HOST])["read"]
    return found


def test_a_page_that_takes_probes_for_markup_is_noticed(browser: Browser, server: Server) -> None:
    """The tour reports what each probe would do on a page without escaping."""
    with touring(browser, server, made_by_probes) as tour:
        for probe in PROBES:
            if "<" in probe:
                tour.page.set_content(f"<div data-testid='stApp' data-test-script-state='notRunning'>x {probe}</div>")
                tour.look(probe)
        found = tour.problems()
    for words in ("IMG x", "SCRIPT", "svg", "A javascript:alert(4)", "STYLE", f"IFRAME //{HOST}", "B"):
        assert any(problem.endswith(f": {words}") for problem in found), words
    for words in ("a dialog: 1", "a dialog: 2", f"a request to another host: http://{HOST}/y.png"):
        assert any(problem.endswith(words) for problem in found), words


def test_tokens_sentences_and_names_on_every_page(tour: Tour) -> None:
    for address in ADDRESSES:
        page = tour.go(f"{address}?{urlencode(HOSTILE)}")
        if address not in ("/own", "/experiments"):  # which name no model and no sentence
            assert readable(page), f"{address}: no probe is there to be read"
        tour.tabs(address)
    assert tour.problems() == []


def test_parameters_on_every_page(tour: Tour) -> None:
    query = {name: PROBES[i % len(PROBES)] for i, name in enumerate(PARAMETERS)} | {"sample": SAMPLE}
    for address in ADDRESSES:
        tour.go(f"{address}?{urlencode(query)}", f"{address} by parameters")
    assert tour.problems() == []


def test_panels_of_attention(tour: Tour) -> None:
    for name in PANELS:
        query = HOSTILE | {"view": "lines", "cell": "2-3", "other": sentence(2), "panel": name}
        tour.go(f"/attention?{urlencode(query)}", f"/attention, {name}")
    assert tour.problems() == []


def upload(page: Page, ending: str, content: bytes) -> None:
    file: FilePayload = {"name": f"{FILE_NAME}.{ending}", "mimeType": "application/octet-stream", "buffer": content}
    page.get_by_test_id("stMain").locator('input[type="file"]').first.set_input_files([file])
    expect(page.get_by_test_id("stFileUploader").first).to_contain_text(f"rt(9)>.{ending}")  # the end of its name
    settle(page)


def test_tokens_and_name_of_attention_files(tour: Tour) -> None:
    for kind in ("npz", "json", "refused"):
        page = tour.go(f"/attention?{urlencode({'model': 'hostile', 'text': 'I read', 'panel': 'own'})}")
        upload(page, "json" if kind == "refused" else kind, attention_file(kind))
        if kind == "refused":
            page.get_by_test_id("stAlert").first.wait_for()
        else:
            page.get_by_text("Download what is on screen").wait_for()
        tour.look(f"/attention, a file of one's own, {kind}")
    assert tour.problems() == []


def test_pairs_of_ones_own_and_a_typed_name(tour: Tour) -> None:
    page = tour.go("/train")
    page.get_by_role("combobox", name="Data").click()
    page.get_by_role("option", name="Your own sentence pairs").click()
    settle(page)
    upload(page, "tsv", pairs_file())
    tour.look("/train, a file of pairs")
    field = page.get_by_role("textbox", name="Name")
    field.fill(PROBES[0])
    field.press("Enter")
    tour.look("/train, a name")
    assert tour.problems() == []


def test_names_in_a_zip_file(tour: Tour) -> None:
    page = tour.go("/runs?entry=hostile")
    page.get_by_role("tab", name="Import").click()
    upload(page, "zip", zip_file())
    page.get_by_role("button", name="Import", exact=True).last.click()
    page.get_by_test_id("stAlert").first.wait_for()
    tour.look("/runs, a zip file")
    assert tour.problems() == []
