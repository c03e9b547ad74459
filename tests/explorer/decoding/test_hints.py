"""A hint about what to look for is shown only with a translation that bears it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.decoding.examples import Prompt, borne_out, examples_of, hint_for
from explorer.decoding.translator import Translation
from model.folder import SHIPPED
from tests.explorer.decoding.test_domain import task_of, translated

# Examples of a task whose hint a model's own answer does not bear out: read beside the answers.
NOT_BORNE_OUT = {
    # It knows nothing but the noun phrase: there is no verb to look at.
    "adjective-swap-unmasked": {"We eat green apples", "They buy blue cars", "She sees small houses"},
    # Its attention is one letter ahead of the other diagonal.
    "reverse-lstm": {"headlight", "attention"},
}


@pytest.mark.parametrize("name", SHIPPED)
def test_only_hints_that_the_answer_bears_out_are_shown(name: str) -> None:
    prompts = task_of(name).examples
    hidden = {
        prompt.source for prompt in prompts if not hint_for(prompt.source, prompts, translated(name, prompt.source))
    }
    assert hidden == NOT_BORNE_OUT.get(name, set())


@pytest.mark.parametrize("name", SHIPPED)
def test_words_in_quotation_marks_are_on_screen(name: str) -> None:
    """What a hint quotes stands in the source or in the translation; in a question too."""
    prompts = task_of(name).examples
    for prompt in prompts:
        shown = translated(name, prompt.source)
        if not hint_for(prompt.source, prompts, shown):
            continue
        text = f"{shown.source.text} {shown.text}".casefold()
        quotes = [piece.split("”")[0] for piece in prompt.note.split("“")[1:]]
        assert [quote for quote in quotes if quote.casefold() not in text] == [], prompt.source


def test_t1_the_hint_and_the_map_say_the_same() -> None:
    shown = translated("adjective-swap", "I read red books")
    row = shown.trace.predicted_tokens.index("livres")
    heaviest = shown.trace.src_tokens[shown.trace.cross[-1].mean(axis=0)[row].argmax()]
    hint = hint_for("I read red books", task_of("adjective-swap").examples, shown)
    assert heaviest == "books"
    assert "to predict “livres” it looks at “books”" in hint


@pytest.fixture(scope="module")
def swapped() -> Translation:
    return translated("adjective-swap", "I read red books")


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({}, True),
        ({"says": ("livres rouge",)}, True),
        ({"says": ("livre",)}, False),  # whole words only
        ({"says": ("rouge livres",)}, False),
        ({"looks": (("rouge", "red"),)}, True),
        ({"looks": (("rouge", "books"),)}, False),
        ({"looks": (("nous", "we"),)}, False),
        ({"pattern": "mirror"}, False),
    ],
)
def test_what_a_hint_takes_for_granted(swapped: Translation, changes: dict[str, object], holds: bool) -> None:
    assert borne_out(Prompt("I read red books", "note", **changes), swapped) is holds


def test_patterns_are_those_of_a_head() -> None:
    assert borne_out(Prompt("headlight", "note", pattern="mirror"), translated("reverse", "headlight"))
    assert not borne_out(Prompt("headlight", "note", pattern="diagonal"), translated("reverse", "headlight"))


def test_examples_from_validation_data_have_no_claims(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"samples": [{"source": "abc"}]}\n')
    (prompt,) = examples_of({"task": "none", "folder": str(tmp_path)})
    assert borne_out(prompt, translated("reverse", "abc"))
