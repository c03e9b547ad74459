"""What keeps answers from a glance: the same in the browser, and nothing lost."""

from __future__ import annotations

import pytest

from explorer.lessons.sealed import fnv, hashed, opened, sealed


def test_the_hash_is_the_published_one() -> None:
    assert fnv(b"") == 0xCBF29CE484222325
    assert fnv(b"a") == 0xAF63DC4C8601EC8C
    assert fnv(b"foobar") == 0x85944171F73967E8


def test_the_same_answer_to_another_question_has_another_hash() -> None:
    assert hashed("a", "b") != hashed("b", "a")
    assert hashed("attention.1", "o") == hashed("attention.1", "o") != hashed("attention.2", "o")


@pytest.mark.parametrize("text", ["", "o", "`o`, the last letter", "größer als 🙂 0,5", "x" * 1000])
def test_a_sealed_text_is_opened_with_its_salt_alone(text: str) -> None:
    letters = sealed("attention.2", text)
    assert opened("attention.2", letters) == text
    if text:
        assert text not in letters
        assert sealed("attention.3", text) != letters
