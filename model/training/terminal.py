"""Progress reports on the terminal."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

from model.durations import span

_PRINTED = ("loss", "exact_match", "token_accuracy", "bleu", "lr", "tokens_per_s")


class Terminal:
    """A progress bar with remaining time and tokens/s; plain lines where standard error is not a terminal."""

    def __init__(self, max_steps: int, *, live: bool | None = None) -> None:
        self.live = sys.stderr.isatty() if live is None else live
        bar = "{bar:24} {n}/{total}{postfix}"
        self._bar = tqdm(total=max_steps, bar_format=bar, ascii="░█", leave=False, disable=not self.live)

    def tick(self, step: int, left: tuple[float, float] | None, tokens_per_s: float) -> None:
        """Redraw the bar, at most ten times a second; `left` is the range of the remaining seconds, if known."""
        remaining = f"{span(*left)} left, " if left else ""
        self._bar.set_postfix_str(f"{remaining}{tokens_per_s:,.0f} tokens/s", refresh=False)
        self._bar.update(step - self._bar.n)

    def log(self, kind: str, step: int, **values: Any) -> None:
        """Print an evaluation; training lines only if there is no bar."""
        if kind == "train" and self.live:
            return
        numbers = "  ".join(f"{key} {_number(key, values[key])}" for key in _PRINTED if values.get(key) is not None)
        self.say(f"step {step:>6}  {'evaluation  ' if kind != 'train' else ''}{numbers}")

    def say(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        tqdm.write(text, file=sys.stderr)

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


def _number(key: str, value: float) -> str:
    if key == "lr":
        return f"{value:.2e}"
    return f"{value:,.0f}" if key == "tokens_per_s" else f"{value:.1f}" if key == "bleu" else f"{value:.4f}"
