"""Strange model folders: each field of each file of a good one replaced in turn, its bytes cut, changed and moved.

The order is pseudo-random and always the same, so that a part of it is a fair sample of the whole.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.inputs import paths, replaced

# As JSON text, because some of it is none that Python would write.
VALUES = (
    *("null", "true", "[]", "{}", '""', "0", "-1", "1", "3", "0.5", "-0.0", "1e-320", "1e15", "1e308", "-1e308"),
    *("2147483648", "9223372036854775807", "9223372036854775808", "1" + "0" * 400, "9" * 5000, "1e999"),
    *("NaN", "-Infinity", '"3"', '"abc"', '"\\ud800"', '"\\u202eabc"', '"a\\u0000b"', '"\\u0000"', '"\\n"', '"\xad"'),
    *('"' + "x" * 70_000 + '"', "[" * 3000 + "]" * 3000, "[1, 2]", '[["a"]]', '{"": {}}', '{"a": null}', "[" * 20_000),
    *('"../../x"', '"<script>alert(1)</script>"', '"\U0001f469\u200d\U0001f469"', "[null]", "[{}]", "tru", "1 2"),
)
_MARK = "\ue000strange\ue000"
JSON_FILES = ("config.json", "tokenizer.json", "status.json", "probe.json", "metrics.jsonl")


@dataclass(frozen=True)
class Strange:
    """One file with other content; None: the file is missing. `what` says how it differs, for messages."""

    file: str
    what: str
    content: bytes | None


def strange_files(folder: Path, seed: int = 0) -> list[Strange]:
    """All variants of the files of a good folder, in a pseudo-random order."""
    found: list[Strange] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, content = path.relative_to(folder).as_posix(), path.read_bytes()
        found.append(Strange(name, "missing", None))
        found += _damaged(name, content, random.Random(f"{seed} {name}"))
        if name in JSON_FILES or name.endswith(".json"):
            found += _replaced(name, content)
        if name.endswith(".safetensors"):
            found += _headers(name, content)
    random.Random(seed).shuffle(found)
    return found


def _replaced(name: str, content: bytes) -> Iterator[Strange]:
    """Each part of the JSON replaced by each value, removed, or doubled; of lines, each part of each line."""
    lines = content.splitlines() if name.endswith(".jsonl") else [content]
    for number, line in enumerate(lines):
        value = json.loads(line)
        for way in [(), *paths(value)]:
            where = ".".join(map(str, (number, *way) if len(lines) > 1 else way)) or "the whole"
            marked = json.dumps(replaced(value, way, _MARK), ensure_ascii=False)
            for new in VALUES:
                text = marked.replace(f'"{_MARK}"', new)
                # Python writes lone surrogates as escapes only; the values have no others.
                yield Strange(name, f"{where} = {new[:40]}", b"\n".join(_put(lines, number, text.encode())))
            if way:
                removed = replaced(value, way, None, remove=True)
                text = json.dumps(removed, ensure_ascii=False)
                yield Strange(name, f"without {where}", b"\n".join(_put(lines, number, text.encode())))
        if isinstance(value, dict):
            text = json.dumps(value | {"surprise\u202e": [_MARK]}, ensure_ascii=False)
            yield Strange(name, "with an unknown key", b"\n".join(_put(lines, number, text.encode())))


def _put(lines: list[bytes], number: int, new: bytes) -> list[bytes]:
    return [*lines[:number], new, *lines[number + 1 :]]


def _damaged(name: str, content: bytes, chance: random.Random) -> Iterator[Strange]:
    """Cut, changed, repeated and foreign bytes."""
    whole = len(content)
    for at in sorted({0, 1, whole // 2, max(0, whole - 1), *(chance.randrange(whole + 1) for _ in range(4))}):
        yield Strange(name, f"cut at {at}", content[:at])
    for _ in range(12):
        at, length = chance.randrange(whole + 1), chance.randrange(1, 9)
        yield Strange(name, f"bytes at {at}", content[:at] + chance.randbytes(length) + content[at + length :])
        yield Strange(name, f"more at {at}", content[:at] + chance.randbytes(length) + content[at:])
        yield Strange(name, f"fewer at {at}", content[:at] + content[at + length :])
    for start in (b"\xef\xbb\xbf", b"\xff\xfe", b"\0" * 16, b"PK\x03\x04", b"\x80\x04", b"\x1f\x8b", b" \n"):
        yield Strange(name, f"begins with {start!r}", start + content)
    for text in (b"", b"\0", b"null", b"[]", b"{}", b"\xff" * 40, b"#" * 5000, "\u202e".encode(), b"\r\n" * 50):
        yield Strange(name, f"is {text[:12]!r}", text)


def _headers(name: str, content: bytes) -> Iterator[Strange]:
    """Weights whose header says something else; the numbers stay."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    some = {key: header[key] for key in [*sorted(header)[:2], *sorted(header)[-1:]]}
    for way in paths(some):
        marked = json.dumps(replaced(header, way, _MARK))
        for new in VALUES:
            text = marked.replace(json.dumps(_MARK), new).encode("utf-8", "replace")
            yield Strange(name, f"header: {'.'.join(map(str, way))} = {new[:40]}", _framed(text, content[8 + length :]))
        removed = json.dumps(replaced(header, way, None, remove=True)).encode()
        yield Strange(name, f"header without {'.'.join(map(str, way))}", _framed(removed, content[8 + length :]))
    for claimed in (0, 1, length - 1, length + 1, 2**31, 2**63, 2**64 - 1):
        yield Strange(name, f"header of {claimed} bytes", claimed.to_bytes(8, "little") + content[8:])


def _framed(header: bytes, numbers: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header + numbers
