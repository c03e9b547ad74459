"""A view of attention and its options, and their text in the address, such as "lines.words.mass-60".

The text is words joined by dots: the view, then one word for each option that differs from its default. The browser
receives and reports the options themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from explorer.decoding.attention_maps import Form
from model.config import AttentionKind

MAX_VIEW = 120  # characters of a view's text
VIEW_PATTERN = r"\A[a-z0-9]+([.-][a-z0-9]+)*\Z"

View = Literal["heads", "head", "lines", "text"]
VIEWS: tuple[View, ...] = get_args(View)
FLAGS = ("words", "next", "steps", "beside", "content", "guess")
SCALES = ("unit", "max", "log")
DIRECTIONS = ("", "ltr", "rtl")


@dataclass(frozen=True)
class ViewOptions:
    """A view of attention and its options; the defaults are those of the text "heads".

    Args:
        view: all heads, one head, lines, or the shaded sentence.
        words: rows and columns are whole words instead of tokens.
        next: decoder rows are named by what they predict and, with `words`, joined by the word that they predict.
        steps: decoder rows after the step in view are left out.
        beside: the kinds of attention stand side by side.
        content: cross-attention without <eos>, other specials and punctuation, its rows scaled to 1 again.
        guess: on Translate, each next word and its attention are hidden until it has been guessed.
        scale: the colour scale ends at 1 ("unit"), at the largest weight ("max"), or is logarithmic ("log").
        direction: words run from left to right ("ltr"), from right to left, or (empty) as they are written.
        mass: lines are drawn until they hold this percentage of a row, 10 to 100.
        heads: the heads whose lines are drawn, from 1, 0 = the mean; empty = the one in view.
    """

    view: View = "heads"
    words: bool = False
    next: bool = False
    steps: bool = False
    beside: bool = False
    content: bool = False
    guess: bool = False
    scale: str = "unit"
    direction: str = ""
    mass: int = 80
    heads: tuple[int, ...] = ()

    def form(self, kind: AttentionKind) -> Form:
        """Tokens or words; and whether decoder rows are joined by the word that they read or predict."""
        if not self.words:
            return "tokens"
        return "words-next" if self.next and kind != "encoder" else "words"

    def leftwards(self, written: bool) -> bool:
        """Whether words run from right to left; `written` says whether they are written so."""
        return self.direction == "rtl" if self.direction else written


def is_view(text: object) -> bool:
    """Whether `text` has the form of a view with its options in the address."""
    return isinstance(text, str) and len(text) <= MAX_VIEW and re.search(VIEW_PATTERN, text) is not None


def parse_view(text: str) -> ViewOptions:
    """Read the options from a view's text; unknown words are ignored, and of two that disagree the last one counts."""
    options = ViewOptions()
    for word in text.split("."):
        options = replace(options, **_option(word))
    return options


def _option(word: str) -> dict[str, Any]:
    """The option that one word of a view's text sets; empty if the word is unknown."""
    if word in VIEWS:
        return {"view": word}
    if word in FLAGS:
        return {word: True}
    if word in SCALES[1:]:
        return {"scale": word}
    if word in DIRECTIONS[1:]:
        return {"direction": word}
    name, _, value = word.partition("-")
    if name == "mass" and _is_number(value) and int(value):
        return {"mass": min(max(int(value), 10), 100)}
    if name == "h":
        return {"heads": tuple(dict.fromkeys(int(number) for number in value.split("-") if _is_number(number)))}
    return {}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 4


def format_view(options: ViewOptions) -> str:
    """Write options as text, which :func:`parse_view` reads back to equal options."""
    words = [options.view, *(flag for flag in FLAGS if getattr(options, flag))]
    if options.scale != SCALES[0]:
        words.append(options.scale)
    if options.direction:
        words.append(options.direction)
    if options.mass != ViewOptions().mass:
        words.append(f"mass-{options.mass}")
    if options.heads:
        words.append(f"h-{'-'.join(map(str, options.heads))}")
    return ".".join(words)
