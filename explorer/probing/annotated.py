"""Read sentence pairs whose words people have aligned, from files in the formats of the field.

Pharaoh: three files of equally many lines: source, target, and pairs of words counted from 0 ("0-0 1-2"; "1?2" is a
possible link). NAACL (Mihalcea & Pedersen 2003, the workshops WPT 2003 and 2005): sentences as `<s snum=1> … </s>`, and
a line for each link: sentence, source word and target word, counted from 1, then S (sure) or P (possible).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from explorer.locale.messages import Later, later
from explorer.probing.sample import SampleError, is_alignment

_SENTENCE = re.compile(r"<s\s+snum\s*=\s*[\"']?0*(\d{1,9})[\"']?\s*>(.*?)</s>", re.DOTALL)
_LINK = re.compile(r"0*(\d{1,9})\s+(\d{1,4})\s+(\d{1,4})(?:\s+([SP]))?(?:\s+[\d.]+)?")


def annotated_lines(source: bytes, target: bytes, links: bytes) -> tuple[str, ...]:
    """Read the contents of three files as lines of an own list: source, target and links, separated by tabs.

    The format is recognised by the sentences: NAACL's are marked, Pharaoh's are bare lines.

    Raises:
        SampleError: a file is not text, or they do not belong together; the message says where.
    """
    texts = [
        _text(source, later("The file of the source is not text in UTF-8.")),
        _text(target, later("The file of the target is not text in UTF-8.")),
        _text(links, later("The file of the links is not text in UTF-8.")),
    ]
    if _SENTENCE.search(texts[0]):
        return _naacl(*texts)
    return _pharaoh(*([line.strip() for line in text.strip("\n").split("\n")] for text in texts))


def in_order(files: Mapping[str, bytes], source_lang: str, target_lang: str) -> tuple[bytes, bytes, bytes]:
    """Tell source, target and links apart: the links by their content, the others by names such as test.en and test.de.

    Raises:
        SampleError: there are not three files, or they cannot be told apart.
    """
    links = [name for name, content in files.items() if _has_links(content)]
    sides = [[name for name in files if re.search(rf"\b{lang}$", name)] for lang in (source_lang, target_lang)]
    if len(files) != 3 or [len(names) for names in (*sides, links)] != [1, 1, 1]:
        raise SampleError(
            "An annotated set is three files: the source, with a name that ends in .{source_lang}, the target, in "
            ".{target_lang}, and the links between their words (0-0 1-2, or 1 1 1 S).",
            source_lang=source_lang,
            target_lang=target_lang,
        )
    source, target, link = (files[names[0]] for names in (*sides, links))
    return source, target, link


def _has_links(content: bytes) -> bool:
    first = next((line for line in content.decode("utf-8-sig", errors="replace").split("\n") if line.strip()), "")
    return is_alignment(first) or bool(_LINK.fullmatch(first.strip()))


def _text(content: bytes, refusal: Later) -> str:
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\t", " ")
    except UnicodeDecodeError:
        raise SampleError(refusal) from None


def _pharaoh(sources: list[str], targets: list[str], links: list[str]) -> tuple[str, ...]:
    if not len(sources) == len(targets) == len(links):
        raise SampleError(
            "The files do not belong together: {sources} lines of source, {targets} of target and {links} of links.",
            sources=len(sources),
            targets=len(targets),
            links=len(links),
        )
    for number, line in enumerate(links, start=1):
        if line and not is_alignment(line):
            raise SampleError("Line {number} of the links is not a list of pairs such as 0-0 1-2.", number=number)
    return tuple(_joined(*line) for line in zip(sources, targets, links, strict=True) if line[0] and line[1])


def _naacl(source: str, target: str, links: str) -> tuple[str, ...]:
    sources, targets = (
        {number: " ".join(words.split()) for number, words in _SENTENCE.findall(text)} for text in (source, target)
    )
    pairs: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(links.split("\n"), start=1):
        if not line.strip():
            continue
        match = _LINK.fullmatch(line.strip())
        if match is None:
            raise SampleError(
                "Line {number} of the links is not a sentence and two words, such as 1 2 3 S.", number=number
            )
        sentence, source_word, target_word, sign = match.groups()
        if int(source_word) and int(target_word):  # word 0 stands for no word
            pairs[sentence].append(f"{int(source_word) - 1}{'?' if sign == 'P' else '-'}{int(target_word) - 1}")
    if not sources.keys() & targets.keys():
        raise SampleError("The source and the target have no sentence with the same number.")
    return tuple(
        _joined(text, targets[number], " ".join(pairs[number]))
        for number, text in sources.items()
        if text and targets.get(number)
    )


def _joined(source: str, target: str, links: str) -> str:
    return f"{source}\t{target}\t{links}" if links else f"{source}\t{target}"
