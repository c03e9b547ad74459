"""The Probe page's sample in the address: written and read back."""

from __future__ import annotations

import base64
import zlib

import pytest

from explorer.probing.sample import MAX_LINK, SampleChoice, SampleError, from_link, to_link

LINES = ("abc\tcba", "日本語 </script> & ü", "a.b~c")


@pytest.mark.parametrize(
    "choice",
    [
        SampleChoice(size=50),
        SampleChoice(translated=True),
        SampleChoice("own", LINES),
        SampleChoice("own", ("x",), 7, True),
        SampleChoice("own", LINES, aligned=True),
        SampleChoice("task", (), 30, True, True),
        SampleChoice("scenes", aligned=True),
    ],
)
def test_a_choice_is_restored_from_its_link(choice: SampleChoice) -> None:
    link = to_link(choice)
    assert from_link(link) == choice
    assert from_link(link).key == choice.key
    assert all(letter.isalnum() or letter in ".-_" for letter in link), "it needs no escapes in an address"


def test_the_default_sample_needs_no_parameter() -> None:
    assert to_link(SampleChoice()) == ""
    assert to_link(SampleChoice(size=50)) == "task.50"
    assert to_link(SampleChoice(size=50, translated=True)) == "task.50.translated"


def test_a_list_that_is_too_long_says_so_when_it_is_opened() -> None:
    import random

    letters = random.Random(1)
    lines = tuple("".join(letters.choices("abcdefghijklmnop", k=60)) for _ in range(400))
    link = to_link(SampleChoice("own", lines))
    assert link == "own.200.-"
    with pytest.raises(SampleError, match="too long for a link"):
        from_link(link)
    assert len(to_link(SampleChoice("own", ("the same line",) * 900))) < MAX_LINK


def bomb() -> str:
    packed = zlib.compress(b"a" * 50_000_000, 9)
    return "own.200." + base64.urlsafe_b64encode(packed).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "task",
        "task.0",
        "task.1001",
        "task.5.abc",
        "own.5",
        "own.5.%%",
        "own.5.AAAA",
        "task.5.translated.x",
    ],
)
def test_any_other_text_gets_a_message(text: str) -> None:
    with pytest.raises(SampleError):
        from_link(text)


def test_a_small_link_cannot_fill_the_memory() -> None:
    with pytest.raises(SampleError, match="at most 400,000 are read"):
        from_link(bomb())
