"""The plain lines about a model, and text that stays text in Markdown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from explorer.text import count, facts, plain
from model.config import ModelConfig, to_dict


def summary(**changes: Any) -> dict[str, Any]:
    return {
        "name": "m",
        "task": "reverse",
        "trained": True,
        "parameters": 171_000,
        "model": to_dict(ModelConfig(n_encoder_layers=3, n_decoder_layers=1, n_encoder_heads=2, n_decoder_heads=4)),
        "results": {"step": 9, "test": {"exact_match": 0.9968, "sentences": 1505, "bleu": 41.02}},
    } | changes


def test_facts_name_sizes_and_scores() -> None:
    text = " ".join(facts(summary()))
    for part in (
        "Reverse",
        "171 k",
        "3 encoder layers × 2 heads",
        "1 decoder layers × 4 heads",
        "99.7 % of 1505",
        "41.0",
    ):
        assert part in text
    assert "held-out" in text


def test_what_was_learned_by_heart_is_not_called_held_out() -> None:
    text = " ".join(facts(summary(task="phrases-en-de")))
    assert "by heart" in text
    assert "held-out" not in text


def test_an_untrained_model_and_a_task_of_ones_own() -> None:
    text = " ".join(facts(summary(trained=False, task="files", results={})))
    assert "Not trained" in text
    assert "own data" in text


@pytest.mark.parametrize(("number", "said"), [(0, "0"), (950, "950"), (12_345, "12.3 k"), (2_093_568, "2.09 M")])
def test_count(number: int, said: str) -> None:
    assert count(number) == said


@pytest.mark.parametrize(
    "text", ["www.evil.example", "see https://evil.example/x", "HTTP://a.example", "me@evil.example"]
)
def test_addresses_do_not_become_links(text: str) -> None:
    """Bare addresses are broken by a joiner that nobody sees (GFM autolinks work after escapes are read)."""
    shown = plain(text).replace("\\", "")
    assert shown.replace("\u2060", "") == text
    for start in ("www.", "http://", "https://", "@evil"):
        assert start not in shown.lower()


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=60))
def test_escaped_text_has_no_markup(text: str) -> None:
    """CommonMark gives back the characters themselves: nothing but text tokens, in one paragraph."""
    inline = [token for token in MarkdownIt().parse("x" + plain(text)) if token.type == "inline"]
    assert len(inline) == 1
    assert {child.type for child in inline[0].children or []} <= {"text", "text_special"}
