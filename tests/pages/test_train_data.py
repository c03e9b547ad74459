"""What a run on the Train page learns from: a person's own pairs. Processes are stand-ins."""

import os
import re
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer.screens.train.settings import MOST_SHOWN
from model.data.number_words import number_words
from tests.pages.page import as_read, button, choose, press, run, tables, visit, words
from tests.pages.test_train import options

TWENTY = "".join(f"word {n}\tWort {n}\n" for n in range(20))


def upload(at: AppTest, name: str, content: bytes, field: str = "") -> AppTest:
    box = next(each for each in at.get("file_uploader") if each.proto.label.startswith(field))
    box.set_value((name, content, "text/plain"))
    return run(at)


def own_data(rows: str = "") -> AppTest:
    at = visit("train", train_task="files")
    if rows:
        at.text_area(key="train_pasted").set_value(rows)
    return run(at)


# A person's own pairs


def test_own_data_is_shown_before_anything_is_trained(training: Path) -> None:
    at = own_data()
    assert "The pairs stay on the machine that runs Headlight." in words(at)
    limits = [each.proto.max_upload_size_mb for each in at.get("file_uploader")]
    assert max(limits) <= st.get_option("server.maxUploadSize"), "no field promises more than the server accepts"
    rows = f"{TWENTY}only one side\t\n".encode()
    upload(at, "my pairs.tsv", rows)
    assert at.table[0].value.iloc[0].tolist() == ["word 0", "Wort 0"]
    assert "20 of 21 pairs: 18 to learn from, 2 held out to check what was learned. There is no" in words(at)
    assert "1 row cannot be used: an empty side. Line 21: only one side → (empty)." in words(at)
    assert any("20 pairs are far too few to learn a rule from" in each.value for each in at.warning), "by the button"
    assert button(at, "Start training").proto.type == "secondary"
    assert at.text_input(key="train_name").value == "my-pairs", "named after the file"
    choose(at, train_lang_target="de")
    chosen = options(at)
    assert (chosen.task, chosen.target_lang) == ("files", "de")
    assert Path(chosen.data).read_bytes() == rows
    assert os.path.commonpath([chosen.data, training]) == str(training)


@pytest.mark.usefixtures("training")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"hi\t1\nhi\t2\nhi\t3\nhi\t4\nhi\t5\n", "have the source 'hi'"),
    ],
)
def test_data_that_cannot_be_learned_from_get_a_message(content: bytes, sentence: str) -> None:
    at = upload(own_data(), "pairs.tsv", content)
    assert sentence in words(at)
    assert not [element for element in at.button if element.label == "Start training"]


@pytest.mark.usefixtures("training")
def test_pasted_pairs_get_tokens_that_can_spell_them() -> None:
    at = own_data("".join(f"{number} -> {digits}\n" for number, digits in number_words()))
    assert "300 pairs: 240 to learn from, 60 held out to check what was learned. There is" in words(at)
    tokens = at.segmented_control(key="train_files_tokenizer")
    assert tokens.value == "characters"
    assert at.table[0].value.iloc[0].tolist() == ["six hundred forty", "640"], "as it was pasted"
    assert "·h·u·n·d·r·e·d·␣·" in words(at)
    assert "There is no test set: the held-out pairs also choose the best weights." in words(at)
    assert options(at).set == ["tokenizer=characters"]
    assert Path(options(at).data).read_text(encoding="utf-8").startswith("six hundred forty\t640\n")
    assert at.number_input(key="train_files_max_steps").value == 1300, "proposed, so not in the command"
    assert "Fitted to these pairs: Dropout 0.3, Positions RoPE, " in words(at)
    assert "Updates (steps) 1,300 and Highest learning rate 0.008." in words(at)
    assert "Fitted to these pairs" not in words(visit("train"))
    assert "It ends early after 3 evaluations in a row without a mistake." in words(at)
    tokens.set_value("words").run()
    assert not at.exception
    assert "60 of 60 held\\-out answers cannot be spelled with these tokens" in at.warning[0].value
    assert button(at, "Start training").proto.type != "secondary", "300 pairs are enough to begin with"
    assert re.search(r"cannot be spelled with these tokens, which lack “\d+”", as_read(at.warning[0].value))
    assert re.search(r" → ⟨\d+⟩", words(at))
    assert options(at).set == ["tokenizer=words"]


@pytest.mark.usefixtures("training")
def test_tokens_that_fail_by_their_own_test_are_not_proposed() -> None:
    at = own_data(TWENTY)
    assert "Proposed. Single characters, because " in words(at), "another language may begin with a noun"
    assert "It ends early" not in words(at), "that the few held-out pairs are all right may be chance"
    drawn = [getattr(each, "label", "") or str(getattr(each, "value", "")) for each in at.main]
    start = drawn.index("Start training")
    assert "far too few to learn a rule from" in drawn[start + 1], "the button stays in view"
    at = own_data("one -> 1\ntwo -> 2\nsix -> 6\nnine -> 9\n")
    assert "Proposed" not in words(at)
    assert "The only held\\-out answer cannot be spelled with these tokens" in at.warning[0].value


@pytest.mark.usefixtures("training")
def test_both_sides_of_a_long_pair_are_seen_as_letters() -> None:
    at = own_data("".join(f"{'long ' * 20}{n} -> {'lang ' * 20}{n}\n" for n in range(40)))
    choose(at, train_files_tokenizer="characters")
    [samples] = [each.value for each in at.caption if "l·o·n·g" in each.value]
    for sample in samples.splitlines():
        source, target = as_read(sample).split(" → ")
        assert target.startswith("l·a·n·g")
        assert max(len(source), len(target.strip())) <= MOST_SHOWN, "a side fits a line"


@pytest.mark.usefixtures("training")
def test_the_sample_is_long_enough_for_its_score_and_its_file_has_headings_which_can_be_switched() -> None:
    at = press(own_data(), "Fill in a sample")
    assert "600 pairs: 540 to learn from, 60 held out to check what was learned." in words(at)
    assert at.text_area(key="train_pasted").value.count(" -> ") == 600, "as in the example in the empty box"
    at = own_data("words\tdigits\n" + at.text_area(key="train_pasted").value.replace(" -> ", "\t"))
    assert "600 pairs, with the headings “words” and “digits”: 540 to learn from" in words(at)
    assert (at.toggle(key="train_header").value, options(at).header) == (True, "yes")
    choose(at, train_header=False)
    assert "601 pairs: 541 to learn from" in words(at)
    assert tables(at)[0].iloc[0].tolist() == ["1", "words", "digits"], "the heading is found among the pairs"
    assert options(at).header == "no"


@pytest.mark.usefixtures("training")
def test_what_is_held_out_can_be_chosen() -> None:
    at = own_data("".join(f"word {n},Wort {n}\n" for n in range(40)))
    choose(at, train_held_out=0.2)
    assert "40 pairs: 32 to learn from, 8 held out" in words(at)
    assert options(at).valid_share == 0.2
    choose(at, train_held_out="as proposed")
    assert "40 pairs: 36 to learn from, 4 held out" in words(at)
    assert options(at).valid_share is None
    choose(at, train_held_out="a file of your own")
    assert "Choose the file of validation pairs" in words(at)
    upload(at, "valid.csv", b"Word 3,Wort 3\nnew,neu\n", "Validation pairs")
    assert "1 training pair has the source of a validation pair" in words(at)
    assert "41 of 42 pairs: 39 to learn from, 2 held out" in words(at)
    upload(at, "valid.csv", b"old,alt\nnew,neu\n", "Validation pairs")
    assert "42 pairs: 40 to learn from, 2 held out" in words(at)
    assert "training pair has the source" not in words(at)
    assert options(at).valid_data.read_bytes() == b"old,alt\nnew,neu\n"
    assert options(at).valid_share is None


@pytest.mark.usefixtures("training")
def test_the_fields_for_pairs_close_when_pairs_were_read_and_open_when_none_were() -> None:
    def fold(at: AppTest) -> tuple[str, bool]:
        (fold,) = (each.proto for each in at.expander if each.text_area)
        return fold.label, fold.expanded

    at = own_data()
    assert fold(at) == ("Your pairs", True)
    at = own_data(TWENTY)
    assert fold(at) == ("Change the pairs", False)
    at.text_area(key="train_pasted").set_value("no pairs\nat all\n")
    assert fold(run(at)) == ("Your pairs", True)
    assert "These lines are not pairs, such as “no pairs”." in words(at)


@pytest.mark.usefixtures("training")
def test_lines_to_look_at_have_both_answers_and_the_rows_that_cannot_be_used() -> None:
    rows = [f"word {n}\tWort {n}\n" for n in range(120)]
    at = own_data("".join([*rows, "word 4\tanders\n", "only one\t\n", "a\tb\tc\n", f"long\t{'lang ' * 40}\n"]))
    assert [table.iloc[0].tolist() for table in tables(at)] == [
        ["122", "only one → (empty)"],
        ["123", "a → b → c"],
        ["124", "long", ("lang " * 40).strip()],  # far longer than others
        ["word 4", "Wort 4 (line 5)", "anders (line 121)"],
        ["124", "long", ("lang " * 40).strip()],  # and than its source
    ], "each in the whole width"
    labels = [as_read(box.label) for box in at.checkbox]
    assert any(label.endswith("Line 121: “word 4” → “Wort 4” (line 5) or “anders” (line 121).") for label in labels)
    choose(at, train_found_outlying=True)
    assert options(at).leave_out == ["outlying"]
    assert "Lines to look at" not in words(own_data("".join(rows)))


@pytest.mark.usefixtures("training")
def test_what_is_wrong_with_pairs_is_said_and_can_be_left_out() -> None:
    rows = [f"word {n}\tWort {n}\n" for n in range(120)]
    rows += [f"word {n}\tanders {n}\n" for n in range(60)] + rows[100:]
    at = own_data("".join(rows))
    assert at.selectbox(key="train_task").options[0] == "Your own sentence pairs"
    assert "180 of 200 pairs: 161 to learn from, 19 held out" in words(at)
    assert "20 pairs repeat an earlier one." in words(at)
    assert "60 sources have several answers: at most 120 of 180 pairs can be answered as they stand." in words(at)
    assert "held-out pairs, at most" in words(at)
    assert (options(at).keep, options(at).leave_out) == ([], [])
    [lines] = [table for table in tables(at) if table.iloc[0].tolist() == ["181", "word 100", "Wort 100"]]
    assert len(lines) == 20
    choose(at, train_found_duplicates=False)
    assert "200 pairs: " in words(at)
    choose(at, train_found_contradictory=True)
    assert "140 of 200 pairs: " in words(at)
    assert (options(at).keep, options(at).leave_out) == (["duplicates"], ["contradictory"])
    assert "held-out pairs, at most" not in words(at)
    at.text_area(key="train_pasted").set_value(TWENTY)
    run(at)
    assert options(at).leave_out == [], "other pairs begin with the defaults"


@pytest.mark.usefixtures("training")
def test_what_was_found_begins_with_what_cannot_be_used_and_ends_with_advice() -> None:
    rows = [f"word {n} -> Wort {n}\n" for n in range(120)]
    at = own_data("".join([*rows, "<b>one</b> -> eins\n", rows[0], " -> nothing\n"]))
    found = [
        ("markdown", "1 row cannot be used: an empty side. Line 123: (empty) → nothing."),
        ("checkbox", "1 pair repeats an earlier one. Line 122: “word 0” → “Wort 0”."),
        ("markdown", "1 pair has HTML in it, such as <b> or &nbsp;, which the model learns as text."),
    ]
    drawn = [
        (each.type, as_read(each.label if each.type == "checkbox" else each.value))
        for each in at.main
        if each.type in ("markdown", "checkbox")
    ]
    order = [
        next(at for at, (kind, text) in enumerate(drawn) if kind == wanted and sentence in text)
        for wanted, sentence in found
    ]
    assert order == sorted(order)
    (box,) = at.checkbox
    assert box.value, "what is repeated is left out"
    assert "Tick what to leave out" in words(at)
    asked = "The [check of these pairs](#check) asks 1 question:"
    assert any(asked in each.value for each in at.caption), "beside the button that starts"
    assert [each.anchor for each in at.subheader] == ["check"], "where the link leads"
    nothing = words(own_data("".join(rows)))
    assert "Tick what" not in nothing
    assert "check of these pairs" not in nothing, "advice only"


@pytest.mark.usefixtures("training")
def test_files_of_old_encodings_are_read_after_a_question() -> None:
    at = upload(own_data(), "pairs.txt", "".join(f"Mädchen {n} -> fille {n}\n" for n in range(120)).encode("latin-1"))
    [question] = at.radio
    assert question.options[0] == "Mädchen 0 \\-\\> fille 0 (windows-1252)"
    assert "Choose the line that reads correctly." in words(at)
    assert not [element for element in at.button if element.label == "Start training"]
    question.set_value("windows-1252")
    run(at)
    assert "120 pairs: 108 to learn from, 12 held out" in words(at)
    assert options(at).encoding == "windows-1252"
    assert at.table[0].value.iloc[0].tolist() == ["Mädchen 0", "fille 0"]
    upload(at, "pairs.tsv", TWENTY.encode("utf-16"))
    assert "20 pairs: 18 to learn from, 2 held out" in words(at)
    assert options(at).encoding is None
