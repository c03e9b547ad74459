"""Language tokens: entries of a vocabulary that say which language a text is in, and which one to translate into."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.importing.source_folder import SPECIAL_TOKENS, TOKENIZER, TOKENIZERS, ImportFailed, SourceFolder
from model.nearest import nearest
from model.wording import Later

_LANGUAGE = re.compile(r"__[a-z]{2,4}(_[A-Za-z]+)?__|[a-z]{2,4}_[A-Z][A-Za-z]{1,3}")  # __de__, de_DE, deu_Latn


@dataclass(frozen=True)
class Languages:
    """The languages of source and target, as the person who imports names them; empty if they are not given."""

    source: str = ""
    target: str = ""


NO_LANGUAGES = Languages()


def read_languages(folder: SourceFolder, first: int, default: Sequence[str] = ()) -> dict[str, int]:
    """The language tokens of a vocabulary with their ids.

    The files of `transformers` give their ids, or list them alone, or neither, as in a family whose list is always the
    `default`: then they have the ids from `first` on.
    """
    settings = folder.optional_json(TOKENIZER)
    ids = _listed(settings, "added_tokens_decoder") | _listed(folder.optional_json(TOKENIZERS), "added_tokens")
    if known := {name: int(i) for name, i in ids.items() if i.isascii() and i.isdecimal()}:
        return known
    files, keys = (
        (folder.optional_json(SPECIAL_TOKENS), settings),
        ("additional_special_tokens", "extra_special_tokens"),
    )
    names = next(filter(None, (_listed(values, key) for values in files for key in keys)), default)
    return {name: first + n for n, name in enumerate(names)}


def _listed(values: Mapping[str, Any], key: str) -> dict[str, str]:
    """The language tokens in a list of tokens, or of entries by id, each with what stands there as its id."""
    entries = values.get(key)
    listed = [("", entry) for entry in entries] if isinstance(entries, list) else []
    by_id = entries.items() if isinstance(entries, dict) else listed
    found = [(e.get("content"), e.get("id", i)) if isinstance(e, dict) else (e, i) for i, e in by_id]
    return {name: str(i) for name, i in found if isinstance(name, str) and _LANGUAGE.fullmatch(name)}


def choose(languages: Languages, tokens: Mapping[str, int], own: Languages) -> Languages:
    """The language tokens of source and target: those asked for, or the model's `own`.

    A language may be named by its token or without the underscores around it.

    Raises:
        ImportFailed: one is needed and not given, or the model has no such language; the message lists some.
    """
    codes, chosen = sorted(token.strip("_") for token in tokens), []
    asked = (languages.source or own.source, "--from", "source"), (languages.target or own.target, "--to", "target")
    for name, option, role in asked:
        if not name:
            raise ImportFailed(
                "choose the {role} language with {option}; the model has {codes}: {some}, …",
                role=Later(role),
                option=option,
                codes=len(codes),
                some=", ".join(codes[:8]),
            )
        token = name if name in tokens else f"__{name}__"
        if token not in tokens:
            raise ImportFailed(
                "the model has no {role} language {name:.40}. {nearest}",
                role=Later(role),
                name=repr(name),
                nearest=nearest(name, codes),
            )
        chosen.append(token)
    return Languages(*chosen)
