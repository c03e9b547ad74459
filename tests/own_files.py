"""Twenty files of sentence pairs such as people bring, in every format, with what is wrong with them.

`python -m tests.own_files FOLDER [NAME …]` trains a model on each, with nothing but defaults, and prints a table.
`tests/model/data/test_own_files.py` holds what is said of each before it is learned.
"""

import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import openpyxl

from model.data.number_words import number_words
from tests.own_data import Pairs, own_dates, sentence_pairs, word_reversal

LARGE = 50_000


@dataclass(frozen=True)
class OwnFile:
    """One data set: how its files are written, which returns the options of the command, and what is right.

    `finds` are parts of what the check says, a line each; `tokens` are those that are proposed.
    """

    title: str
    write: Callable[[Path], list[str]]
    finds: tuple[str, ...] = ()
    tokens: str = "words"


def _tsv(pairs: Pairs, heading: str = "") -> str:
    return _lines("{}\t{}", pairs, heading)


def _lines(form: str, pairs: Pairs, heading: str = "") -> str:
    return "".join(f"{line}\n" for line in (*filter(None, [heading]), *(form.format(*pair) for pair in pairs)))


def _save(folder: Path, name: str, text: str, encoding: str = "utf-8", *options: str) -> list[str]:
    (folder / name).write_bytes(text.encode(encoding))
    return ["--data", str(folder / name), *options]


_CHINESE = "零一二三四五六七八九"


def _chinese(number: int) -> str:
    hundreds, tens, ones = number // 100, number // 10 % 10, number % 10
    text = f"{_CHINESE[hundreds]}百" if hundreds else ""
    if tens:
        text += f"{_CHINESE[tens]}十"
    elif hundreds and ones:
        text += "零"
    return text + (_CHINESE[ones] if ones else "")


def _roman(number: int) -> str:
    text = ""
    for value, letters in zip(
        (900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    ):
        while number >= value:
            text, number = text + letters, number - value
    return text


def _numbers(write: Callable[[int], str], n: int = 400) -> Pairs:
    return [(write(number), str(number)) for number in random.Random("numbers").sample(range(1, 1000), n)]


def _plurals() -> Pairs:
    """Made-up German nouns on four endings, each with its own plural."""
    rng, plurals = random.Random("plurals"), {"ung": "ungen", "chen": "chen", "el": "el", "heit": "heiten"}
    stems = [f"{a}{b}{c}" for a in ("Schr", "M", "Gr", "Tr", "Str", "B", "F") for b in "aäeioöuü" for c in "lmnrst"]
    pairs = [(stem + end, stem + plurals[end]) for stem in stems for end in plurals]
    return rng.sample(pairs, 600)


def _cyrillic() -> Pairs:
    letters = dict(zip("абвгдезийклмнопрстуф", "abvgdezijklmnoprstuf", strict=True))
    rng = random.Random("cyrillic")
    words: dict[str, None] = {}
    while len(words) < 500:
        words["".join(rng.choice("бвгдзклмнпрстф") + rng.choice("аеиоу") for _ in range(rng.randint(2, 4)))] = None
    return [(word, "".join(letters[letter] for letter in word)) for word in words]


def _strings(n: int) -> Pairs:
    rng = random.Random("strings")
    strings: dict[str, None] = {}
    while len(strings) < n:
        strings["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 12)))] = None
    return [(text, text[::-1]) for text in strings]


def _with(pairs: Pairs, every: int, change: Callable[[str, str], tuple[str, str]]) -> Pairs:
    return [change(*pair) if at % every == 0 else pair for at, pair in enumerate(pairs)]


def _workbook(folder: Path) -> list[str]:
    book = openpyxl.Workbook()
    book.active.append(("In words", "Number"))
    for words, digits in number_words(400):
        book.active.append((words, int(digits)))
    book.save(folder / "numbers.xlsx")
    return ["--data", str(folder / "numbers.xlsx")]


def _memory(folder: Path) -> list[str]:
    units = (
        f'<tu><tuv xml:lang="en"><seg>{escape(source)}</seg></tuv><tuv xml:lang="es"><seg>{escape(target)}</seg></tuv>'
        "</tu>"
        for source, target in sentence_pairs(1000)
    )
    text = f'<?xml version="1.0" encoding="utf-8"?><tmx version="1.4"><header/><body>{"".join(units)}</body></tmx>'
    return _save(folder, "memory.tmx", text, "utf-8", "--source-lang", "en", "--target-lang", "es")


def _catalogue(folder: Path) -> list[str]:
    text = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    for at, (source, target) in enumerate(sentence_pairs(1000)):
        fuzzy, answer = "#, fuzzy\n" if at % 100 == 7 else "", "" if at % 100 == 9 else target
        text += f"{fuzzy}msgid {json.dumps(source)}\nmsgstr {json.dumps(answer, ensure_ascii=False)}\n\n"
    return _save(folder, "es.po", text)


def _two_files(folder: Path) -> list[str]:
    pairs = _with(_numbers(_roman), 100, lambda source, _: (source, ""))
    for name, side in (("roman.txt", 0), ("arabic.txt", 1)):
        text = "\ufeff" + "".join(f"{pair[side]}\r\n" for pair in pairs)
        (folder / name).write_bytes(text.encode("utf-16-be"))
    return ["--source", str(folder / "roman.txt"), "--target", str(folder / "arabic.txt")]


def _two_answers() -> Pairs:
    pairs = number_words(120)
    return [*pairs, *((source, f"{target}0") for source, target in pairs[::2])]


def _long() -> Pairs:
    rng, pairs = random.Random("long"), sentence_pairs(2000)
    joined = [[" ".join(side) for side in zip(*rng.sample(pairs, 3), strict=True)] for _ in range(600)]
    return [(source, target) for source, target in joined] + [("x " * 600, "y " * 600)]


def _moved(source: str, target: str) -> tuple[str, str]:
    return source, f"{target} {target} {target} {target} {target}"


def _garble(source: str, target: str) -> tuple[str, str]:
    return source, f"{target} ¿sí?".encode().decode("windows-1252")


def _leaking(folder: Path) -> list[str]:
    pairs = word_reversal(500)
    _save(folder, "held-out.tsv", _tsv(pairs[:60]))
    return _save(folder, "words.tsv", _tsv(pairs[30:]), "utf-8", "--valid-data", str(folder / "held-out.tsv"))


OWN_FILES = {
    "chinese": OwnFile(
        "400 numbers in Chinese and in digits; TSV, UTF-8, headings",
        lambda folder: _save(folder, "chinese.tsv", _tsv(_numbers(_chinese), "数字\tdigits")),
        tokens="characters",
    ),
    "dates": OwnFile(
        "500 dates, diary to ISO; CSV with semicolons, UTF-8 with its mark",
        lambda folder: _save(folder, "dates.csv", _lines("{};{}", own_dates(500)), "utf-8-sig"),
    ),
    "arrows": OwnFile(
        "300 words backwards; text with arrows, UTF-16 with its mark",
        lambda folder: _save(folder, "words.txt", _lines("{} -> {}", word_reversal(300)), "utf-16"),
        ("1 pair has the same text on both sides.",),
        "characters",
    ),
    "plurals": OwnFile(
        "600 German plurals; CSV, Windows-1252, the heading “Wort,Mehrzahl”",
        lambda folder: _save(
            folder,
            "plurals.csv",
            _lines("{},{}", _plurals(), "Wort,Mehrzahl"),
            "windows-1252",
            "--encoding",
            "windows-1252",
        ),
        ("297 pairs have the same text on both sides.",),
        "characters",
    ),
    "latin-1": OwnFile(
        "1,200 English and Spanish sentences; text with bars, Latin-1",
        lambda folder: _save(
            folder, "spanish.txt", _lines("{} | {}", sentence_pairs(1200)), "latin-1", "--encoding", "latin-1"
        ),
    ),
    "jsonl": OwnFile(
        "2,000 English and Spanish sentences; JSONL",
        lambda folder: _save(
            folder,
            "sentences.jsonl",
            "".join(json.dumps({"en": source, "es": target}) + "\n" for source, target in sentence_pairs(2000)),
        ),
    ),
    "xlsx": OwnFile("400 numbers in words and as numbers; spreadsheet (.xlsx)", _workbook, tokens="characters"),
    "tmx": OwnFile("1,000 English and Spanish sentences; translation memory (.tmx)", _memory),
    "po": OwnFile(
        "1,000 messages, of which 10 fuzzy and 10 untranslated; catalogue (.po)",
        _catalogue,
        ("10 rows cannot be used: marked as fuzzy.", "10 rows cannot be used: an empty side."),
    ),
    "two files": OwnFile(
        "400 Roman numerals; two text files, UTF-16 big-endian, 4 empty lines",
        _two_files,
        ("4 rows cannot be used: an empty side.",),
        "characters",
    ),
    "ten": OwnFile(
        "Ten pairs; TSV",
        lambda folder: _save(folder, "ten.tsv", _tsv(number_words(10))),
        ("10 pairs are far too few",),
        "characters",
    ),
    "doubled": OwnFile(
        "300 numbers, each line twice; TSV",
        lambda folder: _save(folder, "doubled.tsv", _tsv([pair for pair in number_words() for _ in range(2)])),
        ("300 pairs repeat an earlier one. (lines 2, 4,",),
        "characters",
    ),
    "contradictory": OwnFile(
        "120 numbers, half of them with two answers; CSV",
        lambda folder: _save(folder, "two-answers.csv", _lines("{},{}", _two_answers())),
        (
            "60 sources have several answers: at most 120 of 180 pairs",
            "at most 12 can be exactly right",
            "Only 18 pairs are held out",
        ),
        "characters",
    ),
    "long": OwnFile(
        "600 texts of three sentences, one of 1,200 characters; TSV",
        lambda folder: _save(folder, "long.tsv", _tsv(_long())),
        ("1 pair has a side of more than 1,000 characters. (line 601: “",),
    ),
    "scripts": OwnFile(
        "500 Cyrillic words in Latin letters, 25 with a Latin а; TSV",
        lambda folder: _save(
            folder, "cyrillic.tsv", _tsv(_with(_cyrillic(), 20, lambda a, b: (f"{a}та".replace("а", "a"), f"{b}ta")))
        ),
        ("25 pairs have a script that the others do not have",),
        "characters",
    ),
    "untranslated": OwnFile(
        "1,000 sentences, of which 50 are not translated; TSV",
        lambda folder: _save(folder, "half-done.tsv", _tsv(_with(sentence_pairs(1000), 20, lambda a, _: (a, a)))),
        ("50 pairs have the same text on both sides.",),
    ),
    "lengths": OwnFile(
        "1,000 sentences, of which 20 have an answer five times as long; TSV",
        lambda folder: _save(folder, "shifted.tsv", _tsv(_with(sentence_pairs(1000), 50, _moved))),
        ("20 pairs have a target that is far longer or shorter",),
    ),
    "garbled": OwnFile(
        "1,000 sentences, of which 20 were saved in the wrong encoding; TSV",
        lambda folder: _save(folder, "garbled.tsv", _tsv(_with(sentence_pairs(1000), 50, _garble))),
        ("20 pairs have garbled letters, such as Ã¼ for ü",),
    ),
    "leaking": OwnFile(
        "470 words backwards, with 60 others to hold out, of which 30 are among them; TSV",
        _leaking,
        ("2 pairs have the same text", "30 training pairs have the source of a validation pair"),
        "characters",
    ),
    "large": OwnFile(
        f"{LARGE:,} strings backwards; TSV",
        lambda folder: _save(folder, "strings.tsv", _tsv(_strings(LARGE))),
        (" pairs have the same text on both sides. (lines ",),  # the palindromes
        "characters",
    ),
}


def main(folder: Path, *names: str) -> None:
    """Train on each data set, or on those with these names, and print a row of the table for each."""
    from tests.benchmarks.trained import train

    for name in names or OWN_FILES:
        own = OWN_FILES[name]
        place = folder / name.replace(" ", "-")
        place.mkdir(parents=True, exist_ok=True)
        run = train(place, "model", "--task", "files", *own.write(place), "--now")
        scores = run.results["test"] if "test" in run.results else run.results["valid"]
        said = [line for line in run.said.splitlines() if line and not line.startswith(("step", "model finished"))]
        bleu = f", BLEU {scores['bleu']:.1f}" if "bleu" in scores else ""
        print(
            f"| {own.title} | {' '.join(said)} | {100 * scores['exact_match']:.1f} % of {scores['sentences']}{bleu} | "
            f"{run.results['trained_steps']} updates, {run.processor:.0f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
