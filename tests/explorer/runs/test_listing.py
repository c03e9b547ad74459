"""The texts in the list of runs and models, and about a run that is being watched."""

from datetime import datetime

import pytest

from explorer.locale import language
from explorer.runs.lifecycle import Entry
from explorer.runs.listing import (
    card,
    curve_rows,
    description,
    outcome,
    result_rows,
    rows,
    texts,
    verdict_text,
)
from explorer.runs.metrics import load_metrics
from explorer.runs.progress import STATE_SENTENCES, diagnosis, diagnosis_of, queue_sentence
from explorer.runs.status import RunStatus
from model.folder import METRICS, SHIPPED, summarize
from tests.paths import ROOT


def entry(name: str, state: str | None = None, **summary: object) -> Entry:
    status = RunStatus(name, state, step=25, max_steps=100) if state else None
    return Entry(name, {"name": name, **summary}, status)


def test_columns_without_a_value_are_left_out() -> None:
    first, second = rows([entry("a", parameters=5, results={"test": {"exact_match": 0.25}}), entry("b")])
    assert first == {"name": "a", "right (%)": 25, "verdict": "untrained", "parameters": 5}
    assert second == {"name": "b", "right (%)": None, "verdict": "untrained", "parameters": None}
    assert rows([]) == []
    own, shipped = rows([entry("a", modified=1000.0), entry(SHIPPED[0], modified=1000.0)])
    assert own["when"], "and of a shipped model, a clone's files say when it was cloned"
    assert shipped["when"] is None
    data = {"step": [20.0, 10.0, 10.0], "value": [0.5, 1.0, 2.00004], "curve": ["a", "a", "b"]}
    assert curve_rows(data) == [{"step": 10, "a": 1.0, "b": 2.0}, {"step": 20, "a": 0.5}]


def test_pairs_that_chose_the_weights_are_not_called_a_test() -> None:
    scores = {"exact_match": 1.0, "sentences": 60}
    own = entry("a", task="files", own_file="p.tsv", results={"split": "valid", "valid": scores, "test": scores})
    assert outcome(own) == "The validation sentences also chose the weights: there is no test of its own"
    assert outcome(own) in description(own)
    assert card(own, "learned") == "learned · 100.0 % (94–100) exactly right on validation · p.tsv"
    assert card(entry("a", task="files", own_file="p.tsv", trained=True), "learned") == "learned · p.tsv"
    words = entry("a", task="files", results={"test": {"exact_match": 0.01, "bleu": 9.7, "sentences": 96}})
    assert "1.0 % (0–6) exactly right, BLEU 9.7 (5–14)" in card(words, None), "each has the share of right answers"
    [row] = rows([own])
    assert row["scored on"] == "60 held out"
    tested = entry("a", task="dates", results={"split": "test", "valid": scores, "test": scores})
    assert outcome(tested) == "On 60 test sentences: 100.0 % (94–100) exactly right"
    assert "validation" not in card(tested, "learned")


def test_days_are_written_as_the_language_does() -> None:
    november = datetime(2026, 11, 28, 7, 30).timestamp()
    own = entry("a", task="files", own_file="p.tsv", trained=True, modified=november)
    assert texts(rows([own, entry("b")]))["when"] == ["28 Nov", "–"]
    assert card(own, "learned") == "learned · p.tsv · 28 Nov"
    assert card(entry("a", task="files", own_file="p.tsv", trained=True), "learned") == "learned · p.tsv"
    with language.written_in("de"):
        assert texts(rows([own]))["wann"] == ["28. Nov."]
        assert card(own, "learned") == "gelernt · p.tsv · 28. Nov."


def test_the_minutes_of_a_last_part_are_not_those_of_a_training() -> None:
    whole = entry("a", results={"test": {"exact_match": 0.5}, "seconds": 90})
    part = entry("b", init="a", results={"test": {"exact_match": 0.5}, "seconds": 90})
    assert [row["min"] for row in rows([whole, part])] == [1.5, None]
    compared = {row["setting"]: (row["x"], row["y"]) for row in result_rows({"x": whole, "y": part})}
    assert compared["Minutes of training"] == ("1.5", "–")
    assert compared["Scored sentences"] == ("–", "–")


def test_what_is_tested_on_the_pairs_that_it_learned_is_not_called_learned_but_learned_by_heart() -> None:
    results = {"test": {"exact_match": 1.0, "bleu": 100.0, "sentences": 98}, "trained_steps": 5}
    phrases = entry("a", task="phrases-en-de", trained=True, results=results)
    [row] = rows([phrases], {"a": "learned"})
    assert row["verdict"] == "learned by heart"
    assert "right, 95 %" not in row, "an interval is of a sample of other pairs"
    assert row["scored on"] == "98 training", "its test pairs are those of training"
    assert texts([row])["right (%)"] == ["100.0"]
    assert "test sentences" not in description(phrases), "they are those that it learned"
    assert card(phrases, "learned").startswith("learned by heart · 100.0 % exactly right on training pairs · Phrases")
    metrics = load_metrics(ROOT / "checkpoints" / "phrases-en-de" / METRICS)
    assert "95 % interval" in diagnosis(metrics, True).sentence
    assert diagnosis(metrics, True, True).sentence.startswith(
        "Learned by heart, for validation has the very pairs that it learned: 100.0 % exactly right, first reached"
    )
    assert "by heart" not in diagnosis(metrics, True).sentence
    other = entry("b", task="dates", trained=True, results=results)
    assert rows([other], {"b": "learned"})[0]["verdict"] == "learned"
    table = rows([other, entry("c")])
    assert table[0]["right, 95 %"] == "96.2–100"
    assert texts(table) == {"right (%)": ["100.0 (96.2–100)", "–"], "BLEU": ["100.0", "–"]}, "it was measured"
    assert [row["BLEU"] for row in rows([other, entry("d", results={"test": {"exact_match": 0.5}})])] == [100.0, None]
    assert "On 98 test sentences: 100.0 % (96.2–100) exactly right." in description(other)
    assert card(other, "learned").startswith("learned · 100.0 % (96.2–100) exactly right · Dates")


def test_a_continued_run_is_judged_by_its_last_part_alone_and_says_so() -> None:
    continued, whole = (summarize(ROOT / "checkpoints" / name) for name in ("multi30k-en-de", "reverse"))
    said = "Its 2,300 updates continue the training of “multi30k-en-de-second-round”; the curves show these alone."
    assert said in description(Entry("a", continued, None))
    said = "On 1,000 test sentences: 7.2 % (5.8–9.0) exactly right, BLEU 41.7 (40.3–43.2)."
    assert said in description(Entry("a", continued, None))
    assert "continue" not in description(Entry("a", whole, None))
    metrics = load_metrics(ROOT / "checkpoints" / "multi30k-en-de" / METRICS)
    course = diagnosis_of(metrics, False, continued)
    assert course.verdict == "levelled"
    assert "the lowest validation loss fell by 0.013 (0.9 %) to 1.43, with BLEU 44.0" in course.sentence
    assert "BLEU 44.0 of 300 sentences (95 % interval 41 to 47) at best on validation" in course.sentence
    assert course.sentence.endswith("continue from trained weights; more of the same kind will change little.")
    assert "larger" not in course.next, "a larger model cannot begin with these weights"
    alone = diagnosis_of(metrics, False, continued | {"init": ""})
    assert "larger model may" in alone.sentence
    assert "larger" in alone.next


LAST = {"trained_steps": 1500}


def test_the_updates_and_the_percentage_of_a_running_run_are_of_the_same_moment() -> None:
    scored = {"trained_steps": 10, "valid": {"exact_match": 0.5}}  # of its last evaluation
    run = entry("a", "running", task="dates", results=scored, parameters=5000)
    assert rows([run])[0]["updates"] == 25
    assert verdict_text(run, None) == "running (25 %)"
    assert ", 25 updates, " in description(run)
    assert ", 10 updates, " in description(entry("a", "stopped", task="dates", results=scored, parameters=5000))


@pytest.mark.parametrize(
    ("run", "verdict", "said"),
    [
        (entry("a", "running"), "running (25 %)", "stop it before"),
        (entry("a", "queued"), "queued", ""),
        (
            entry(
                "a",
                trained=True,
                training={"seed": 7},
                data={"split_seed": 2},
                task="dates",
                results=LAST,
                parameters=5000,
            ),
            "diverged",
            "Dates to ISO 8601, 5 k parameters, 1,500 updates, seed 7, split seed 2.",
        ),
        (entry(SHIPPED[0], trained=True, modified=1000.0), "diverged", "neither renamed nor deleted"),
        (entry("a", error="no weights"), "cannot be opened", ""),
    ],
)
def test_the_verdict_in_a_word_and_what_is_not_possible(run: Entry, verdict: str, said: str) -> None:
    assert verdict_text(run, "diverged") == verdict
    assert said in description(run)


A, B, C = (
    RunStatus("a", "running", 5, 10, left=(60.0, 80.0)),
    RunStatus("b", "queued", left=(120.0, 300.0)),
    RunStatus("c", "failed"),
)
UNKNOWN = RunStatus("a", "running")


@pytest.mark.parametrize(
    ("line", "name", "said"),
    [
        ([RunStatus("a", "finished")], "", ""),
        ([A, C], "", "A new run waits until “a” has ended. That takes 60 to 80 s."),
        ([A, B, C], "", "A new run waits until “a” and “b” have ended. That takes 3 to 7 min."),
        ([UNKNOWN, B, RunStatus("d", "starting")], "", "A new run waits until “a”, “b” and “d” have ended."),
        ([A, B], "b", "It waits until “a” has ended. That takes 60 to 80 s."),
        (
            [A, B, RunStatus("c", "queued", left=(20.0, 20.0))],
            "c",
            "It waits until “a” and “b” have ended. That takes 3 to 7 min.",
        ),
        ([UNKNOWN, B], "b", "It waits until “a” has ended."),
        ([B], "b", STATE_SENTENCES["queued"]),
    ],
)
def test_for_what_a_run_waits_and_how_long(line: list[RunStatus], name: str, said: str) -> None:
    assert queue_sentence(line, *([name] if name else [])) == said
