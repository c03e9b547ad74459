"""The lines of the import and of the tokenizers of imported models that `python -m tests.mutate` breaks."""

from __future__ import annotations

IMPORTED, ROWS, MARIAN, BART, SETTINGS, BYTE_LEVEL, UNIGRAM, CHARSMAP, PUNCTUATION = (
    "model/importing/weights.py",
    "model/importing/vocabulary.py",
    "model/importing/marian.py",
    "model/importing/bart.py",
    "model/importing/settings.py",
    "model/text/bytelevel.py",
    "model/text/unigram.py",
    "model/text/charsmap.py",
    "model/text/punctuation.py",
)
_SAME_AS_TRANSFORMERS = ("tests/model/importing/test_marian.py",)
_SAME_AS_SENTENCEPIECE = ("tests/model/text/test_sentencepiece.py",)
IMPORT_TESTS: dict[str, tuple[str, ...]] = {
    IMPORTED: _SAME_AS_TRANSFORMERS,
    ROWS: _SAME_AS_TRANSFORMERS,
    MARIAN: _SAME_AS_TRANSFORMERS,
    SETTINGS: _SAME_AS_TRANSFORMERS,
    BART: ("tests/model/importing/test_bart.py",),
    BYTE_LEVEL: ("tests/model/text/test_bytelevel.py",),
    UNIGRAM: _SAME_AS_SENTENCEPIECE,
    CHARSMAP: _SAME_AS_SENTENCEPIECE,
    PUNCTUATION: _SAME_AS_SENTENCEPIECE,
}

_ORDER = (
    "return torch.stack((torch.arange(half), half + torch.arange(half)), dim=1).flatten()  # [pair, 2] -> [d_model]"
)
_WEIGHT = 'ledger.set(f"{ours}.weight", weight[order] if writes else weight[:, order])'
_PLACES = 'ledger.set(f"positions_{side}.embedding.weight", places[POSITIONS_OFFSET:])'
_TRIMMED = "self._splitter.post_processor = processors.ByteLevel(add_prefix_space=prefix_space, trim_offsets=True)"
_BIAS = 'ledger.set(f"{ours}.bias", bias[order] if writes and len(bias) == len(order) else bias)'
_SPELT = 'spelt = ["".join(LETTERS[byte] for byte in text.encode()) for text in (piece, " " + piece)]'
_LOGITS_BIAS = 'ledger.set("output.bias", bias.flatten()[list(target.rows)])'
_TAIL = "places += origins[match.end() - tail : match.end()]"

IMPORT_CHANGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    IMPORTED: (
        (_ORDER, "dim=1", "dim=0"),
        (_WEIGHT, "weight[order]", "weight"),
        (_WEIGHT, "weight[:, order]", "weight"),
        (_BIAS, "bias[order]", "bias"),
        ('ledger.set(f"{ours}.{part}", values[order])', "[order]", ""),
        ("return table[torch.tensor(rows)][:, order]", "[:, order]", ""),
    ),
    ROWS: (("special = (pad, start, names[eos], names[unk])", "start", "pad"),),
    MARIAN: (
        (_LOGITS_BIAS, "list(target.rows)", "sorted(target.rows)"),
        (_LOGITS_BIAS, "bias.flatten()", "0 * bias.flatten()"),
    ),
    SETTINGS: (
        ('"embedding_factor": math.sqrt(d_model) if scaled else 1.0,', "math.sqrt(d_model)", "1.0"),
        (
            'ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}',
            '"swish": "silu"',
            '"swish": "gelu"',
        ),
    ),
    BART: (
        (_PLACES, "[POSITIONS_OFFSET:]", "[:-POSITIONS_OFFSET]"),
        ('for side, stack in (("src", "encoder"), ("tgt", "decoder")):', '"src", "encoder"', '"src", "decoder"'),
        ('ledger.set("output.bias", bias.flatten()[list(vocabulary.rows)])', "list(", "sorted("),
        ("first_token=first,", "first,", "0,"),
        (
            'start = integer(config, "decoder_start_token_id", default=eos)',
            '"decoder_start_token_id"',
            '"eos_token_id"',
        ),
    ),
    BYTE_LEVEL: (
        (_TRIMMED, "trim_offsets=True", "trim_offsets=False"),
        ("text = decoder.decode(content, final=after not in self._bytes)", "after not in self._bytes", "True"),
        (_SPELT, '(piece, " " + piece)', "(piece,)"),
    ),
    UNIGRAM: (
        ("if came[end] < 0 or candidate > best[end]:", "candidate > best[end]", "candidate >= best[end]"),
        ("if not (unknown and was_unknown):", "unknown and was_unknown", "False"),
        ("if not single:", "not single", "not longest.get(text[start])"),
    ),
    CHARSMAP: (
        ("after_space = remove_extra", "remove_extra", "False"),
        ("length, value = i + 1 - at, units[node] & 0x7FFFFFFF", "i + 1 - at", "i - at"),
        ("origins.append(starts[at])  # of the text's end", "starts[at]", "starts[at] - 1"),
    ),
    PUNCTUATION: ((_TAIL, " - tail :", " :"), ("end = match.end()", "match.end()", "match.start()")),
}
"""(line, a part of it, the replacement of that part) by file."""
