"""`show`: display attention of any model as an interactive figure in a notebook, or write it as a file."""

from __future__ import annotations

import hashlib
import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_file import (
    SUM_TOLERANCE,
    UNKNOWN,
    OwnAttentionError,
    read_own,
    row_at,
    trace_of,
)
from explorer.decoding.decoding import NEXT_READ, Decoding, place_in
from explorer.decoding.view_options import is_view
from explorer.files.standalone_page import THEMES, Recording, Theme, page
from explorer.files.tensors import AttentionError, by_layer
from explorer.locale import language
from explorer.locale.catalogue import packs
from explorer.locale.messages import later, t
from model.config import ATTENTION_KINDS, AttentionKind
from model.trace import AttentionTrace, TraceError, kinds_of
from model.user_error import readable

MOST_DIGITS = 4  # more would not fit into two bytes
MOST_EXACT = 200_000  # weights up to which a page has float32 by default; it is then smaller than a megabyte
Digits = int | Literal["auto"] | None
VIEWS = ("steps", "heads", "head", "lines", "text")
_PARAMETERS = {"src_tokens": "source", "read_tokens": "target"}
_SIDES: dict[AttentionKind, tuple[str, str]] = {
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "cross": ("target", "source"),
}  # of queries and keys


@dataclass(frozen=True)
class Page:
    """A page with interactive views: a notebook displays it, :meth:`save` writes it, `html` is its source."""

    html: str
    height: int
    title: str = "Attention"

    def _repr_html_(self) -> str:
        """The display in notebooks: a frame that can reach neither the notebook nor the network."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" allow="fullscreen" '
            f'title="{html.escape(self.title)}" '
            f'style="width:100%;height:{self.height}px;border:0;color-scheme:normal"></iframe>'
        )

    def __repr__(self) -> str:
        """The display in a console."""
        return f"Page({len(self.html):,} characters; save it with .save('attention.html'))"

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page as one HTML file, which any browser opens without a network."""
        file = Path(path)
        file.write_text(self.html, encoding="utf-8")
        return file


def show(
    attention: Any = None,
    *,
    encoder: Any = None,
    decoder: Any = None,
    cross: Any = None,
    source: Sequence[str] | None = None,
    target: Sequence[str] | None = None,
    title: str = "",
    view: str = "",
    kind: str = "",
    layer: int = 0,
    head: int = 0,
    theme: Theme = "auto",
    height: int = 720,
    digits: Digits = "auto",
    sentence: int = 1,
    lang: str = "",
) -> Page:
    """Show attention in a notebook: step by step, all heads, one head, lines, or the shaded sentence.

    Give either `attention`: the result of `model.load(…).translate(…)`, its trace, or the path of an attention file as
    written by `model.translate --trace` (.npz, or JSON). Or give the tensors of any model, as Hugging Face returns
    them:

        show(encoder=out.attentions, source=tokens)                            # BERT
        show(decoder=out.attentions, target=tokens)                            # GPT
        show(encoder=out.encoder_attentions, decoder=out.decoder_attentions, cross=out.cross_attentions,
             source=source_tokens, target=target_tokens)                       # T5, MarianMT

    A kind of attention is a list with a tensor [batch, head, query, key] for each layer; after `generate`, a list of
    such lists, one for each step; or one array [layer, head, query, key]. Rows must sum to 1. Tokens are strings.
    `target` are the tokens that the decoder read; after `generate` it may be the whole output, whose last token was
    predicted but never read. If the model was given a target (teacher forcing), the page says "next token read" instead
    of "predicts". Of a batch, `sentence` (from 1) is shown, with a list of tokens for each sentence or the tokens of
    that one; padding at the end is left out. Layers may differ in their number of heads.

    `title` is a heading, such as the model's name. `view` is "steps", "heads", "head", "lines" or "text", the last four
    with options as in the app's address ("lines.words"); by default "steps" if there is cross-attention, otherwise
    "heads". `kind`, `layer` and `head` say where to start, counted from 1; head 0 is the mean over the heads. `theme`
    is "auto" (as in the browser), "light" or "dark"; `height` is that of the frame, in pixels. `digits` is the number
    of decimals to which weights are rounded, at most 4 (as many as the views show), for a smaller page; None keeps the
    model's own float32. By default up to 200,000 weights are exact, and more are rounded to 4 decimals; the page says
    so. `lang` is the language of the page, such as "de", by default that of the environment variable HEADLIGHT_LANG or
    English; another one than English needs Babel.

    Raises:
        AttentionError: an argument is not valid; the message says which and why.
    """
    with language.written_in(_language(lang)):
        _check_choices(theme, digits, view, kind)
        tensors: dict[AttentionKind, Any] = {"encoder": encoder, "decoder": decoder, "cross": cross}
        given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
        if (attention is None) == (not given):
            raise AttentionError("Give either a trace or a file, or at least one of encoder, decoder and cross.")
        if attention is None:
            name, (trace, notes, was_given) = "", _of_tensors(given, source, target, sentence)
        else:
            (name, trace, notes), was_given = _recorded(attention), False
        kinds = kinds_of(trace)
        if kind and kind not in kinds:
            raise AttentionError(
                "kind is {kind}, but there is only attention of the kinds {kinds}.",
                kind=repr(kind),
                kinds=", ".join(kinds),
            )
        model = title or name or t("Attention")
        weights = b"".join(trace.weights(each).tobytes() for each in kinds)
        seq = hashlib.sha256(weights).hexdigest()[:16]
        options = "" if view == "steps" else view
        count = sum(trace.weights(each).size for each in kinds)
        content = page(
            [
                Recording(
                    Decoding(trace, seq, model, _predicted_ids(trace), chosen_by=NEXT_READ if was_given else "chosen")
                )
            ],
            place_in(trace, kind=kind or kinds[-1], layer=layer, head=head, step=1),
            title=model,
            facts=notes,
            view="steps" if view in ("", "steps") else "heads",
            options=options,
            digits=(MOST_DIGITS if count > MOST_EXACT else None) if digits == "auto" else digits,
            theme_name=theme,
        )
        return Page(content.decode(), height, t("Attention"))


def _language(asked: str) -> str:
    code = asked or os.environ.get("HEADLIGHT_LANG") or language.ENGLISH
    if code == language.ENGLISH:
        return code
    try:
        known = packs()
    except ImportError as missing:
        raise AttentionError("A page in another language than English needs Babel: pip install babel.") from missing
    if code not in known:
        raise AttentionError(
            "There is no language '{code}'; the packs here are {codes}.", code=readable(code), codes=", ".join(known)
        )
    return code


def _check_choices(theme: str, digits: Digits, view: str, kind: str) -> None:
    if theme not in THEMES:
        raise AttentionError(
            "theme is one of {themes}, not {theme}.",
            themes=", ".join(THEMES),
            theme=repr(theme),
        )
    if digits not in (None, "auto", *range(1, MOST_DIGITS + 1)):
        raise AttentionError(
            "digits is a number from 1 to {most_digits}, None for the exact weights, or 'auto'.",
            most_digits=MOST_DIGITS,
        )
    if view and (view.split(".")[0] not in VIEWS or (view != "steps" and not is_view(view))):
        raise AttentionError("view begins with one of {views}, not {view}.", views=", ".join(VIEWS), view=repr(view))
    if kind and kind not in ATTENTION_KINDS:
        raise AttentionError(
            "kind is one of {attention_kinds}, not {kind}.", attention_kinds=", ".join(ATTENTION_KINDS), kind=repr(kind)
        )


def _recorded(attention: Any) -> tuple[str, AttentionTrace, tuple[str, ...]]:
    """Read the name, trace and remarks of a translation, a trace or a file."""
    attention = getattr(attention, "trace", attention)
    if isinstance(attention, AttentionTrace):
        if not kinds_of(attention):
            raise AttentionError("There is no attention in this trace.")
        return "", attention, tuple(attention.edits)
    if not isinstance(attention, str | PathLike):
        raise AttentionError(
            "A {name} cannot be shown as it is: give a trace, the path of a file, or the tensors "
            "as encoder=, decoder= and cross=.",
            name=type(attention).__name__,
        )
    path = Path(attention)
    try:
        return path.name, AttentionTrace.load_npz(path), ()
    except TraceError:
        # Not a complete trace of ours: `read_own` reads files of any model, in which arrays may be missing.
        try:
            own = read_own(path.read_bytes(), path.name)
        except (OSError, OwnAttentionError) as unreadable:
            raise AttentionError(unreadable) from None
        return path.name, own.trace, tuple(map(str, own.notes))


def _of_tensors(
    given: dict[AttentionKind, Any], source: Any, target: Any, sentence: int
) -> tuple[AttentionTrace, tuple[str, ...], bool]:
    """Build the trace of any model's tensors, with remarks about it, and whether its target was given to the model."""
    sides = {"source": _tokens("source", source, sentence), "target": _tokens("target", target, sentence)}
    arrays: dict[str, NDArray[Any]] = {}
    predicted: list[str] = []
    remarks: dict[str, None] = {}
    was_given = False
    for kind, tensor in given.items():
        weights, generated, of_batch = by_layer(kind, tensor, sentence)
        remarks |= dict.fromkeys(of_batch)
        weights = _without_padding(kind, weights, sides)
        rows, tokens = weights.shape[2], sides["target"]
        if kind != "encoder" and tokens is not None and len(tokens) == rows + 1:
            # The last token was predicted but never read.
            sides["target"], predicted = tokens[:-1], tokens[1:]
        elif generated and not predicted and tokens is not None and len(tokens) == rows:
            predicted = [*tokens[1:], UNKNOWN]
        elif kind != "encoder" and not generated and not predicted and tokens is not None and len(tokens) == rows:
            predicted, was_given = [*tokens[1:], UNKNOWN], True
        arrays[kind] = weights
    for name, side in _PARAMETERS.items():
        if sides[side] is not None:
            arrays[name] = np.array(sides[side], dtype=np.str_)
    if predicted:
        arrays["predicted_tokens"] = np.array(predicted, dtype=np.str_)
    try:
        trace, notes = trace_of(arrays, _PARAMETERS)
    except (OwnAttentionError, TraceError) as unfit:
        raise AttentionError(unfit) from None
    for kind in given:
        _check_sums(kind, trace.weights(kind))
    return trace, (*remarks, *map(str, notes)), was_given


def _without_padding(
    kind: AttentionKind, weights: NDArray[np.float32], sides: dict[str, list[str] | None]
) -> NDArray[np.float32]:
    """Cut rows and columns after the last token of a sentence that is shorter than its batch."""
    for axis, side in zip((2, 3), _SIDES[kind], strict=True):
        tokens = sides[side]
        size = weights.shape[axis]
        if tokens is not None and 0 < len(tokens) < size:
            kept, rest = np.split(weights, [len(tokens)], axis=axis)
            if axis == 3 and rest.any():
                raise AttentionError(
                    "{kind} has {keys}, but {side} has {tokens}, and the rest is no padding: it has weights.",
                    kind=kind,
                    keys=later("{n} key", "{n:,} keys", n=size),
                    side=side,
                    tokens=later("{n} token", "{n:,} tokens", n=len(tokens)),
                )
            weights = kept
    return weights


def _check_sums(kind: AttentionKind, weights: NDArray[np.float32]) -> None:
    sums = weights.sum(axis=-1, dtype=np.float64)
    off = np.abs(sums - 1) > SUM_TOLERANCE
    if off.any():
        raise AttentionError(
            "{place} sums to {sums:.4g}, not to 1. If the model is in training mode, dropout has "
            "changed its weights: call model.eval() first.",
            place=row_at(kind, off),
            sums=sums[off][0],
        )


def _tokens(name: str, tokens: Any, sentence: int) -> list[str] | None:
    """The tokens of one sentence; `tokens` may hold a list for each sentence of a batch."""
    if tokens is None:
        return None
    if not isinstance(tokens, str) and tokens and all(isinstance(each, list | tuple) for each in tokens):
        if not 1 <= sentence <= len(tokens):
            raise AttentionError(
                "sentence is {sentence}, but {name} has {lists} of tokens.",
                sentence=sentence,
                name=name,
                lists=later("{n} list", "{n:,} lists", n=len(tokens)),
            )
        tokens = tokens[sentence - 1]
    token_list = [tokens] if isinstance(tokens, str) else list(tokens)
    if isinstance(tokens, str) or not all(isinstance(token, str) for token in token_list):
        raise AttentionError(
            "{name} has to be a list of strings, one for each token: tokenizer.convert_ids_to_tokens(ids).", name=name
        )
    return token_list


def _predicted_ids(trace: AttentionTrace) -> tuple[int, ...]:
    """The id of each predicted token if it is among the likeliest of its row, otherwise a unique negative number."""
    ids = []
    for row, token in enumerate(trace.predicted_tokens):
        top = trace.top_tokens[row]
        ids.append(int(trace.top_ids[row, top.index(token)]) if token in top else -1 - row)
    return tuple(ids)
