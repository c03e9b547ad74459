"""A person's own pairs on the Train page: how the file is read, what is held out, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from explorer.byte_cache import cached
from explorer.locale.text import percent, plain, plural, why
from explorer.runs.uploads import LANGUAGES, store
from explorer.screens.train.upload import TABLES, choose_files, upload_megabytes
from explorer.web.figures import draw_table
from model.config import DataConfig
from model.data import DataError
from model.data.files import VALID_FRACTION, Pairs, given_splits, read_pairs, read_parallel, split_pairs
from model.data.proposal import Proposal, propose
from model.data.tables import read_table
from model.data.task import Splits

SHARES = (0.05, 0.1, 0.2, 0.3)
SHOWN = 3  # pairs under "How it is read"
OWN_FILE = "a file of your own"
_HELD_OUT, _HEADER, _READ_FROM = "train_held_out", "train_header", "_train_read_from"


@dataclass(frozen=True)
class _Source:
    """Where pairs are read from, as values that make the key of a cache."""

    paths: tuple[str, ...]
    columns: tuple[str, str] | None = None
    header: bool | None = None


@dataclass(frozen=True)
class _Overview:
    """What the page says of pairs: headings, the first few, how many there are, and what of the file is not used."""

    source_name: str
    target_name: str
    first: tuple[dict[str, str], ...]
    n_pairs: int
    notes: str


@dataclass(frozen=True)
class OwnPairs:
    """Usable pairs: the arguments that name them, what is proposed for them, and the first one."""

    arguments: tuple[str, ...]
    proposal: Proposal
    n_train: int
    n_valid: int


def choose_pairs(checkpoints: Path) -> OwnPairs | None:
    """Draw source, reading and division of the pairs; None while there are none that can be used."""
    paths = choose_files(checkpoints)
    if not paths:
        return None
    try:
        return _read(paths, checkpoints)
    except (DataError, OSError) as unusable:
        st.error(plain(why(unusable)))
        return None


def _read(paths: Sequence[Path], checkpoints: Path) -> OwnPairs:
    source = _Source(tuple(map(str, paths)))
    table = len(paths) == 1
    if table:
        _columns_of(source.paths[0], None)  # a file that cannot be read has no settings
    said, settings = st.container(), st.expander("How it is read", key="train_reading")
    with settings:
        if table:
            source = _columns(source)
        languages = st.columns(2)
        src_lang, tgt_lang = (_language(at, side) for at, side in zip(languages, ("source", "target"), strict=True))
        share, valid = _division(source, checkpoints)
        overview = _overview(source)
        draw_table(list(overview.first), f"The first {plural(len(overview.first), 'pair')}")
    with st.spinner("Looking at the data …"):
        n_train, n_valid = _counts(source, share, valid)
        proposal = _proposal(source, share, valid, src_lang, tgt_lang)
    said.caption(plain(_reading_sentence(source, overview, n_train, n_valid)))
    arguments = _data_arguments(source)
    if valid is not None:
        arguments += ("--valid-data", valid.paths[0])
    elif share != VALID_FRACTION:
        arguments += ("--valid-share", f"{share:g}")
    arguments += ("--source-lang", src_lang, "--target-lang", tgt_lang)
    return OwnPairs(arguments, proposal, n_train, n_valid)


def _reading_sentence(source: _Source, pairs: _Overview, n_train: int, n_valid: int) -> str:
    """What was read, in a sentence or two: pairs, headings, division, and what was left out."""
    headings = f", with the headings “{pairs.source_name}” and “{pairs.target_name}”" if source.header else ""
    return (
        f"{plural(pairs.n_pairs, 'pair')}{headings}: {n_train:,} to learn from, "
        f"{n_valid:,} held out to check what was learned. {pairs.notes}"
    ).strip()


def _columns(source: _Source) -> _Source:
    """Draw the switch for headings and, where there are more than two columns, the choice of them."""
    path = source.paths[0]
    if st.session_state.get(_READ_FROM) != path:  # another file: what was detected there, not what was chosen here
        st.session_state[_READ_FROM] = path
        for key in (_HEADER, "train_col_source", "train_col_target", "train_files_tokenizer"):
            st.session_state.pop(key, None)
    _, detected = _columns_of(path, None)
    header: bool | None = None
    if not path.endswith((".jsonl", ".ndjson")):
        # Set at every run: an interrupted run creates fields that the browser never sees.
        st.session_state[_HEADER] = st.session_state.get(_HEADER, detected)
        header = st.toggle(
            "The first row holds headings",
            key=_HEADER,
            help="Detected from how the first row differs from the others.",
        )
    columns, _ = _columns_of(path, header)
    first = _overview(_Source(source.paths, header=header))
    wanted = (first.source_name, first.target_name)
    if len(columns) > 2:
        parts = st.columns(2)
        chosen = [
            part.selectbox(f"{side.capitalize()} column", columns, index=columns.index(name), key=f"train_col_{side}")
            for part, side, name in zip(parts, ("source", "target"), wanted, strict=True)
        ]
        wanted = (chosen[0] or wanted[0], chosen[1] or wanted[1])
    return _Source(source.paths, wanted, header)


def _language(column: st.delta_generator.DeltaGenerator, side: str) -> str:
    code = column.selectbox(
        f"Language of the {side}",
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key=f"train_lang_{side}",
        persist_state="session",
        help="It decides how text is split into words: an apostrophe often ends a word in French, but not in English.",
    )
    return code or "xx"


def _division(source: _Source, checkpoints: Path) -> tuple[float, _Source | None]:
    """Draw what is held out for validation: a share of the pairs, or a file of one's own."""
    options: list[float | str] = [*SHARES, OWN_FILE] if len(source.paths) == 1 else list(SHARES)
    chosen = st.selectbox(
        "Held out for validation",
        options,
        index=SHARES.index(VALID_FRACTION),
        format_func=lambda choice: choice if isinstance(choice, str) else f"{percent(choice)} of the pairs",
        key=_HELD_OUT,
        help="These pairs are never trained on. Pairs with the same source stay together.",
    )
    if not isinstance(chosen, str):
        return chosen or VALID_FRACTION, None
    file = st.file_uploader(
        "Validation pairs, in a table like the other",
        type=list(TABLES),
        max_upload_size=upload_megabytes(),
        key="train_files_valid",
    )
    if file is None:
        raise DataError("Choose the file of validation pairs, or another share to hold out.")
    return VALID_FRACTION, _Source((str(store(file, checkpoints)),), source.columns, source.header)


def _data_arguments(source: _Source) -> tuple[str, ...]:
    if len(source.paths) == 2:
        return ("--source", source.paths[0], "--target", source.paths[1])
    columns = source.columns or ("1", "2")
    header = () if source.header is None else ("--header", "yes" if source.header else "no")
    return ("--data", source.paths[0], "--source-column", columns[0], "--target-column", columns[1], *header)


# A large file takes many times its size in memory, so that its pairs may be too many to be held. What the page says of
# them is held by itself: the page is then drawn again without reading the file.
@cached
def _columns_of(path: str, header: bool | None) -> tuple[tuple[str, ...], bool]:
    """The columns of a table, and whether its first row holds their names."""
    table = read_table(Path(path), header=header)
    return table.columns, table.has_header


@cached
def _overview(source: _Source) -> _Overview:
    pairs = _pairs(source)
    names = pairs.source_name, pairs.target_name
    first = tuple({names[0]: pair.source, names[1]: pair.target} for pair in pairs.examples[:SHOWN])
    notes = f"{pairs.columns_sentence()} {pairs.skipped_sentence()}".strip()
    return _Overview(*names, first, len(pairs.examples), notes)


@cached
def _counts(source: _Source, share: float, valid: _Source | None) -> tuple[int, int]:
    splits = _splits(source, share, valid)
    return len(splits["train"]), len(splits["valid"])


@cached
def _pairs(source: _Source) -> Pairs:
    paths = [Path(path) for path in source.paths]
    if len(paths) == 2:
        return read_parallel(*paths)
    src, tgt = source.columns or (None, None)
    return read_pairs(paths[0], source_column=src, target_column=tgt, header=source.header)


@cached
def _splits(source: _Source, share: float, valid: _Source | None) -> Splits:
    pairs = _pairs(source)
    return split_pairs(pairs, valid_fraction=share) if valid is None else given_splits(pairs, _pairs(valid))


@cached
def _proposal(source: _Source, share: float, valid: _Source | None, src_lang: str, tgt_lang: str) -> Proposal:
    data = DataConfig(task="files", src_lang=src_lang, tgt_lang=tgt_lang)
    return propose(_splits(source, share, valid), data)
