"""The Train page, run by Streamlit's own test harness from app.py; processes are stand-ins."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.runs import dry_run
from explorer.runs.dry_run import Plan, PlanError
from explorer.runs.process import LAUNCHES, read_launch
from explorer.web import runtime
from model.data import TASKS, multi30k
from model.folder import PROBE, PROBE_ANSWER, STOP
from model.train import parser
from tests.explorer.planted import planted_trace
from tests.explorer.toy_runs import save_run, write_status
from tests.pages.train_page import button, command, metric, opened, planned, stand_ins, words


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with stand_ins(tmp_path, monkeypatch) as folder:
        yield folder


@pytest.fixture
def app(checkpoints: Path) -> AppTest:
    return opened()


def watching(at: AppTest, name: str) -> AppTest:
    at.query_params["run"] = name
    return at.run()


def test_the_form_says_what_the_run_would_take(app: AppTest) -> None:
    at = planned(app)
    assert not at.exception
    assert (metric(at, "Parameters"), metric(at, "Memory"), metric(at, "Takes about")) == ("1 k", "1 MB", "12 s")
    assert "On CPU, 2 cores (fp32): 100 updates at about 5,000 tokens/s" in words(at)
    assert "of 19,079 training pairs" in words(at)
    assert not button(at, "Start training").disabled
    assert len(at.get("vega_lite_chart")) == 1
    assert "The learning rate begins at 0.1" in words(at)


@pytest.mark.parametrize("task", ["copy", "adjective-swap", "dates", "phrases-en-hi"])
def test_every_task_made_here_shows_samples(app: AppTest, task: str) -> None:
    at = app.run()
    at.selectbox(key="train_task").set_value(task).run()
    assert not at.exception
    assert at.dataframe[0].value.shape[0] == 5
    assert command(at)[3:5] == ["--task", task]


def test_a_corpus_is_not_fetched_unasked(app: AppTest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    monkeypatch.setattr("model.data.multi30k.cache_folder", lambda: tmp_path / "nothing")
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: pytest.fail("the corpus was asked for"))
    at = app.run()
    at.selectbox(key="train_task").set_value("multi30k-en-de").run()
    assert not at.exception
    assert not at.dataframe
    assert button(at, "Download and show some")
    assert at.segmented_control(key="train_preset_multi30k-en-de").value == "small"


def test_a_failed_download_can_be_tried_again(app: AppTest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def fail(url: str, timeout: float) -> None:
        asked.append(url)
        raise OSError("no route to host")

    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    monkeypatch.setattr("model.data.multi30k.cache_folder", lambda: tmp_path / "nothing")
    monkeypatch.setattr("urllib.request.urlopen", fail)
    at = app.run()
    at.selectbox(key="train_task").set_value("multi30k-en-de").run()
    button(at, "Download and show some").click().run()
    assert not at.exception
    assert len(asked) == 1
    assert any("could not be downloaded" in warning.value for warning in at.warning)
    button(at, "Try again").click().run()
    assert len(asked) == 2


@pytest.mark.parametrize("where", ["environment", "cache"])
def test_a_corpus_on_this_machine_is_read(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: str
) -> None:
    for stem in multi30k.FILES.values():
        for lang, word in (("en", "dog"), ("de", "Hund")):
            lines = "".join(f"{word} {i}\n" for i in range(40))
            (tmp_path / f"{stem}.{lang}.gz").write_bytes(gzip.compress(lines.encode()))
    if where == "environment":
        monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    else:
        monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
        monkeypatch.setattr("model.data.multi30k.cache_folder", lambda: tmp_path)
    at = app.run()
    at.selectbox(key="train_task").set_value("multi30k-en-de").run()
    assert not at.exception
    assert at.dataframe[0].value["target"].iloc[0].startswith("Hund")


def test_changes_appear_in_the_command(app: AppTest, checkpoints: Path) -> None:
    at = app.run()
    at.number_input(key="train_reverse_tiny_d_model").set_value(32)
    at.number_input(key="train_reverse_tiny_learning_rate").set_value(0.0123)
    at.toggle(key="train_reverse_tiny_causal").set_value(False)
    at.selectbox(key="train_reverse_tiny_schedule").set_value("constant")
    at.text_input(key="train_name").set_value("my model!").run()
    assert not at.exception
    at.text_input(key="train_name").set_value("mine").run()
    options = parser().parse_args(command(at)[3:])
    assert sorted(options.set) == ["causal=false", "d_model=32", "learning_rate=0.0123", "schedule=constant"]
    assert (options.name, options.preset, options.checkpoints) == ("mine", "tiny", checkpoints)
    at.segmented_control(key="train_preset_reverse").set_value("small").run()
    assert parser().parse_args(command(at)[3:]).set == []


def test_rarely_changed_settings_appear_in_the_command_too(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "old")
    at = app.run()
    at.number_input(key="train_reverse_tiny_d_model").set_value(32)
    at.toggle(key="train_more").set_value(True).run()
    assert not at.exception
    assert not [item for item in at.number_input if item.key == "train_reverse_tiny_bpe_dropout"]
    at.selectbox(key="train_precision").set_value("bf16")
    at.selectbox(key="train_device").set_value("cpu")
    at.toggle(key="train_compile").set_value(True)
    at.number_input(key="train_threads").set_value(1)
    at.selectbox(key="train_reverse_tokenizer").set_value("subwords").run()
    at.number_input(key="train_reverse_tiny_bpe_dropout").set_value(0.1).run()
    assert not at.exception
    options = parser().parse_args(command(at)[3:])
    assert (options.precision, options.compile, options.device, options.init) == ("bf16", True, "cpu", None)
    assert options.threads == 1
    assert sorted(options.set) == ["bpe_dropout=0.1", "d_model=32", "tokenizer=subwords"]
    at.toggle(key="train_more").set_value(False).run()
    options = parser().parse_args(command(at)[3:])
    assert (options.precision, options.threads, options.compile) == (None, None, False)
    assert options.set == ["d_model=32"]


def test_consistency_and_added_pairs_stand_in_the_command(app: AppTest, checkpoints: Path) -> None:
    at = app.run()
    at.toggle(key="train_more").set_value(True).run()
    at.selectbox(key="train_reverse_tiny_consistency").set_value("simcut")
    at.number_input(key="train_reverse_tiny_cutoff").set_value(0.1)
    pairs = "source\ttarget\nabc\tcba\n*d*\td\nx\t\n"
    at.get("file_uploader")[0].set_value(("more.tsv", pairs.encode(), "text/tab-separated-values")).run()
    assert not at.exception
    options = parser().parse_args(command(at)[3:])
    assert sorted(options.set) == ["consistency=simcut", "cutoff=0.1"]
    assert [path.read_text(encoding="utf-8") for path in options.add_data] == [pairs]
    assert "more.tsv: 2 pairs, the first “abc” → “cba”. 1 row left out: an empty side (line 4)." in words(at)
    at.get("file_uploader")[0].set_value(("empty.tsv", b"a\tb\n", "text/tab-separated-values")).run()
    assert not at.exception
    assert parser().parse_args(command(at)[3:]).add_data == []
    assert "empty.tsv" in words(at)


def test_a_run_may_start_from_another_model(app: AppTest, checkpoints: Path) -> None:
    """Its sizes and tokenizers are taken over, so the command does not mention them."""
    save_run(checkpoints / "old")
    runtime._summaries.clear()  # the list of models is a second old at most
    at = app.run()
    at.number_input(key="train_reverse_tiny_d_model").set_value(32)
    at.toggle(key="train_more").set_value(True).run()
    at.selectbox(key="train_init").set_value("old").run()
    assert not at.exception
    options = parser().parse_args(command(at)[3:])
    assert (options.init, options.set) == ("old", [])
    assert "The sizes are those of 'old'" in words(at)
    assert not [item for item in at.selectbox if item.key == "train_reverse_tokenizer"]
    shutil.rmtree(checkpoints / "old")
    runtime._summaries.clear()
    at.run()
    assert not at.exception
    assert parser().parse_args(command(at)[3:]).init is None


def test_conflicting_settings_are_reported_at_once(app: AppTest) -> None:
    at = app.run()
    at.number_input(key="train_reverse_tiny_d_model").set_value(30).run()
    assert "does not divide into" in words(at)
    assert button(at, "Start training").disabled


@pytest.mark.parametrize(
    ("name", "value"), [("max_steps", 0), ("dropout", -0.1), ("dropout", 1.0), ("learning_rate", -1.0), ("d_model", -8)]
)
def test_a_number_out_of_range_is_not_replaced_by_the_one_before(app: AppTest, name: str, value: float) -> None:
    at = app.run()
    at.number_input(key=f"train_reverse_tiny_{name}").set_value(value).run()
    assert name in words(at)
    assert button(at, "Start training").disabled


@pytest.mark.parametrize(("refused", "disabled"), [(True, True), (False, False)])
def test_a_plan_that_failed(app: AppTest, monkeypatch: pytest.MonkeyPatch, refused: bool, disabled: bool) -> None:
    def trial(command: tuple[str, ...], wanted: object) -> Plan:
        raise PlanError("no *example* has tokens.", refused=refused)

    monkeypatch.setattr(dry_run, "run_trial", trial)
    at = app.run()
    for _ in range(50):
        if "no *example* has tokens." in words(at):
            break
        at.run()
    assert "no *example* has tokens." in words(at)
    assert button(at, "Start training").disabled is disabled


def test_start_starts_the_command_that_is_shown_and_watches_it(app: AppTest, checkpoints: Path) -> None:
    at = planned(app)
    shown = command(at)
    button(at, "Start training").click().run()
    assert not at.exception
    launch = read_launch(checkpoints, "reverse-2")
    assert launch is not None
    assert list(launch.arguments[3:]) == shown
    assert at.selectbox(key="run").value == "reverse-2"
    assert "The process is starting" in words(at)
    button(at, "Stop").click().run()
    assert not at.exception
    at.run()
    assert at.selectbox(key="run").value == ""
    assert at.number_input(key="train_reverse_tiny_d_model").value == 64, "the form is as it was"


def test_an_invalid_name_is_refused_with_a_message(app: AppTest, checkpoints: Path) -> None:
    at = planned(app)
    at.text_input(key="train_name").set_value("../evil").run()
    button(at, "Start training").click().run()
    assert "cannot name a model" in words(at)
    assert "cannot name a model" in words(at.run()), "polling does not remove the message"
    assert not (checkpoints / LAUNCHES).exists()
    at.text_input(key="train_name").set_value("good").run()
    assert "cannot name a model" not in words(at)


def test_a_running_run_is_watched_after_a_reload(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine", state="running")
    write_status(checkpoints / "mine", "running", eta_s=65.0, tokens_per_s=4200.0)
    at = watching(app, "mine")
    assert not at.exception
    assert at.selectbox(key="run").value == "mine"
    assert "step 30 of 60, about 1 min 05 s left" in at.get("progress")[0].proto.text.replace("\\", "")
    assert (metric(at, "Training loss"), metric(at, "Validation loss")) == ("1.000", "1.200")
    assert (metric(at, "Exactly right"), metric(at, "Tokens/s")) == ("50.0 %", "4.2 k")
    assert len(at.get("vega_lite_chart")) == 2
    assert "Training loss 1.00 at step 30" in words(at)
    assert "Exactly right at step 30: 0 of 1 validation sentence." in words(at)


def test_the_form_says_which_run_is_active(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine", state="running")
    at = planned(app)
    assert "A new run waits until 'mine' has ended." in words(at)


def test_stop_is_requested_and_resume_continues(app: AppTest, checkpoints: Path) -> None:
    folder = save_run(checkpoints / "mine", state="running")
    at = watching(app, "mine")
    button(at, "Stop").click().run()
    assert (folder / STOP).exists()
    assert "Stopping after the current batch" in words(at)
    (folder / STOP).unlink()
    write_status(folder, "stopped")
    at.run()
    button(at, "Resume").click().run()
    assert not at.exception
    launch = read_launch(checkpoints, "mine")
    assert launch is not None
    assert list(launch.arguments[3:])[:5] == ["python", "-m", "model.train", "--resume", "mine"]


def test_a_queued_run_says_so(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine", state="queued")
    assert "another run is being trained on this machine" in words(watching(app, "mine"))


def test_a_failed_run_says_why_and_can_be_resumed(app: AppTest, checkpoints: Path) -> None:
    folder = save_run(checkpoints / "mine")
    write_status(folder, "failed", error="the disk is full: free some *space*.")
    at = watching(app, "mine")
    assert "the disk is full: free some *space*." in words(at)
    assert button(at, "Resume")


def test_a_finished_run_opens_in_translate(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "mine")
    at = watching(app, "mine")
    links = {link.proto.label: link.proto for link in at.get("page_link")}
    assert links["Open in Translate"].query_string == "model=mine"
    assert "Watch its heads form, from the first step to the last" in links


def test_the_watched_sentence_reaches_the_trainer_and_its_answer_is_drawn(app: AppTest, checkpoints: Path) -> None:
    folder = save_run(checkpoints / "mine", state="running")
    at = watching(app, "mine")
    assert json.loads((folder / PROBE).read_text())["source"] == "headlight"
    assert "The heads appear here after the first evaluation" in words(at)
    at.text_input(key="probe_text_mine").set_value("<b>abc</b>").run()
    assert json.loads((folder / PROBE).read_text())["source"] == "<b>abc</b>"
    planted_trace().save_npz(folder / PROBE_ANSWER)
    write_status(folder, "running", probe_step=30)
    at.run()
    assert not at.exception
    assert (
        "At step 30 the model answers “je lis livres rouge”. Layer 2, head 1: Its sharpest row is “1 <sos>”"
        in words(at)
    )
    assert any(element.proto.bytes for element in at.get("bidi_component"))


def test_a_damaged_answer_is_ignored(app: AppTest, checkpoints: Path) -> None:
    folder = save_run(checkpoints / "mine", state="running")
    (folder / PROBE_ANSWER).write_bytes(b"PK nonsense")
    at = watching(app, "mine")
    assert not at.exception
    assert "The heads appear here after the first evaluation" in words(at)


def test_a_link_to_a_run_that_is_gone_leads_to_the_form(app: AppTest) -> None:
    at = watching(app, "nothing")
    assert not at.exception
    assert at.selectbox(key="run").value == ""
    assert at.selectbox(key="train_task").value == "reverse"


def test_the_preset_is_shown_where_the_estimate_is_known(app: AppTest) -> None:
    """The page runs twice in quick succession then, and the browser never sees what the first run drew."""
    planned(app)
    other = opened().run()
    assert other.segmented_control(key="train_preset_reverse").proto.set_value
    assert other.segmented_control(key="train_preset_reverse").value == "tiny"


def test_all_tasks_are_offered(app: AppTest) -> None:
    assert len(app.run().selectbox(key="train_task").options) == len(TASKS) + 1


def test_a_run_that_a_link_names_in_vain_is_said_until_another_is_chosen(app: AppTest, checkpoints: Path) -> None:
    save_run(checkpoints / "toy", steps=(0, 10))
    at = watching(app, "tyo")
    assert "There is no 'tyo' here; did you mean 'toy'?" in words(at)
    at = planned(at)  # the page is drawn again when the estimate has come
    assert "There is no 'tyo' here" in words(at)
    at.selectbox(key="run").set_value("toy").run()
    assert "There is no 'tyo' here" not in words(at)
    assert not at.exception
