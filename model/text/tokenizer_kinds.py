"""Build tokenizers of every kind from texts, and write and read a model folder's tokenizer.json."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from model.config import UNTRAINED_TOKENIZERS, DataConfig
from model.nearest import nearest
from model.text.pieces import TokenizerError, check_lang
from model.text.tokenizer import CharacterTokenizer, Tokenizer, WhitespaceTokenizer, WordTokenizer

TOKENIZER_FORMAT_VERSION = 1
_KINDS = ("words", "characters", "whitespace", "subwords", *UNTRAINED_TOKENIZERS)


def _kind(name: str) -> type[Tokenizer]:
    """The class of a kind; those that need a library are imported on use."""
    if name == "subwords":
        from model.text.subwords import SubwordTokenizer

        return SubwordTokenizer
    if name == "sentencepiece":
        from model.text.sentencepiece import SentencePieceTokenizer

        return SentencePieceTokenizer
    if name == "bytelevel":
        from model.text.bytelevel import ByteLevelTokenizer

        return ByteLevelTokenizer
    return {cls.kind: cls for cls in (CharacterTokenizer, WhitespaceTokenizer, WordTokenizer)}[name]


def build_tokenizers(
    config: DataConfig, sources: Iterable[str], targets: Iterable[str], *, joint: bool = False
) -> tuple[Tokenizer, Tokenizer]:
    """Build source and target tokenizer from the training pairs; if `joint`, and of subwords, with one vocabulary."""
    if config.tokenizer == "subwords":
        from model.text.subwords import train_joint

        return train_joint(config, sources, targets)
    train = functools.partial(
        _kind(config.tokenizer).train, lowercase=config.lowercase, min_frequency=config.min_frequency
    )
    if not joint:
        return train(sources, lang=config.src_lang), train(targets, lang=config.tgt_lang)
    return _kind(config.tokenizer).joined(
        train(sources, lang=config.src_lang, min_frequency=1),
        train(targets, lang=config.tgt_lang, min_frequency=1),
        min_frequency=config.min_frequency,
    )


def tokenizer_from_dict(values: Any) -> Tokenizer:
    """Build the tokenizer that a dictionary of JSON values describes.

    Raises:
        TokenizerError: the values do not describe one; the message says where.
    """
    kind = values.get("kind") if isinstance(values, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise TokenizerError(
            "'{kind}' is no kind of tokenizer. {nearest}", kind=kind, nearest=nearest(str(kind), _KINDS)
        )
    return _kind(kind).from_dict(values)


def tokenizers_to_dict(source: Tokenizer, target: Tokenizer) -> dict[str, Any]:
    """The content of a model folder's ``tokenizer.json``; a shared vocabulary is written once."""
    same = target.with_lang(source.lang) == source
    return {
        "format_version": TOKENIZER_FORMAT_VERSION,
        "source": source.to_dict(),
        "target": {"same_as": "source", "lang": target.lang} if same else target.to_dict(),
    }


def tokenizers_from_dict(values: Any) -> tuple[Tokenizer, Tokenizer]:
    """The source and target tokenizer of a model folder's ``tokenizer.json``.

    Raises:
        TokenizerError: the values do not describe two tokenizers; the message says where.
    """
    if not isinstance(values, dict) or not {"format_version", "source", "target"} <= set(values):
        raise TokenizerError("tokenizer.json must hold format_version, source and target; copy the model folder again.")
    if values["format_version"] != TOKENIZER_FORMAT_VERSION:
        raise TokenizerError(
            "tokenizer.json has format version {version}, "
            "this program reads {supported}; update the program or train the model again.",
            version=repr(values["format_version"]),
            supported=TOKENIZER_FORMAT_VERSION,
        )
    source, target = tokenizer_from_dict(values["source"]), values["target"]
    if isinstance(target, dict) and target.get("same_as") == "source":
        lang = target.get("lang", source.lang)
        check_lang(lang)
        return source, source if lang == source.lang else source.with_lang(lang)
    return source, tokenizer_from_dict(target)
