"""Messages for people: whatever they quote, they stay short and keep what is wrong and what to do."""

import ast
import builtins
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.user_error import MESSAGE, QUOTED, UserError, bounded, readable
from tests.paths import ROOT

GIANT = 20_000_000


@pytest.mark.parametrize("filler", ["x", "ab ", "\u0301", "\u202e", "\u200b", "\n", "\0", "\U0001f600", "ก็"])
def test_a_giant_value_leaves_both_ends_of_the_sentence(filler: str) -> None:
    said = str(UserError(f"config.json has the value '{filler * (GIANT // len(filler))}'; copy the folder again."))
    assert said.startswith("config.json has the value '")
    assert said.endswith("'; copy the folder again.")
    assert len(said) <= MESSAGE


@given(st.text(max_size=3000))
def test_any_text_becomes_one_short_line_without_hidden_characters(text: str) -> None:
    for shown, most in ((bounded(text), MESSAGE), (readable(text), QUOTED)):
        assert len(shown) <= most
        assert not {"\n", "\r", "\t"} & set(shown)
        assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs")]
        assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
        assert max(map(len, shown.split()), default=0) <= QUOTED or shown == readable(text)


@pytest.mark.parametrize(
    "sentence", ["lower learning_rate (now 0.1).", "'Straße' has no head 9.", "语言 'xx'.", "Việt", "Vie\u0323\u0302t"]
)
def test_an_ordinary_sentence_is_unchanged_but_marks_do_not_pile_up(sentence: str) -> None:
    assert str(UserError(sentence)) == readable(sentence) == sentence
    assert readable("e" + "\u0301" * 100 + "x") == "e\u0301\u0301\u0301x"


def test_every_error_of_ours_is_bounded() -> None:
    """Classes derived from Python's own errors quote what they are given at any length."""
    internal = {"_Torn", "NoCode", "Stopped"}  # caught where they are raised
    found = {
        node.name
        for folder in ("model", "explorer")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if isinstance(base, ast.Name) and hasattr(builtins, base.id) and base.id.endswith("Error")
    }
    assert found - internal == {"UserError"}
