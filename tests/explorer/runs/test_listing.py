"""The texts in the list of runs and models."""

from __future__ import annotations

from explorer.decoding.model_summary import headline
from explorer.runs.lifecycle import Entry
from explorer.runs.listing import curve_rows, description, rows, state_label, summary
from explorer.runs.status import RunStatus
from model.folder import SHIPPED


def entry(name: str, state: str | None = None, **summary: object) -> Entry:
    status = RunStatus(name, state, step=25, max_steps=100) if state else None  # type: ignore[arg-type]
    return Entry(name, {"name": name, **summary}, status)


def test_columns_without_a_value_are_left_out() -> None:
    table = rows([entry("a", parameters=5, results={"test": {"exact_match": 0.25}}), entry("b")])
    assert table == [
        {"name": "a", "state": "untrained", "parameters": 5, "score": "Exactly right 25.0 %", "exact match (%)": 25.0},
        {"name": "b", "state": "untrained", "parameters": None, "score": None, "exact match (%)": None},
    ]
    assert rows([]) == []


def test_the_score_follows_from_what_the_answers_are() -> None:
    """BLEU of single words is 0, however many are right."""
    sentences = entry("a", results={"test": {"exact_match": 0.07, "bleu": 39.45}})
    words = entry("b", results={"test": {"exact_match": 0.97, "bleu": 0.0}})
    table = rows([sentences, words])
    assert [row["score"] for row in table] == ["BLEU 39.5", "Exactly right 97.0 %"]
    assert [row["BLEU"] for row in table] == [39.45, None]
    assert headline({"exact_match": True}) is None
    assert headline({}) is None


def test_the_state_in_a_word() -> None:
    assert state_label(entry("a", "running")) == "running (25 %)"
    assert state_label(entry("a", "queued")) == "queued"
    assert state_label(entry("a", trained=True)) == "finished"
    assert state_label(entry(SHIPPED[0], trained=True)) == "came with Headlight"
    assert state_label(entry("a", error="no weights")) == "cannot be opened"


def test_the_number_of_entries() -> None:
    assert summary([entry("a", trained=True)]) == "1 run or model; none is being trained."
    assert summary([entry("a"), entry("b", "running")]) == "2 runs and models; b is running."


def test_the_description_says_what_is_not_possible() -> None:
    assert description(entry("a", modified=1000.0), now=1000.0 + 3 * 86_400) == "Changed 3 days ago."
    assert "neither renamed nor deleted" in description(entry(SHIPPED[0]))
    assert "stop it before" in description(entry("a", "running"))
    assert description(entry("a", "running"), read_only=True).startswith("It can be neither renamed")
    assert description(entry("a")) == ""


def test_curves_as_a_table() -> None:
    data = {"step": [20.0, 10.0, 10.0], "value": [0.5, 1.0, 2.00004], "curve": ["a", "a", "b"]}
    assert curve_rows(data) == [{"step": 10, "a": 1.0, "b": 2.0}, {"step": 20, "a": 0.5}]
