"""Texts that the page which computes shares with the app: options and changes in addresses, doubts, and hashes."""

import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from explorer.browser.payload import header
from explorer.decoding import domain
from explorer.decoding.head_change import fitting, from_link, to_link
from explorer.decoding.translator import Translator
from explorer.decoding.view_options import format_view, parse_view
from explorer.files.live_site import live_model
from explorer.locale.scripts import is_leftwards, letters_of, places
from model.checkpoint import load_model
from model.config import ATTENTION_KINDS, DecodeConfig
from model.data import get_task
from tests.paths import CHECKPOINTS, ROOT
from tests.some import some

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None and os.environ.get("CI") != "true", reason="no Node.js is installed")

VIEWS = (
    "", "heads", "head", "lines.words.next.mass-60.h-1-3", "text.log.cividis.steps", "head.max.beside.grey",
    "heads.by-diagonal.role-mixed.most-15", "lines.h-0-0-2-1000-x", "nonsense.by-nobody.role-.most-0.mass-5",
    "lines.mass-100.mass-999", "heads.by-place.most-a", "heads.most-150",
    "head.ltr.rtl.by-keys",
)  # fmt: skip
CHANGES = (
    "cross.1.1.zero", "cross.1.1.zero~cross.1.1.uniform", "encoder.2.1.row.3.0-500-500~encoder.2.1.row.3.1-0",
    "encoder.2.1.row.3.0-500~encoder.2.1.row.1.9-1~decoder.1.1.zero", "encoder.1.1.zero~encoder.1.1.row.1.1000",
    "cross.9.1.zero", "cross.1.9.zero", "cross.0.1.zero", "nobody.1.1.zero", "cross.1.1.explode", "cross.1.1.row.1.0-0",
    "cross.1.1.row.0.1", "cross.1.1", "~~", "cross.1.1.row.1.1-x", "cross.1.1.row.2",
    "cross.1.1.mean~cross.1.2.pattern.R8O8dGUg4oCTIPCfmYI~cross.1.2.output.YT8-Pw", "cross.1.1.pattern",
    "cross.1.1.mean.2", "cross.1.1.output.!!", "cross.1.1.output._w", "cross.1.1.output.IA",
    "cross.1.1.zero~cross.1.1.output.YQ",
    "encoder.0.0.position.3.5~encoder.0.0.position.3.2~encoder.1.1.position.4.1", "cross.0.0.position.1.2",
    "decoder.0.0.position.0.2", "decoder.0.0.position.2~decoder.0.0.position.2.1~decoder.1.1.row.1.5",
)  # fmt: skip
# Tokens, their words, and whether they run from right to left.
SCRIPTS: tuple[tuple[list[str], list[int], bool], ...] = (
    (["שלום", "world"], [0, 1], True),
    (["New", "York", "שלום"], [0, 1, 2], False),
    (["<sos>", "3", "?", "مرحبا"], [-1, 0, 1, 2], True),
    ([">>heb<<", "אני"], [-1, 0], True),
    (["U+200F", "ܫܠܡܐ"], [0, 1], True),
    (["𞤀𞤣", "a"], [0, 1], True),
    (["图书馆", "👩‍👩‍👧", "e\u0301", "🇩🇪", "🇫🇷", "👍🏽", "שָׁ"], [0, 1, 2, 3, 4, 5, 6], False),
    (["1", "<eos>"], [0, -1], False),
)
# A sentence, whether it runs from right to left, and its words from the left: as the library python-bidi orders them.
MIXED = (
    ("שלום עולם", True, "10"),
    ("I love New York", False, "0123"),
    ("אני אוהב את New York", True, "34210"),
    ("אני אוהב את New York מאוד", True, "534210"),
    ("I said שלום עולם to him", False, "013245"),
    ("שלום 10 20", True, "210"),
    ("New York 10 שלום", True, "3012"),
    ("I paid 10 ש 20 now", False, "012435"),
    ("see مرحبا 10 20 ok", False, "03214"),
    ("الساعة 10 : 30 الآن", True, "43210"),
    ("مرحبا ١٢ ١٣ word", True, "3210"),
    ("word ١٢ ١٣ word", False, "0213"),
    ("word ١٢ word ۱۲", False, "0123"),
    ("אני ( New York ) פה", True, "542310"),
    ("שלום ( New York ) USA", True, "542310"),
    ("USA ( שלום New ) York", False, "012345"),
    ("a ( ב ) ג", False, "01234"),
    ("a ( ב ] ג ) b", False, "0143256"),
    ("( שלום ) a", False, "0123"),
    ("[ ( א b ) ] c", True, "6543210"),
    ("? שלום", True, "10"),
    ("New York .", True, "201"),
    ("שלום , world !", False, "0123"),
    (". , -", True, "210"),
    ("<sos> שלום world <eos>", True, "3210"),
    ("he said א , ב . then", False, "0143256"),
    ("3 שלום a", True, "210"),
    ("1 א 2 a 3 ב 4", False, "0213465"),
    ("x = א + 1 ;", False, "014325"),
    ("الولد قرأ Harry Potter 2 أمس", True, "523410"),
    ("图书馆 שלום 学生 עולם", False, "0123"),
)
SENTENCES = {
    "multi30k-en-de": (
        "A dog runs.",
        "Quantum chromodynamics violates parity",
        "日本 dog",
        "the " * 60,
        "Antidisestablishmentarianism",
        "I missed the train.",
        "The committee will consider the proposal next week.",
    ),
    "reverse-decoder": ("attention", "ATTENTION 7", "a" * 25),
    "adjective-swap": ("I read red books", "We discuss green zebras", "red books read I"),
    "dates": (
        *("friday, 05.11.1999", "Sun the 3rd of Mar, 2024", "September 12th, 1950", "2049-12-31", "22ND OCTOBER, 1987"),
        *("fri, 04.11.1999", "29.02.2023", "March the 11st, 2019", "3 March 2050", "1-2-3-1999", "3 Mars 2024"),
    ),
}


def answers(jobs: list[dict[str, Any]]) -> list[Any]:
    assert NODE is not None, "Node.js is needed to check the JavaScript"
    command = [NODE, ROOT / "tests/js/text_runner.js"]
    done = subprocess.run(command, input=json.dumps(jobs, default=vars), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


def test_views_in_an_address() -> None:
    found = answers([{"do": "view", "text": text} for text in VIEWS])
    for text, (options, written) in zip(VIEWS, found, strict=True):
        expected = parse_view(text)
        assert options == {**dataclasses.asdict(expected), "heads": list(expected.heads)}, text
        again = format_view(expected)
        assert written == ("" if again == "heads" else again), text


def test_scripts() -> None:
    found = answers([{"do": "script", "tokens": tokens, "words": words} for tokens, words, _ in SCRIPTS])
    for (tokens, words, leftwards), (runs_left, letters) in zip(SCRIPTS, found, strict=True):
        assert runs_left == is_leftwards(tokens, words) == leftwards, tokens
        assert letters == letters_of("".join(tokens))


def test_words_of_two_scripts() -> None:
    found = answers([{"do": "places", "tokens": text.split(), "leftwards": leftwards} for text, leftwards, _ in MIXED])
    for (text, leftwards, order), there in zip(MIXED, found, strict=True):
        here = places(text.split(), leftwards)
        assert there == here, text
        assert [*map(int, order)] == sorted(range(len(order)), key=here.__getitem__ if here else None), text


def test_changes_in_an_address() -> None:
    config = load_model(CHECKPOINTS / "reverse").model_config
    shapes = {kind: {"layers": config.n_layers(kind), "heads": config.n_heads(kind)} for kind in ATTENTION_KINDS}
    found = answers([{"do": "changes", "text": text, "shapes": shapes} for text in CHANGES])
    for text, (written, problems, edits) in zip(CHANGES, found, strict=True):
        changes, malformed = from_link(text)
        fit, unfit = fitting(changes, config)
        assert written == to_link(fit), text
        assert problems == len(malformed) + len(unfit), text
        assert [(edit["kind"], edit["layer"], edit["head"]) for edit in edits] == [change.place for change in fit]
        assert [edit.get("row") for edit in edits] == [c.row - 1 if c.row else None for c in fit]


@pytest.mark.parametrize("name", some(SENTENCES, 2))
def test_the_page_doubts_what_the_app_doubts(name: str) -> None:
    translator, card = Translator(load_model(CHECKPOINTS / name)), live_model(CHECKPOINTS / name).card
    jobs, wanted = [], []
    for text in SENTENCES[name]:
        own = translator.translate(text, DecodeConfig())
        unknown = [token for token, unseen in zip(own.source.tokens, own.source.unknown, strict=True) if unseen]
        source = {"length": len(own.source), "unknown": unknown}
        jobs.append({"do": "doubt", "card": card, "decoding": header(own), "source": source, "text": text})
        doubts = domain.doubts(own, get_task(translator.loaded.data_config.task))
        wanted.append(" ".join(doubts).replace("\u202f", " "))
    assert [doubt.replace("\u202f", " ") for doubt in answers(jobs)] == wanted
    assert 0 < sum(map(bool, wanted)) < len(wanted)


def test_hashes() -> None:
    lengths = (0, 1, 55, 56, 63, 64, 65, 119, 128, 5000)
    found = answers([{"do": "hash", "length": length} for length in lengths])
    assert found == [hashlib.sha256(bytes(i % 251 for i in range(length))).hexdigest() for length in lengths]
