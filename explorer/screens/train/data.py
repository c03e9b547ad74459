"""The data part of the Train page: a built-in task, with samples, or the user's own pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import streamlit as st

from explorer.decoding.examples import FILES
from explorer.locale.messages import message, t, translated
from explorer.locale.text import percent, plain, why
from explorer.runs.own_pairs import Reading, Source, columns_of, divide, overview
from explorer.runs.settings import TOKENS, Changes, described
from explorer.runs.uploads import LANGUAGES, store
from explorer.screens.train.findings import chosen, draw_findings, forget_choices
from explorer.web.downloads import megabytes
from explorer.web.figures import draw_table
from explorer.web.runs import choose_one
from model.config import DataConfig
from model.data import MADE_HERE, TASKS, DataError, get_task
from model.data.checks import LITTLE_SHOWN, MOST_PROPOSED, SHARES, Finding
from model.data.files import MAX_VALID, VALID_FRACTION
from model.data.number_words import SAMPLE_PAIRS, number_words
from model.data.proposal import Proposal, TokenKind
from model.data.tables import ENDINGS, pasted_table
from model.data.task import MissingCorpusError
from model.data.text_files import MAX_BYTES, EncodingError
from model.presets import Preset

SHOWN = 5  # sample pairs on the page
_PREFERRED = "reverse"
PROPOSED, OWN_FILE = message("as proposed"), message("a file of your own")
TABLES = tuple(ending.removeprefix(".") for ending in ENDINGS)
TABLE, TWO = "one table", "two text files"
MAX_PASTED = 1_000_000  # characters; more has to be a file
_HEADER, _READ_FROM, _PASTED, _ENCODING = "train_header", "_train_read_from", "train_pasted", "train_encoding"
_SHAPE, _ONE, _TWO = "train_shape", "train_files_one", "train_files_two"


class Unanswered(DataError):
    """A question about the data that the user has not answered yet: nothing is wrong with them."""


@dataclass(frozen=True)
class Data:
    """The data of a run: task, data settings, default preset, further arguments, and a suggested name.

    The user's own data also have a proposal and, once chosen, the kind of tokens as settings, and what the check found;
    `few` is the sentence on pairs that are too few to learn a rule from.
    """

    task: str
    data: DataConfig
    default_preset: str
    arguments: tuple[str, ...] = ()
    wanted_name: str = ""
    proposal: Proposal | None = None
    tokens: Changes = ()
    few: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def questions(self) -> int:
        """The number of findings that can be left out or kept."""
        return sum(finding.choice is not None for finding in self.findings)

    @property
    def kind(self) -> TokenKind | None:
        """What was found out about the chosen kind of tokens of own data."""
        return self.proposal.of(dict(self.tokens)["tokenizer"]) if self.proposal and self.tokens else None

    def fitted(self, preset: Preset) -> list[str]:
        """The settings other than those of its tokens that are proposed for own data, each with its value."""
        settings = {} if self.proposal is None else self.proposal.settings(preset)
        return [described(name, value) for name, value in settings.items() if name not in TOKENS]

    def adapted(self, preset: Preset) -> Preset:
        """The preset, with the settings proposed for own data."""
        return preset if self.proposal is None else self.proposal.adapted(preset)


def choose_data(checkpoints: Path) -> Data | None:
    """Draw the choice of data; return None while no usable data are chosen."""
    names = [FILES, *TASKS]
    st.session_state.setdefault("train_task", _PREFERRED)
    task = st.selectbox(
        t("Data"),
        names,
        format_func=lambda name: t("Your own sentence pairs") if name == FILES else translated(_title(name)),
        key="train_task",
        persist_state="session",
        help=t("What the model learns. Each task has its own training, validation and test sentences."),
    )
    if task == FILES:
        return _own_pairs(checkpoints)
    own = partial(st.session_state.update, train_task=FILES)
    st.button(t("Bring your own sentence pairs"), icon=":material/upload_file:", on_click=own)
    return _built_in(task or _PREFERRED)


@st.cache_resource(max_entries=64, show_spinner=False)
def _title(name: str) -> str:
    return get_task(name).title


def _built_in(name: str) -> Data:
    task = get_task(name)
    st.caption(plain(translated(task.description)))
    failed = f"_train_fetch_failed_{name}"
    fetching = bool(st.session_state.pop(f"train_fetch_{name}", False))
    try:
        _draw_samples(name, fetch=fetching)
        st.session_state.pop(failed, None)
    except DataError as missing:
        if isinstance(missing, MissingCorpusError):
            st.caption(
                t(
                    "These sentences do not come with Headlight, and are not on this machine yet (nor in a folder that "
                    "HEADLIGHT_DATA names). Starting the training downloads them, too."
                )
            )
        else:
            st.session_state[failed] = str(missing)
        if failure := st.session_state.get(failed):  # kept, because the page runs again when the estimate arrives
            st.warning(plain(failure))
        if name not in MADE_HERE:
            label = t("Try again") if failure else t("Download and show some")
            if st.button(label, key=f"train_fetch_button_{name}"):
                st.session_state[f"train_fetch_{name}"] = True
                st.rerun()
    return Data(name, task.data, task.default_preset, wanted_name=name)


def _draw_samples(name: str, *, fetch: bool) -> None:
    with st.spinner(t("Reading the sentences …")):
        pairs, counts = _samples(name, _fetch=fetch)
    rows = [{t("source"): source, t("target"): target} for source, target in pairs]
    alt = t("{n} training pair", "{n} training pairs", n=len(rows))
    draw_table(rows, alt, wrap=True)
    sentence = t(
        "{drawn} of {n} training pair; {valid:,} more for validation, and {test:,} for the test at the end.",
        "{drawn} of {n:,} training pairs; {valid:,} more for validation, and {test:,} for the test at the end.",
        n=counts["train"],
        drawn=len(rows),
        valid=counts["valid"],
        test=counts["test"],
    )
    st.caption(sentence)


@st.cache_resource(max_entries=16, show_spinner=False)
def _samples(name: str, _fetch: bool) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """A few training pairs from all parts of the data, and the number of examples in each split."""
    splits = get_task(name, fetch=_fetch).splits
    train = splits["train"]
    chosen = [train[(2 * i + 1) * len(train) // (2 * SHOWN)] for i in range(min(SHOWN, len(train)))]
    return [(example.source, example.target) for example in chosen], {
        split: len(examples) for split, examples in splits.items()
    }


def _own_pairs(checkpoints: Path) -> Data | None:
    """Draw the choice of files, columns and held-out pairs; return None while there are no usable pairs."""
    box = st.container()  # drawn last: it closes when the pairs have been read
    data = None
    try:
        paths = tuple(store(*file, checkpoints) for file in _given())
        if paths:
            data = _read(paths, checkpoints)
        else:
            privacy = t(
                "The pairs stay on the machine that runs Headlight. A small model can learn from a few hundred of them."
            )
            st.caption(privacy)
    except Unanswered as question:
        st.info(plain(str(question)))
    except (DataError, OSError) as unusable:
        st.error(plain(why(unusable)))
    with box:
        _choose_files(closed=data is not None)
    return data


def _read(paths: Sequence[Path], checkpoints: Path) -> Data:
    source = Source(tuple(map(str, paths)))
    if st.session_state.get(_READ_FROM) != source.paths:
        # Other files: start from what is detected in them, not from earlier choices.
        st.session_state[_READ_FROM] = source.paths
        for key in (_HEADER, _ENCODING, "train_col_source", "train_col_target", "train_files_tokenizer"):
            st.session_state.pop(key, None)
        forget_choices()
    table = len(paths) == 1
    source = _choose_encoding(source)
    if table:
        columns_of(source.paths[0], None, source.encoding)  # a file that cannot be read has no settings
    summary, held_out, found = st.container(), st.container(), st.container()
    settings = st.expander(t("How it is read"), key="train_reading")
    with settings:
        if table:
            source = _choose_columns(source)
        src_lang = _language(t("Language of the source"), "train_lang_source")
        tgt_lang = _language(t("Language of the target"), "train_lang_target")
        keep, leave_out = chosen()
        with held_out:
            reading = _choose_division(source, checkpoints)
        reading = replace(
            reading,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            keep=keep,
            leave_out=leave_out,
        )
        pairs = overview(source)
    with st.spinner(t("Looking at the data …")):
        division = divide(reading)
    with summary:
        st.caption(plain(division.sentence(source, pairs)))
        first = [{t("source"): pair.source, t("target"): pair.target} for pair in pairs.first]
        draw_table(first, t("The first {n} pair", "The first {n} pairs", n=len(first)), wrap=True)
    findings = tuple(finding for finding in division.findings if finding.kind != "few")
    with found:
        draw_findings(findings)
    proposal = division.proposal
    wanted = paths[0].name.partition(".")[0]
    few = next((finding.sentence for finding in division.findings if finding.kind == "few"), "")
    return Data(
        FILES,
        proposal.data,
        "tiny",
        reading.arguments(),
        wanted_name=wanted,
        proposal=proposal,
        few=few,
        findings=findings,
    )


def _choose_encoding(source: Source) -> Source:
    """Draw the question for the encoding of files that are not UTF-8, with a sample for each answer."""
    try:
        if len(source.paths) == 1:
            columns_of(source.paths[0], None)
        else:
            overview(source)
    except EncodingError as unknown:
        samples = dict(unknown.samples)
        chosen = st.radio(
            t("The file is not UTF-8. Which of these is how it should read?"),
            list(samples),
            format_func=lambda name: f"{plain(samples[name])} ({name})",
            index=None,
            key=_ENCODING,
            persist_state="session",
        )
        if chosen is None:
            raise Unanswered(t("Choose the line that reads correctly.")) from unknown
        return replace(source, encoding=chosen)
    return source


def _choose_columns(source: Source) -> Source:
    """Draw the switch for headings and, for more than two columns, the choice of columns."""
    path = source.paths[0]
    _, detected = columns_of(path, None, source.encoding)
    header: bool | None = None
    if not path.endswith((".json", ".jsonl", ".ndjson", ".tmx", ".po")):
        # Set at every run: an interrupted run creates fields that the browser never sees.
        st.session_state[_HEADER] = st.session_state.get(_HEADER, detected)
        header = st.toggle(
            t("The first row holds headings"),
            key=_HEADER,
            help=t("Detected by comparing the first row with the others."),
        )
    columns, _ = columns_of(path, header, source.encoding)
    pairs = overview(replace(source, header=header))
    source_name, target_name = pairs.source_name, pairs.target_name
    if len(columns) > 2:
        left, right = st.columns(2)
        at = columns.index
        source_name = left.selectbox(t("Source column"), columns, index=at(source_name), key="train_col_source")
        target_name = right.selectbox(t("Target column"), columns, index=at(target_name), key="train_col_target")
    chosen = (source_name or pairs.source_name, target_name or pairs.target_name)
    return replace(source, columns=chosen, header=header)


def _language(label: str, key: str) -> str:
    code = st.selectbox(
        label,
        list(LANGUAGES),
        format_func=lambda code: translated(LANGUAGES[code]),
        key=key,
        persist_state="session",
        help=t(
            "It determines how text is split into words: an apostrophe often ends a word in French, but not in English."
        ),
    )
    return code or "xx"


def _choose_division(source: Source, checkpoints: Path) -> Reading:
    """Draw the choice of validation pairs: a share of the pairs, or a separate file."""
    options: list[float | str] = [PROPOSED, *SHARES, *([OWN_FILE] if len(source.paths) == 1 else [])]
    chosen = st.selectbox(
        t("Held out for validation"),
        options,
        format_func=lambda choice: (
            translated(choice) if isinstance(choice, str) else t("{share} of the pairs", share=percent(choice))
        ),
        key="train_held_out",
        help=t(
            "These pairs are never trained on. Pairs with the same source stay together. Proposed: {share} of the "
            "pairs, or {least} where that is at most {most} of them. Of very many pairs, {limit:,} are held out.",
            share=percent(VALID_FRACTION),
            least=LITTLE_SHOWN,
            most=percent(MOST_PROPOSED),
            limit=MAX_VALID,
        ),
    )
    if chosen != OWN_FILE:
        return Reading(source, chosen if isinstance(chosen, float) else None)
    file = st.file_uploader(
        t("Validation pairs, in a table like the other"),
        type=list(TABLES),
        max_upload_size=upload_megabytes(),
        key="train_files_valid",
    )
    if file is None:
        raise Unanswered(t("Choose the file of validation pairs, or another share to hold out."))
    return Reading(source, valid=replace(source, paths=(str(store(file.name, file.getvalue(), checkpoints)),)))


def upload_megabytes() -> int:
    """The largest file of pairs that can be uploaded here."""
    return megabytes(MAX_BYTES // 2**20)


def _given() -> Sequence[tuple[str, bytes]]:
    """The names and contents of the files that were chosen: one table, uploaded or else pasted, or two texts."""
    state = st.session_state
    if state.get(_SHAPE) == TWO:
        files = state.get(_TWO) or []
        return [(file.name, file.getvalue()) for file in files[:2]] if len(files) > 1 else []
    if (file := state.get(_ONE)) is not None:
        return [(file.name, file.getvalue())]
    text = state.get(_PASTED) or ""
    if text.strip():
        pasted = pasted_table(text)
        return [(f"my-pairs{pasted.ending}", pasted.text.encode(errors="replace"))]
    return []


def _choose_files(*, closed: bool) -> None:
    """Draw the fields for files and pasted pairs, in a fold that is closed once pairs have been read."""
    with st.expander(t("Change the pairs") if closed else t("Your pairs"), expanded=not closed):
        names = {TABLE: t("paste, or one table"), TWO: t("two text files")}
        label = t("Where the pairs come from")
        shape = choose_one(label, list(names), key=_SHAPE, format_func=names.__getitem__)
        if shape == TWO:
            st.file_uploader(
                t("Two text files, line by line: the source first"),
                accept_multiple_files=True,
                max_upload_size=upload_megabytes(),
                key=_TWO,
            )
        else:
            _one_table()


def _one_table() -> None:
    """Draw the file upload and the box to paste into; an uploaded file takes precedence."""
    file = st.file_uploader(
        t("A table, spreadsheet, translation memory or message catalogue"),
        type=list(TABLES),
        max_upload_size=upload_megabytes(),
        key=_ONE,
    )
    if file is not None:
        return
    st.text_area(
        t("Or paste pairs, one on each line"),
        key=_PASTED,
        persist_state="session",
        height=150,
        max_chars=MAX_PASTED,
        placeholder="twenty one -> 21\nforty -> 40",
        help=t(
            "First the source, then a tab, a comma or an arrow, then the target. Two columns copied from a spreadsheet "
            "are separated by a tab."
        ),
    )
    st.button(t("Fill in a sample"), on_click=_fill_in_sample)


def _fill_in_sample() -> None:
    st.session_state[_PASTED] = "\n".join(f"{words} -> {digits}" for words, digits in number_words(SAMPLE_PAIRS))
