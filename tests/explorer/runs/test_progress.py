"""Texts about a run that is being watched."""

from __future__ import annotations

from explorer.runs.metrics import Metrics, SampleTranslation
from explorer.runs.progress import (
    STATE_SENTENCES,
    busy_sentence,
    headline_numbers,
    progress,
    queue_sentence,
    sample_table,
)
from explorer.runs.status import RunStatus


def test_progress() -> None:
    assert progress(RunStatus("a", "starting")) == "no step yet"
    assert progress(RunStatus("a", "running", 30, 100, eta_s=200.0)) == "step 30 of 100, about 3 min 20 s left"
    assert progress(RunStatus("a", "stopped", 30, 1000, eta_s=200.0)) == "step 30 of 1,000"
    assert progress(RunStatus("a", "finished", 1000, 1000)) == "Finished at step 1,000."


def test_numbers_that_are_not_known_yet() -> None:
    status = RunStatus("a", "running")
    assert {value for _, value in headline_numbers(Metrics(), status, "bleu")} == {"–"}
    metrics = Metrics(
        train=({"step": 1.0, "loss": 2.0, "lr": 0.001},), evals=({"step": 1.0, "loss": 1.5, "exact_match": 0.5},)
    )
    numbers = dict(headline_numbers(metrics, RunStatus("a", "running", tokens_per_s=12_345.0), "exact_match"))
    assert numbers == {
        "Training loss": "2.000",
        "Validation loss": "1.500",
        "Exactly right": "50.0 %",
        "Learning rate": "0.001",
        "Tokens/s": "12.3 k",
    }


def test_samples_are_shown_beside_those_of_the_previous_evaluation() -> None:
    assert sample_table([]) is None
    first = (10, (SampleTranslation("ab", "ba", "b"),))
    alone = sample_table([first])
    assert alone is not None
    assert alone.columns["one evaluation earlier"] == [""]
    assert alone.caption == "Exactly right at step 10: 0 of 1 validation sentence."
    second = (1_020, (SampleTranslation("ab", "ba", "ba"), SampleTranslation("c", "c", "d")))
    both = sample_table([first, second])
    assert both is not None
    assert both.step == 1_020
    assert both.columns["one evaluation earlier"] == ["b", ""]
    assert both.columns[""] == ["right", ""]
    assert both.caption == "Exactly right at step 1,020: 1 of 2 validation sentences."


def test_who_is_being_trained() -> None:
    assert busy_sentence([RunStatus("a", "finished")]) == ""
    running, waits = RunStatus("a", "running", 5, 10, eta_s=60.0), RunStatus("b", "queued", eta_s=120.0)
    assert busy_sentence([running, RunStatus("c", "failed")]) == (
        "'a' is running on this machine (about 1 min 00 s left); a new run waits until it has ended."
    )
    assert busy_sentence([running, waits, RunStatus("c", "failed")]) == (
        "'a' is running on this machine (about 1 min 00 s left); in line after it: 'b'. A new run comes after them, in "
        "about 3 min 00 s."
    )
    unknown = [RunStatus("a", "running"), RunStatus("b", "queued"), RunStatus("d", "starting")]
    assert busy_sentence(unknown) == (
        "'a' is running on this machine; in line after it: 'b', 'd'. A new run comes after them."
    )


def test_a_waiting_run_knows_its_place_and_when_its_turn_comes() -> None:
    line = [
        RunStatus("a", "running", 5, 10, eta_s=60.0),
        RunStatus("b", "queued", eta_s=120.0),
        RunStatus("c", "queued", eta_s=20.0),
    ]
    assert queue_sentence("b", line) == (
        "Waiting for 'a': it is next. Its turn comes in about 1 min 00 s, and it takes about 2 min 00 s then."
    )
    assert queue_sentence("c", line) == (
        "Waiting for 'a', 'b': it is number 2 in the line. Its turn comes in about 3 min 00 s, and it takes about 20 s "
        "then."
    )
    untold = [RunStatus("a", "starting"), RunStatus("b", "queued")]
    assert queue_sentence("b", untold) == "Waiting for 'a': it is next. When its turn comes is not known yet."
    assert queue_sentence("b", [RunStatus("b", "queued")]) == STATE_SENTENCES["queued"]
