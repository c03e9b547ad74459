"""JavaScript as the browser gets it: several files as one text, without comments and spare spaces."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

# Spaces around these marks mean nothing in JavaScript, outside of a string (the files keep to these two kinds).
_STRING_OR_PUNCTUATION = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)|[ ]*(?P<mark>[{}()\[\];,:<>=?&|*!]+)[ ]*"""
)


def slim(folder: Path, names: Iterable[str]) -> str:
    """The files in this order. Streamlit sends the text again whenever the data changes, so it is kept small."""
    source = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    lines = (line.strip() for line in source.splitlines())
    code = "\n".join(line for line in lines if line and not line.startswith("//"))
    return _STRING_OR_PUNCTUATION.sub(lambda match: match["string"] or match["mark"], code)
