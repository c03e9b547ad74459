"""Translate sentences: `python -m model.translate --model NAME "text" …`, or one sentence a line on standard input."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model.commands import (
    EXIT_WRONG_USE,
    CommandError,
    OneSentenceParser,
    add_checkpoints,
    add_search,
    run_command,
    search_config,
    typed,
)
from model.config import DecodeConfig, own_search

if TYPE_CHECKING:
    from model.checkpoint import LoadedModel
    from model.decoding.decode import Decoding
    from model.text.tokenizer import Encoding

BATCH = 32
ALTERNATIVES = 10


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    options = OneSentenceParser(
        prog=typed("model.translate"),
        description="Translate sentences with a trained model, one line of text per sentence on standard output. A "
        "model that continues text continues each line.",
        epilog="Without a sentence, standard input is read, one sentence a line; an empty line gives an empty one.",
    )
    options.add_argument("sentences", nargs="*", metavar="SENTENCE", help="sentence to translate")
    options.add_argument("--model", required=True, metavar="NAME", help="name of a model in the checkpoints folder")
    add_search(options)
    options.add_argument(
        "--max-length",
        type=int,
        default=0,
        metavar="N",
        help="maximum number of target tokens (default: from the source length)",
    )
    options.add_argument(
        "--json", action="store_true", help="print one JSON object a line: tokens, and each step's alternatives"
    )
    options.add_argument("--trace", type=Path, metavar="FILE.npz", help="write the attention of one sentence to a file")
    add_checkpoints(options)
    return options


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every expected failure is a :class:`UserError`."""
    options = parser().parse_args(arguments)
    if options.trace and len(options.sentences) != 1:
        raise CommandError(
            "--trace takes one sentence, not {sentences}; give it in quotes.", sentences=len(options.sentences)
        )
    if options.max_length < 0:
        raise CommandError("--max-length must be 0 (from the source length) or more.")
    config = search_config(options, max_length=options.max_length)
    import torch

    from model.checkpoint import load_model
    from model.folder import find_model

    torch.set_num_threads(1)  # one sentence at a time is too little work for several threads
    loaded = load_model(find_model(options.checkpoints, options.model))
    if options.own_search:
        config = own_search(loaded.summary["search"], config)
    source: Iterator[str | CommandError]
    source = (" ".join(line.splitlines()) for line in options.sentences) if options.sentences else _stdin_lines()
    lines = _Sentences(loaded, source, skips=not options.sentences)
    if options.json or options.trace:
        for line, encoding in lines:
            decoding = _record(loaded, encoding, config)
            if options.trace:
                _write_trace(decoding, options.trace)
            print(
                json.dumps(_as_json(loaded, line, decoding), ensure_ascii=False)
                if options.json
                else _text(loaded, decoding)
            )
        return lines.exit_code
    for text in _translations(loaded, lines, config):
        print(text)
    return lines.exit_code


def _stdin_lines() -> Iterator[str | CommandError]:
    """Lines of standard input, read as UTF-8 whatever the system's encoding, or the error for a line that is not."""
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            yield CommandError("line {number} of standard input is not UTF-8 text.", number=number)


class _Sentences:
    """Iterates over lines and their tokens, None for an empty line.

    With `skips`, a line that cannot be read is reported on standard error and counts as empty, so that the output has a
    line for every line of input. Otherwise it is an error.
    """

    def __init__(self, loaded: LoadedModel, lines: Iterable[str | CommandError], *, skips: bool) -> None:
        self._loaded, self._lines, self._skips = loaded, lines, skips
        self.exit_code = 0

    def __iter__(self) -> Iterator[tuple[str, Encoding | None]]:
        for line in self._lines:
            try:
                if isinstance(line, CommandError):
                    raise line
                yield line, _encode(self._loaded, line)
            except CommandError as error:
                if not self._skips:
                    raise
                print(" ".join(str(error).split()), file=sys.stderr)
                self.exit_code = EXIT_WRONG_USE
                yield "", None


def _encode(loaded: LoadedModel, line: str) -> Encoding | None:
    """The tokens of a sentence; None for an empty one.

    Raises:
        CommandError: the sentence has more tokens than the model has positions.
    """
    encoding = loaded.source.encode(line)
    limit = loaded.model_config.longest_source
    if len(encoding) > limit:
        raise CommandError(
            "the sentence that begins with {line} has {encoding} tokens, but this model reads at most "
            "{limit}; shorten or split it.",
            line=repr(line[:40]),
            encoding=len(encoding),
            limit=limit,
        )
    return encoding if line.strip() else None


def _translations(loaded: LoadedModel, lines: _Sentences, config: DecodeConfig) -> Iterator[str]:
    """Translate in small batches, in order, so that output for a long input starts early."""
    from model.data.batching import EncodedPairs
    from model.scoring import translate_pairs

    waiting: list[Encoding | None] = []

    def flush() -> Iterator[str]:
        full = [encoding for encoding in waiting if encoding is not None]
        pairs = EncodedPairs(tuple(encoding.ids for encoding in full), ((),) * len(full))
        texts = iter(translate_pairs(loaded.model, pairs, loaded.target, config))
        yield from (next(texts) if encoding is not None else "" for encoding in waiting)
        waiting.clear()

    for _, encoding in lines:
        waiting.append(encoding)
        if len(waiting) == (1 if sys.stdin.isatty() else BATCH):
            yield from flush()
    yield from flush()


def _record(loaded: LoadedModel, encoding: Encoding | None, config: DecodeConfig) -> Decoding | None:
    from model.decoding.decode import decode_recorded

    if encoding is None:
        return None
    return decode_recorded(loaded.model, encoding, loaded.target, config, n_alternatives=ALTERNATIVES)


def _text(loaded: LoadedModel, decoding: Decoding | None) -> str:
    return "" if decoding is None else loaded.target.decode(decoding.answer)


def _write_trace(decoding: Decoding | None, path: Path) -> None:
    if decoding is None:
        raise CommandError("there is nothing to trace in an empty sentence.")
    try:
        decoding.trace.save_npz(path)
    except OSError as error:
        raise CommandError("{path} cannot be written: {reason}.", path=path, reason=error.strerror or error) from None


def _as_json(loaded: LoadedModel, line: str, decoding: Decoding | None) -> dict[str, Any]:
    """Source, translation and tokens, and for each step the token read, the token chosen and the alternatives."""
    values: dict[str, Any] = {"model": loaded.name, "source": line, "translation": _text(loaded, decoding)}
    if decoding is None:
        return values | {"source_tokens": [], "unknown": [], "finished": False, "steps": []}
    trace = decoding.trace
    encoding = loaded.source.encode(line)
    steps = [
        {
            "read": trace.read_tokens[t],
            "token": trace.predicted_tokens[t],
            "id": decoding.path[t],
            "probability": float(trace.probabilities[t]),
            "alternatives": [
                {"token": token, "id": int(i), "probability": float(p)}
                for token, i, p in zip(trace.top_tokens[t], trace.top_ids[t], trace.top_probabilities[t], strict=True)
            ],
        }
        for t in range(decoding.n_prompt, len(decoding.path))
    ]
    values |= {
        "source_tokens": list(trace.src_tokens or encoding.tokens),
        "unknown": [token for token, unknown in zip(encoding.tokens, encoding.unknown, strict=True) if unknown],
        "finished": decoding.finished,
        "steps": steps,
    }
    if decoding.hypotheses:
        values["hypotheses"] = [
            {
                "text": loaded.target.decode(each.tokens[decoding.n_prompt :]),
                "score": each.score,
                "log_prob": each.log_prob,
            }
            for each in decoding.hypotheses
        ]
    return values


if __name__ == "__main__":
    run_command(main)
