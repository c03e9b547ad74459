"""A run that has ended, on the Train page: its model is tried, the weights that it kept, and further runs."""

import json
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from model.data import get_task
from model.folder import CONFIG, STATE, read_config, write_json
from tests.explorer.toy_runs import save_run, write_status
from tests.pages.page import assert_says, choose, click, has_key, metric, run, visit, words
from tests.pages.test_train import started


def test_a_run_whose_last_weights_are_not_the_best_shows_those_that_it_kept(training: Path) -> None:
    folder = save_run(training / "mine")
    at = visit("train", run="mine")
    assert (metric(at, "Validation loss, step 30"), "Kept are" in words(at)) == ("1.20", False)
    config = read_config(folder)
    write_json(folder / CONFIG, config | {"results": config["results"] | {"step": 20}})
    runtime.models_changed()
    at = visit("train", run="mine")
    assert_says(at, "Kept are the weights of step 20, the best on validation")
    assert metric(at, "Validation loss, step 20") == "1.90"
    assert metric(at, "Exactly right, of 8 (95 % interval)") == "25.0 % (7–59)"
    assert_says(at, "What it translates at step 20")
    assert ends_of_axes(at) == [None, None], "a run that has ended has no further steps"
    write_status(folder, "running")
    assert "Kept are" not in words(run(at)), "they may still change"
    assert ends_of_axes(at) == [60, 60]


def ends_of_axes(at: AppTest) -> list[int | None]:
    """The last step of the axis of each curve; None where it ends with the curve."""
    specs = [json.loads(chart.proto.spec) for chart in at.get("vega_lite_chart")]
    scales = [spec["layer"][0]["encoding"]["x"]["scale"] for spec in specs]
    return [scale["domain"][1] if "domain" in scale else None for scale in scales]


def test_a_model_can_be_tried_where_its_training_was_watched(training: Path) -> None:
    save_run(training / "mine")
    runtime.models_changed()
    at = visit("train", run="mine")
    choose(at, try_mine="<b>abc</b>")
    assert "It answers" in words(at)
    said = words(at)
    assert said.index("never occurred in training") < said.index("It answers"), "the warning of Translate comes first"
    assert "This source is new" in words(at)
    links = {link.proto.label: link.proto.query_string for link in at.get("page_link")}
    assert links["See what it looks at"] == "model=mine&text=%3Cb%3Eabc%3C%2Fb%3E"
    held_out = get_task("reverse").splits["valid"][0]
    choose(at, try_mine=held_out.source)
    assert_says(at, f"This source was held out of its training; the right answer is “{held_out.target}”.")
    assert "never occurred in training" not in words(at)
    choose(at, try_mine=f"  {held_out.source}  ")
    assert_says(at, f"This source was held out of its training; the right answer is “{held_out.target}”.")
    choose(at, try_mine="a   b")
    links = {link.proto.label: link.proto.query_string for link in at.get("page_link")}
    assert links["See what it looks at"] == "model=mine&text=a+b", "spaces typed twice are not read"
    choose(at, try_mine="  ")
    assert "It answers" not in words(at)
    write_status(training / "mine", "running")
    assert not has_key(run(at), "try_mine")


@pytest.fixture
def finished(training: Path) -> Path:
    """A finished run that says how it was trained, with a saved state."""
    folder = save_run(training / "mine")
    config = read_config(folder)
    settings = config["training"] | {"seed": 4, "schedule": "cosine", "max_steps": 30, "warmup_steps": 0}
    machine = {"device": "cpu", "precision": "fp32", "threads": 2, "settled": True, "torch_version": "2.13.0"}
    config |= {"preset": "tiny", "set": {"seed": "4"}, "training": settings, "runtime": machine}
    write_json(folder / CONFIG, config)
    (folder / STATE).mkdir()
    (folder / STATE / "state.json").write_text("{}", encoding="utf-8")
    return folder


def test_a_finished_run_is_trained_again_with_another_seed(finished: Path) -> None:
    at = visit("train", run="mine")
    links = {link.proto.label: link.proto for link in at.get("page_link")}
    assert links["Open in Translate"].query_string == "model=mine"
    assert "Watch its heads form" in links
    assert "Computed on the CPU in fp32 with 2 threads, PyTorch 2.13.0." in words(at)
    assert at.number_input(key="watch_seed_mine").value == 5
    choose(at, watch_seed_mine=9)
    click(at, "watch_like_mine")
    like = ["--like", "mine", "--name", "mine-2", "--set", "seed=9", "--checkpoints", str(finished.parent)]
    assert started(finished.parent, "mine-2")[3:] == like
    assert at.selectbox(key="run").value == "mine-2"


@pytest.mark.parametrize("page", ["train", "runs"])
def test_a_finished_run_is_trained_longer(finished: Path, page: str) -> None:
    """From either page; it is watched on the Train page."""
    save_run(finished.parent / "other")
    at = visit(page, run="mine", entry="mine")
    key = "watch" if page == "train" else "runs"
    assert at.number_input(key=f"{key}_steps_mine").value == 60
    assert "The learning rate rises to where it would be in a run of this length" in words(at)
    choose(at, **{f"{key}_steps_mine": 90})
    click(at, f"{key}_longer_mine")
    longer = ["--resume", "mine", "--steps", "90", "--checkpoints", str(finished.parent)]
    assert started(finished.parent, "mine")[3:] == longer
    assert at.selectbox(key="run").value == "mine", "the Train page, with this run"
    shutil.rmtree(finished / STATE)
    assert not has_key(run(at), "watch_steps_mine")
    if page == "runs":
        at.switch_page("pages/runs.py").run()
        assert choose(at, entry=["mine", "other"]).pills(key="entry").value == ["other"]
        assert not has_key(at, "run"), "still the Runs page"


@pytest.mark.usefixtures("finished")
@pytest.mark.parametrize(
    ("field", "value", "go", "sentence"),
    [
        ("watch_steps_mine", 30, "watch_longer_mine", "It has made 30 updates already; choose more than that."),
        ("watch_steps_mine", 0, "watch_longer_mine", "max_steps=0 must be at least 1."),
        ("watch_seed_mine", -7, "watch_like_mine", "seed=-7 must be at least 0."),
    ],
)
def test_a_number_that_cannot_be_is_refused_and_never_replaced(field: str, value: int, go: str, sentence: str) -> None:
    at = visit("train", run="mine")
    choose(at, **{field: value})
    assert sentence in words(at)
    assert at.button(key=go).disabled
    choose(at, **{field: 99})
    assert not at.button(key=go).disabled
