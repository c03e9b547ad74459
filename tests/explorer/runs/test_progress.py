"""Texts about a run that is being watched."""

from __future__ import annotations

from explorer.runs.metrics import Metrics, SampleTranslation
from explorer.runs.progress import (
    STATE_SENTENCES,
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
    assert alone[0]["one evaluation earlier"] == [""]
    assert alone[1] == "Exactly right at step 10: 0 of 1 validation sentence."
    second = (1_020, (SampleTranslation("ab", "ba", "ba"), SampleTranslation("c", "c", "d")))
    both = sample_table([first, second])
    assert both is not None
    assert both[0]["one evaluation earlier"] == ["b", ""]
    assert both[0][""] == ["right", ""]
    assert both[1] == "Exactly right at step 1,020: 1 of 2 validation sentences."


def test_a_new_run_is_told_for_what_it_waits() -> None:
    assert queue_sentence([RunStatus("a", "finished")]) == ""
    running, waits = RunStatus("a", "running", 5, 10, eta_s=60.0), RunStatus("b", "queued", eta_s=120.0)
    assert queue_sentence([running, RunStatus("c", "failed")]) == (
        "A new run waits until 'a' has ended. That takes about 1 min 00 s."
    )
    assert queue_sentence([running, waits, RunStatus("c", "failed")]) == (
        "A new run waits until 'a' and 'b' have ended. That takes about 3 min 00 s."
    )
    unknown = [RunStatus("a", "running"), RunStatus("b", "queued"), RunStatus("d", "starting")]
    assert queue_sentence(unknown) == "A new run waits until 'a', 'b' and 'd' have ended."


def test_a_waiting_run_knows_its_place_and_when_its_turn_comes() -> None:
    line = [
        RunStatus("a", "running", 5, 10, eta_s=60.0),
        RunStatus("b", "queued", eta_s=120.0),
        RunStatus("c", "queued", eta_s=20.0),
    ]
    assert queue_sentence(line, "b") == "It waits until 'a' has ended. That takes about 1 min 00 s."
    assert queue_sentence(line, "c") == "It waits until 'a' and 'b' have ended. That takes about 3 min 00 s."
    unknown = [RunStatus("a", "starting"), RunStatus("b", "queued")]
    assert queue_sentence(unknown, "b") == "It waits until 'a' has ended."
    assert queue_sentence([RunStatus("b", "queued")], "b") == STATE_SENTENCES["queued"]
