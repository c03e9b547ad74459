"""Injection probes as tokens, sentences, names, labels, files and parameters on every page: shown as text.

Streamlit renders texts and labels as Markdown, and Plotly a few tags: a probe that is found there as it was given has
not been escaped. tests/e2e/test_component_maps.py has the views of the browser, tests/test_boundaries.py the code.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Widget

from explorer.probing.sample import SampleChoice, to_link
from explorer.screens.lessons import running_models
from explorer.web import runtime
from tests.pages.page import PAGES, VISITS, choose, press, run, visit
from tests.pages.test_languages import strings
from tests.pages.test_train_data import upload
from tests.probes import FILE_NAME, MARK, PROBES, attention_file, pairs_file, save_hostile, save_lessons, sentence
from tests.probes import zip_file as zip_of_probes

# A sample of three sentences, so that the Probe page is measured quickly.
SAMPLE = to_link(SampleChoice("own", tuple(f"{sentence(i)}\t{sentence(i + 1)}" for i in range(3))))
HOSTILE = {"model": "hostile", "text": sentence(), "run": "hostile", "entry": "hostile", "sample": SAMPLE}
# Parameters that pages read themselves; Streamlit handles the names of widgets in the address.
PARAMETERS = (
    *("model", "text", "path", "step", "kind", "layer", "head", "view", "panel", "cell", "other", "run", "entry"),
    *("edit", "lesson", "at", "done", "present", "experiment", "operation"),
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    save_lessons(folder / "lessons")
    save_hostile(folder)
    return folder


@pytest.fixture(autouse=True)
def _hostile(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", hostile)
    monkeypatch.setattr(running_models, "FOLDER", hostile / "lessons")


def rendered(at: AppTest) -> Iterator[str]:
    """What Streamlit renders as Markdown, and the texts of figures, where Plotly renders tags."""
    for element in (*at.sidebar, *at.main):
        if element.type not in ("code", "json", "text"):
            # What stands in a field or a list of choices is shown as it is.
            own = [] if isinstance(element, Widget) else [getattr(element, "value", None)]
            found = [*own, getattr(element, "label", None), getattr(element, "help", None)]
            yield from (text for text in found if isinstance(text, str))
            if element.type in ("radio", "button_group"):
                yield from map(str, element.options)
    for plot in at.get("plotly_chart"):
        yield from (text for text in strings(json.loads(plot.proto.spec)) if "<" in text)


def assert_only_text(at: AppTest, where: str) -> None:
    assert not at.exception
    found = [(probe, text) for text in rendered(at) for probe in (*PROBES, FILE_NAME) if probe in text]
    assert found == [], where


@pytest.mark.parametrize("page", PAGES)
def test_tokens_sentences_names_and_parameters(page: str) -> None:
    for query in VISITS[page]:
        at = visit(page, **query | HOSTILE)
        assert_only_text(at, str(query))
        if page not in ("own", "experiments"):  # which name no model and no sentence
            assert any(MARK in text for text in (*rendered(at), str(at.sidebar), str(at.main))), "no probe is there"
    given = {name: PROBES[i % len(PROBES)] for i, name in enumerate(PARAMETERS)} | {"sample": SAMPLE}
    assert_only_text(visit(page, **given), "parameters")


@pytest.mark.parametrize("kind", ["npz", "refused"])
def test_tokens_and_name_of_attention_files(kind: str) -> None:
    at = visit("own", model="hostile", text="I read")
    name = f"{FILE_NAME}.{'npz' if kind == 'npz' else 'json'}"
    at.file_uploader(key="own_file").upload(name, attention_file(kind), "application/octet-stream").run()
    assert_only_text(at, kind)
    assert bool(at.error) == (kind == "refused")


def test_pairs_of_ones_own_and_a_typed_name() -> None:
    at = visit("train", train_task="files")
    upload(at, f"{FILE_NAME}.tsv", pairs_file())
    assert_only_text(choose(at, train_name=PROBES[0]), "train")


def test_names_in_a_zip_file() -> None:
    at = visit("runs", entry="hostile", runs_tab="Import")
    at.get("file_uploader")[0].set_value((f"{FILE_NAME}.zip", zip_of_probes(), "application/zip"))
    assert press(run(at), "Import").error
    assert_only_text(at, "runs")
