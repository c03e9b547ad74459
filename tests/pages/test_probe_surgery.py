"""Surgery on the Probe page: heads switched off, rows by hand, patching, undo and the link."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.probe_page import forget, on_tab, opened, press, switch_off
from tests.pages.teaching import role_grids, tables, words
from tests.paths import ROOT

pytestmark = pytest.mark.slow  # many model calls


@pytest.fixture(scope="module", autouse=True)
def _nothing_measured() -> None:
    """Clear the cache once for this file: later tests reuse what earlier ones measured."""
    forget()


@pytest.fixture
def app() -> AppTest:
    return opened()


def test_without_its_aligned_heads_reverse_fails_and_undo_restores_it(app: AppTest) -> None:
    at = on_tab(app, "Surgery")
    assert "Translation, unchanged: thgildaeh" in words(at).replace("**", "")
    switch_off(at, "cross", (0, 0), (0, 1))
    assert not at.exception
    said = words(at).replace("**", "")
    assert "In force: cross L1 H1, L1 H2 switched off" in said
    assert "Before: :orange-background[~~thgildaeh~~]" in said
    assert "“thgildaeh” became “" in said
    assert not at.pills(key="surgery_heads_cross").value, "the next operation starts from no head"
    assert "The translation changes." in said
    assert "exact match from 100.0 % to " in said
    assert at.query_params["edit"] == "cross.1.1.zero~cross.1.2.zero"
    steps, log = tables(at)
    assert steps["predicts"].tolist() == [*"thgildaeh", "<eos>"]
    assert (steps["KL (nats)"] > 0).all()
    assert log["before"].tolist() == ["thgildaeh"]
    assert log["after"][0] != "thgildaeh"
    assert log["exact match change (points)"][0] < -80
    press(at, "surgery_undo")
    assert "Translation, unchanged: thgildaeh" in words(at).replace("**", "")
    assert "edit" not in at.query_params
    assert len(tables(at)[-1]) == 1, "the log keeps what was tried"


def test_heads_are_chosen_and_left_on_the_grid(app: AppTest) -> None:
    at = on_tab(app, "Surgery")

    def marks() -> list[str]:
        return [tile["mark"] for tile in role_grids(at)[2]["tiles"] if tile["mark"]]

    assert len(role_grids(at)) == 3
    assert marks() == []
    assert at.button(key="surgery_do").disabled
    at.pills(key="surgery_heads_cross").set_value([(0, 0), (0, 1)]).run()
    assert marks() == ["✓", "✓"]
    assert at.button(key="surgery_do").label == "Change 2 heads"
    press(at, "surgery_do")
    assert marks() == ["off", "off"]
    assert at.button(key="surgery_do").disabled, "the next operation starts from no head"


def test_a_link_restores_the_edits(app: AppTest) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    at.query_params["model"] = "reverse"
    at.query_params["text"] = "headlight"
    at.query_params["edit"] = "cross.1.1.zero~cross.1.2.uniform~cross.9.9.zero"
    at.run()
    at.switch_page("pages/probe.py")
    at.query_params["edit"] = "cross.1.1.zero~cross.1.2.uniform~cross.9.9.zero"
    at.run()
    assert not at.exception
    said = words(at).replace("**", "")
    assert "In force: cross L1 H1 switched off; cross L1 H2 made uniform" in said
    assert "The translation changes." in said
    assert "this model has 1 layer of 2 cross heads" in said


@pytest.mark.parametrize("op", ["uniform", "mean"])
def test_the_other_changes_of_a_head(app: AppTest, op: str) -> None:
    at = on_tab(app, "Surgery")
    at.segmented_control(key="surgery_op").set_value(op).run()
    switch_off(at, "cross", (0, 0), (0, 1))
    assert not at.exception
    assert "The translation changes." in words(at)


def test_a_row_edited_by_hand(app: AppTest) -> None:
    at = on_tab(app, "Surgery")
    at.session_state["surgery_row_fold"] = True
    at.run()
    at.selectbox(key="surgery_row_kind").set_value("cross").run()
    row = next(box for box in at.selectbox if box.label == "Row (query)")
    row.set_value(0).run()
    only = next(box for box in at.selectbox if box.label == "or look at one key only")
    only.select_index(0).run()
    press(at, "surgery_row_do")
    assert not at.exception
    assert at.query_params["edit"] == "cross.1.1.row.1." + "-".join(["1000"] + ["0"] * 9)
    assert "Rows edited by hand and parts of other sentences apply to one sentence only" in words(at)
    steps = next(table for table in tables(at) if "KL (nats)" in table)
    assert steps["KL (nats)"][0] > 0


def test_a_pattern_needs_equal_lengths_and_says_so(app: AppTest) -> None:
    at = on_tab(app, "Surgery")
    at.session_state["surgery_patch_fold"] = True
    at.run()
    at.selectbox(key="surgery_patch_kind").set_value("encoder").run()
    at.text_input(key="surgery_other").set_value("abc").run()
    press(at, "surgery_patch_do")
    assert not at.exception
    assert "“abc” has 4 source tokens with <eos>, this sentence has 10" in words(at)
    at.text_input(key="surgery_other").set_value("attention").run()
    press(at, "surgery_patch_do")
    assert not at.exception
    assert "given the pattern of another sentence (attention)" in words(at)
    assert "Over its 10 steps" in words(at)


def test_another_model_begins_without_edits(app: AppTest) -> None:
    at = on_tab(app, "Surgery")
    switch_off(at, "cross", (0, 0))
    assert "edit" in at.query_params
    at.selectbox(key="model").set_value("adjective-swap").run()
    assert not at.exception
    assert "edit" not in at.query_params
    assert "Translation, unchanged" in words(at)


def reopened(**asked: str) -> AppTest:
    """The page in a new session, at a link."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    at.query_params["model"], at.query_params["text"] = "reverse", "headlight"
    at.run()
    at.switch_page("pages/probe.py")
    for name, value in asked.items():
        at.query_params[name] = value
    return at.run()


def test_a_link_with_a_mean_restores_its_sample(app: AppTest) -> None:
    at = reopened(sample="task.60", edit="cross.1.1.mean")
    assert not at.exception
    assert "Measured on 60 of 1,505 test sentences of reverse" in words(at)
    assert "In force: cross L1 H1 replaced by its mean" in words(at).replace("**", "")
    assert at.query_params["sample"] == "task.60"


def test_a_typed_list_is_in_the_link_and_is_restored(app: AppTest) -> None:
    at = app.run()
    assert "sample" not in at.query_params
    at.segmented_control(key="probe_origin_reverse").set_value("own").run()
    at.text_area(key="probe_lines_reverse").set_value("abc\tcba\nhello\tolleh").run()
    press(at, "probe_measure_reverse")
    (link,) = at.query_params["sample"] if isinstance(at.query_params["sample"], list) else [at.query_params["sample"]]
    assert link.startswith("own.200.")
    again = reopened(sample=link)
    assert not again.exception
    assert "Measured on your own sentences, read with their reference translations" in words(again)
    assert again.text_area(key="probe_lines_reverse").value == "abc\tcba\nhello\tolleh"
    again.selectbox(key="model").set_value("adjective-swap").run()
    assert "sample" not in again.query_params, "the list was given for the other model"


@pytest.mark.parametrize(("link", "said"), [("own.200.-", "too long for a link"), ("<b>", "cannot be read")])
def test_an_unusable_sample_gets_a_message(app: AppTest, link: str, said: str) -> None:
    at = reopened(sample=link)
    assert not at.exception
    assert said in words(at)
    assert "Measured on 200 of 1,505 test sentences of reverse" in words(at)
