"""A person's own pairs on the Train page: where they come from, how they are read and divided, and their tokens."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model.data.number_words import number_words
from model.train import parser
from tests.pages.train_page import button, command, opened, stand_ins, words


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with stand_ins(tmp_path, monkeypatch) as folder:
        yield folder


@pytest.fixture
def app(checkpoints: Path) -> AppTest:
    return opened()


def test_own_data_is_shown_before_anything_is_trained(app: AppTest, checkpoints: Path) -> None:
    at = app.run()
    at.selectbox(key="train_task").set_value("files").run()
    assert not at.exception
    assert "Nothing leaves this machine." in words(at)
    rows = "".join(f"word {n}\tWort {n}\n" for n in range(20)) + "only one side\t\n"
    at.get("file_uploader")[0].set_value(("my pairs.tsv", rows.encode(), "text/tab-separated-values")).run()
    assert not at.exception
    assert at.dataframe[0].value.iloc[0].tolist() == ["word 0", "Wort 0"]
    assert (
        "20 pairs: 18 to learn from, 2 held out to check what was learned. 1 row left out: an empty side (line 21)."
        in words(at)
    )
    at.selectbox(key="train_lang_target").set_value("de").run()
    options = parser().parse_args(command(at)[3:])
    assert (options.task, options.target_lang) == ("files", "de")
    assert Path(options.data).read_bytes() == rows.encode()
    assert os.path.commonpath([options.data, checkpoints]) == str(checkpoints)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"a\n", "only one column"), (b"\xff\xfea\x00", "UTF-16"), (b"", "is empty"), (b"a\tb\n\xe9\t\n", "is not UTF-8")],
)
def test_a_malformed_file_gets_a_message(app: AppTest, content: bytes, sentence: str) -> None:
    at = app.run()
    at.selectbox(key="train_task").set_value("files").run()
    at.get("file_uploader")[0].set_value(("pairs.tsv", content, "text/plain")).run()
    assert not at.exception
    assert sentence in words(at)
    assert not [element for element in at.button if element.label == "Start training"]


def own_data(at: AppTest, rows: str) -> AppTest:
    at.run()
    at.selectbox(key="train_task").set_value("files").run()
    return at.text_area(key="train_pasted").set_value(rows).run()


def validation_file(at: AppTest):  # type: ignore[no-untyped-def]
    return next(item for item in at.get("file_uploader") if item.proto.label.startswith("Validation pairs"))


def test_pasted_pairs_get_tokens_that_can_spell_them(app: AppTest) -> None:
    at = own_data(app, "".join(f"{words} -> {digits}\n" for words, digits in number_words()))
    assert not at.exception
    assert "300 pairs: 270 to learn from, 30 held out to check what was learned." in words(at)
    tokens = at.segmented_control(key="train_files_tokenizer")
    assert tokens.value == "characters"
    assert "100 % of the validation answers hold a word that no training answer has" in words(at)
    cut = at.dataframe[1].value.iloc[0].tolist()
    assert "·␣·" in cut[0]
    assert "·" in cut[1]
    options = parser().parse_args(command(at)[3:])
    assert options.set == ["tokenizer=characters"]
    assert Path(options.data).read_text(encoding="utf-8").startswith("six hundred forty\t640\n")
    assert at.number_input(key="train_files_tiny_max_steps").value == 1300, "proposed, so not in the command"
    tokens.set_value("words").run()
    assert not at.exception
    assert "100 % of the validation answers cannot be spelled with these tokens" in at.warning[0].value
    assert "⟨" in at.dataframe[1].value.iloc[0].tolist()[1]
    assert parser().parse_args(command(at)[3:]).set == ["tokenizer=words"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("My numbers\n{tsv}", "20 pairs: 18 to learn from, 2 held out to check what was learned. 1 row left out:"),
        ("{quoted}", "20 pairs: 18 to learn from"),
        ("{json}", "20 pairs: 18 to learn from"),
        ("{numbered}", "The sources are column '2', the targets '3'; not read: 1."),
    ],
)
def test_other_shapes_of_pasted_pairs(app: AppTest, text: str, said: str) -> None:
    pairs = [(f"word, {n}", f"Wort {n}") for n in range(20)]
    shapes = {
        "tsv": "\n".join(f"{source}\t{target}" for source, target in pairs),
        "quoted": "\n".join(f'"{source}","{target}"' for source, target in pairs),
        "json": "\n".join(json.dumps({"source": source, "target": target}) for source, target in pairs),
        "numbered": "\n".join(f"{n}\t{source}\t{target}" for n, (source, target) in enumerate(pairs)),
    }
    at = own_data(app, text.format(**shapes))
    assert not at.exception
    assert said in words(at)
    assert at.dataframe[0].value.iloc[0].tolist() == ["word, 0", "Wort 0"]


def test_the_sample_has_headings_which_can_be_switched(app: AppTest) -> None:
    at = own_data(app, "")
    button(at, "Fill in a sample").click().run()
    assert "300 pairs, with the headings “words” and “digits”: 270 to learn from" in words(at)
    assert at.toggle(key="train_header").value is True
    assert "--header yes" in " ".join(command(at))
    at.toggle(key="train_header").set_value(False).run()
    assert not at.exception
    assert "301 pairs: 271 to learn from" in words(at)
    assert at.dataframe[0].value.iloc[0].tolist() == ["words", "digits"]
    assert "--header no" in " ".join(command(at))


def test_what_is_held_out_can_be_chosen(app: AppTest) -> None:
    at = own_data(app, "".join(f"word {n},Wort {n}\n" for n in range(40)))
    at.selectbox(key="train_held_out").set_value(0.2).run()
    assert "40 pairs: 32 to learn from, 8 held out" in words(at)
    assert parser().parse_args(command(at)[3:]).valid_share == 0.2
    at.selectbox(key="train_held_out").set_value("a file of your own").run()
    assert "Choose the file of validation pairs" in words(at)
    validation_file(at).set_value(("valid.csv", b"Word 3,Wort 3\nnew,neu\n", "text/csv")).run()
    assert not at.exception
    assert "1 of the 2 validation sources is among the training pairs, too" in words(at)
    validation_file(at).set_value(("valid.csv", b"old,alt\nnew,neu\n", "text/csv")).run()
    assert "40 pairs: 40 to learn from, 2 held out" in words(at)
    options = parser().parse_args(command(at)[3:])
    assert options.valid_data.read_bytes() == b"old,alt\nnew,neu\n"
    assert options.valid_share is None


def test_equal_sources_are_refused(app: AppTest) -> None:
    at = own_data(app, "".join(f"hi -> {n}\n" for n in range(30)))
    assert not at.exception
    assert "all 30 pairs have the source 'hi'" in words(at)
    assert not [element for element in at.button if element.label == "Start training"]


def test_no_field_promises_more_than_the_server_accepts(app: AppTest) -> None:
    at = own_data(app, "")
    assert at.get("file_uploader")[0].proto.max_upload_size_mb <= st.get_option("server.maxUploadSize")
