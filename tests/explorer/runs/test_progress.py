"""What a watched run says of its progress."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from explorer.runs.metrics import Metrics, SampleTranslation
from explorer.runs.progress import (
    caught_up,
    early_end,
    headline_numbers,
    may_end_early,
    progress,
    sample_table,
    starting_sentence,
    why_ended,
    written_text,
)
from explorer.runs.status import RunStatus

PERFECT, PATIENCE = (
    "The last 3 evaluations were as good as can be.",
    "The last 2 evaluations were no better than the best",
)


@pytest.mark.parametrize(
    ("shares", "training", "said"),
    [
        ((0.5, 1.0, 1.0, 1.0), {"stop_when_right": 3}, PERFECT),
        ((0.9, 0.9, 0.9), {"stop_when_right": 3, "reachable": 0.9}, PERFECT),
        ((0.9, 0.9, 0.9), {"stop_when_right": 3}, ""),
        ((1.0, 1.0), {"stop_when_right": 3}, ""),
        ((1.0, 1.0), {"stop_when_right": 0}, ""),
        ((1.0,), {"stop_when_right": "x"}, ""),
        ((0.2, 0.5, 0.4, 0.3), {"patience": 2, "select_by": "exact_match"}, PATIENCE),
        ((0.2, 0.5, 0.4, 0.3), {"patience": 3, "select_by": "exact_match"}, ""),
        ((0.2, 0.5, 0.4, 0.3), {"patience": 2, "select_by": "loss"}, ""),  # the loss fell to the end
        ((0.2, 0.5, 0.4, 0.3), {"patience": 2, "select_by": "bleu"}, ""),  # ties go to the lower loss
        ((), {"patience": 2, "select_by": "loss"}, ""),
    ],
)
def test_why_a_run_ended_before_its_last_update_is_told_by_its_curves(
    shares: tuple[float, ...], training: dict[str, object], said: str
) -> None:
    more = {"reachable": float(str(training["reachable"]))} if "reachable" in training else {}
    evals = tuple(
        {"step": float(step), "exact_match": share, "loss": 1 / (step + 1), **more} for step, share in enumerate(shares)
    )
    early = RunStatus("a", "finished", step=140, max_steps=150)
    reason = why_ended(early, Metrics(evals=evals), training)
    assert reason.startswith(said)
    assert bool(reason) == bool(said)
    assert progress(early, reason) == f"Finished at step 140 of at most 150. {reason}".strip()


@pytest.mark.parametrize(
    ("shares", "wanted", "said"),
    [
        ((1.0, 1.0, 0.9, 1.0, 1.0), 3, True),
        ((0.5, 0.9, 1.0), 3, True),
        ((0.5, 0.9, 0.9), 3, False),  # never without a mistake: nobody waits for an early end
        ((0.5, 1.0, 1.0, 1.0), 3, False),  # the last update, with nothing left to save
        ((1.0, 0.9), 0, False),
    ],
)
def test_a_run_that_might_have_ended_early_says_why_it_did_not(
    shares: tuple[float, ...], wanted: int, said: bool
) -> None:
    evals = tuple({"step": float(step), "exact_match": share} for step, share in enumerate(shares))
    whole = RunStatus("a", "finished", step=150, max_steps=150)
    sentence = progress(whole, why_ended(whole, Metrics(evals=evals), {"stop_when_right": wanted}))
    more = " It did not end early: no 3 evaluations in a row were without a mistake."
    assert sentence == f"Finished at step 150.{more if said else ''}"


@pytest.mark.parametrize(
    ("shares", "training", "sentences", "may"),
    [
        ((0.5,), {"stop_when_right": 3}, 40, True),  # at 20, 30 and 40 of 50
        ((0.5, 0.5), {"stop_when_right": 3}, 40, False),
        ((0.5, 1.0), {"stop_when_right": 3}, 40, True),
        ((0.5,), {"stop_when_right": 3}, 8, False),  # that so few are right may be chance
        ((0.5, 0.4), {"patience": 3, "select_by": "exact_match"}, 40, True),
        ((0.4, 0.5), {"patience": 3, "select_by": "exact_match"}, 40, False),
        ((0.5,), {"stop_when_right": 0, "patience": 0}, 40, False),
        ((0.5,), {}, 40, False),
        ((), {"stop_when_right": 3}, 40, True),
    ],
)
def test_a_run_may_end_early_if_enough_evaluations_are_left(
    shares: tuple[float, ...], training: dict[str, object], sentences: int, may: bool
) -> None:
    evals = tuple(
        {"step": 10.0 * n, "exact_match": share, "loss": 1.0 / n, "sentences": float(sentences)}
        for n, share in enumerate(shares, start=1)
    )
    going = RunStatus("a", "running", step=11, max_steps=50, left=(20.0, 60.0))
    early = may_end_early(going, Metrics(evals=evals), training | {"eval_every": 10})
    assert early == may
    at_most, unless = ("at most ", " unless it ends early") if may else ("", "")
    assert progress(going, early=early) == f"step 11 of {at_most}50, 20 to 60 s left{unless}"


def test_a_run_that_starts_says_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.runs.progress.time.time", lambda: 1030.0)
    assert starting_sentence(RunStatus("a", "starting", started=1000.0)).endswith("builds the model (30 s so far).")
    assert "(0 s so far)" in starting_sentence(RunStatus("a", "starting", started=1031.0)), "a clock that was set back"


def test_the_step_is_never_behind_the_numbers_below_it() -> None:
    logged = Metrics(({"step": 20.0, "loss": 1.0},), ({"step": 10.0, "loss": 1.0},))
    measured = "; the time left is being measured"
    assert progress(caught_up(RunStatus("a", "running", step=17, max_steps=50), logged)) == f"step 20 of 50{measured}"
    known = RunStatus("a", "running", step=23, max_steps=50, left=(20.0, 60.0))
    assert progress(caught_up(known, logged)) == "step 23 of 50, 20 to 60 s left"
    assert progress(RunStatus("a", "stopped", step=17, max_steps=50)) == "step 17 of 50"
    assert progress(caught_up(RunStatus("a", "starting"), Metrics())) == "no step yet"


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((0.5, 1.0), "; ends at step 40 if the next 2 evaluations are as good, too"),
        ((1.0, 1.0), "; ends at step 30 if the next evaluation is as good, too"),
        ((0.5,), ", 20 to 60 s left unless it ends early"),
        ((0.5, 0.5, 1.0), ", 20 to 60 s left"),  # at 30 of 50: two more would be at its last step
    ],
)
def test_when_all_is_right_it_says_where_it_will_end(shares: tuple[float, ...], said: str) -> None:
    evals = tuple({"step": 10.0 * n, "exact_match": share, "sentences": 40.0} for n, share in enumerate(shares, 1))
    status, training = RunStatus("a", "running", 31, 50, (20.0, 60.0)), {"stop_when_right": 3, "eval_every": 10}
    metrics = Metrics(evals=evals)
    early, coming = may_end_early(status, metrics, training), early_end(status, metrics, training)
    assert progress(status, early=early, coming=coming) == f"step 31 of {'at most ' if early else ''}50{said}"
    assert early_end(status, metrics, training | {"eval_every": 0}) is None
    few = Metrics(evals=tuple(point | {"sentences": 8.0} for point in evals))
    assert early_end(status, few, training | {"patience": 3}) is None, "that so few are right may be chance"


def test_the_numbers_say_their_step_and_what_their_brackets_are() -> None:
    evaluation = {"step": 96.0, "loss": 0.0023, "exact_match": 0.0, "sentences": 40.0}
    shown = headline_numbers(Metrics(({"step": 80.0, "loss": 0.22},), (evaluation,)), "exact_match")
    assert shown == (
        ("Training loss, step 80", "0.22"),
        ("Validation loss, step 96", "0.0023"),
        ("Exactly right, of 40 (95 % interval)", "0.0 % (0–9)"),
    )
    for right, labels in ((0.5, ("Exactly right", "BLEU")), (1.0, ("Exactly right",))):
        translated = Metrics(evals=({"step": 96.0, "loss": 0.1, "exact_match": right, "bleu": 100.0},))
        names = tuple(name for name, _ in headline_numbers(translated, "bleu"))
        assert names == ("Validation loss, step 96", *labels), "where all is right, BLEU says nothing more"
    unscored = headline_numbers(Metrics(({"step": 1.0, "loss": 4.2},)), "exact_match")
    assert unscored == (("Training loss, step 1", "4.20"), ("Exactly right", "–"))


def test_the_answer_of_a_model_of_letters_is_written_with_its_spaces() -> None:
    letters = SimpleNamespace(predicted_tokens=("a", "b", "␣", "c", "<eos>"), tgt_words=(-1, 0, 0, -1, 1))
    assert written_text(cast(Any, letters)) == "ab c"
    words = SimpleNamespace(predicted_tokens=("ab", "c", "<eos>"), tgt_words=(-1, 0, 1))
    assert written_text(cast(Any, words)) == "ab c"


def test_an_empty_answer_is_written_as_nothing() -> None:
    samples = (SampleTranslation("a", "b", ""), SampleTranslation("c", "d", "d"))
    table = sample_table(((20, samples),))
    assert table is not None
    assert table["model's answer"] == ["(nothing)", "d"]
    assert table["exactly right"] == ["no", "yes"]
    assert sample_table(()) is None
