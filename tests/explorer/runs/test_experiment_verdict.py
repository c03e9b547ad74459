"""The verdict in one line: what differs by more than the runs of an arm do, and what does not."""

from __future__ import annotations

import pytest

from explorer.runs.experiment_arms import arm_runs
from explorer.runs.experiment_findings import verdict
from model.experiments.catalogue import EXPERIMENTS
from tests.explorer.runs.test_experiment_findings import BAD, GOOD, planted, run


def test_a_score_that_is_lower_in_every_run_decides() -> None:
    assert verdict(planted(GOOD, BAD)) == "'two' (60 % against 99.5 %) is worse than 'one'."
    assert verdict(planted(BAD, GOOD)) == "'two' (99.5 % against 60 %) is better than 'one'."


def test_between_equal_scores_the_updates_decide_and_then_the_loss() -> None:
    late = (run(1, 1.0, 0.1, (0.1, 0.2, 0.3, 1.0)), run(2, 0.99, 0.2, (0.1, 0.2, 0.3, 0.4, 1.0)))
    said = "'two' (45 against 25 updates) is as good as 'one' in the end, but later."
    assert verdict(planted(GOOD, late)) == said
    assert verdict(planted(late, GOOD)) == "'two' (25 against 45 updates) is as good as 'one' in the end, and sooner."
    unsure = (run(1, 1.0, 0.5, (0.5, 0.99)), run(2, 0.99, 0.6, (0.5, 0.9, 1.0)))
    assert verdict(planted(GOOD, unsure)) == "'two' (loss 0.55 against 0.15) is as often right as 'one', but less sure."


def test_a_small_lead_in_every_run_is_named_as_small() -> None:
    first, ahead = (tuple(run(seed, score, 0.3, (0.1,)) for seed in (1, 2)) for score in (0.5, 0.507))
    said = "'two' (50.7 % against 50 %) is ahead of 'one' in every run, by less than a point."
    assert verdict(planted(first, ahead)) == said
    said = "'two' (50 % against 50.7 %) is behind 'one' in every run, by less than a point."
    assert verdict(planted(ahead, first)) == said


def test_ranges_that_overlap_around_the_same_mean_show_no_difference() -> None:
    mixed = (run(1, 0.999, 0.1, (0.5, 0.99)), run(2, 0.985, 0.2, (0.5, 0.9, 1.0)))
    assert verdict(planted(GOOD, mixed)) == "'two' shows no difference from 'one'."


def test_ranges_that_overlap_around_other_means_decide_nothing() -> None:
    mixed = (run(1, 0.995, 0.1, (0.5, 0.99)), run(2, 0.9, 0.2, (0.5, 0.9, 1.0)))
    said = "'two' (94.8 % against 99.5 %, but the runs overlap) is not told apart from 'one'."
    assert verdict(planted(GOOD, mixed)) == said


def test_runs_that_miss_the_target_decide_nothing_either() -> None:
    slow = (run(1, 0.999, 0.1, (0.5, 0.99)), run(2, 0.985, 0.2, (0.5, 0.6, 0.9)))
    said = "'two' (1 of 2 against 2 of 2 runs reached the target) is not told apart from 'one'."
    assert verdict(planted(GOOD, slow)) == said


def test_five_seeds_that_all_favour_one_side_decide_though_the_ranges_overlap() -> None:
    scores = (0.80, 0.90, 0.70, 0.85, 0.60)
    first = tuple(run(seed, score, 0.3, (0.1,)) for seed, score in enumerate(scores))
    ahead = tuple(run(seed, score + 0.05, 0.3, (0.1,)) for seed, score in enumerate(scores))
    said = "'two' (82 % against 77 %, so with each of 5 seeds) is better than 'one'."
    assert verdict(planted(first, ahead)) == said
    said = "'two' (77 % against 82 %, so with each of 5 seeds) is worse than 'one'."
    assert verdict(planted(ahead, first)) == said
    once = (*ahead[:4], run(4, 0.59, 0.3, (0.1,)))
    small = tuple(run(seed, score + 0.005, 0.3, (0.1,)) for seed, score in enumerate(scores))
    for other, undecided in ((once, True), (ahead[:4], True), (small, False)):
        relation = "is not told apart" if undecided else "shows no difference"
        assert f"{relation} from 'one'." in verdict(planted(first, other))


def test_one_run_decides_nothing_and_no_run_says_nothing() -> None:
    assert verdict(planted(GOOD[:1], BAD[:1])) == (
        "Not decided: with one run of a variant, 'one' 100 % against 'two' 50 %."
    )
    assert verdict(planted(GOOD, ())) == "There is nothing to compare yet."


def test_failed_runs_are_worse() -> None:
    failed = tuple(run(seed, 0.0, 0.0, (), scores={}, error="the loss is no longer a number.") for seed in (1, 2))
    assert verdict(planted(GOOD, failed)) == "'two' (its runs failed) is worse than 'one'."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("residual", "'without' (0 % against 99.6 %) is worse than 'with residuals'."),
        (
            "consistency",
            "'SimCut' (92.8 % against 89.5 %, so with each of 5 seeds) is better than 'one pass'; 'R-Drop' shows no "
            "difference from 'one pass'.",
        ),
        (
            "diversification",
            "'with pairs of both directions' (40.3 against 39.5) is ahead of 'the corpus alone' in every run, by less "
            "than a point.",
        ),
        (
            "dropout",
            "'none' (74.6 % against 89.5 %, so with each of 5 seeds) and '0.3 there and inside' (82.3 % against "
            "89.5 %, so with each of 5 seeds) are worse than '0.1, the paper's'.",
        ),
        (
            "scaling",
            "'not divided' (1 of 3 against 3 of 3 runs reached the target) is not told apart from "
            "'divided by √d_head'.",
        ),
        ("norm", "'post-norm' shows no difference from 'pre-norm'."),
    ],
)
def test_stored_experiments(name: str, said: str) -> None:
    assert verdict(arm_runs(EXPERIMENTS[name])) == said


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_stored_experiment_has_one(name: str) -> None:
    line = verdict(arm_runs(EXPERIMENTS[name]))
    assert line.endswith(".")
    assert "\n" not in line
