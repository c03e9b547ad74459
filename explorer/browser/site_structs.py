"""The structs of a page that computes its models: what Python tells it when it writes the page (see structs.py)."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.browser.structs import Position, StandaloneView, Words
from explorer.decoding.model_diagram import ModelDiagram
from model.config import AttentionKind


@dataclass(frozen=True)
class SiteFile:
    """A file of a model on the site: its address below the root, its size in bytes, and its hash."""

    address: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class SiteExample:
    """A sentence to try: what to look for, if the translation bears it out, and the word whose step opens.

    `offer` is the word that the hint invites to choose, on offer at `step` (from 1) with the id `token`; "" if none.
    """

    source: str
    hint: str
    word: str
    offer: str = ""
    step: int = 0
    token: int = 0


@dataclass(frozen=True)
class SiteDoubt:
    """What is known about a model's data: whence it stems, the longest source, and how sure the model usually is.

    `most_pieces` is what no word of it exceeds, and `sources` are all its sentences, normalised; 0 and none if unknown.
    Of dates, `spellings` has the templates and `years` the first and the last; `not_a_source` is said of other texts.

    Below `low`, the geometric mean of the likeliest tokens' probabilities is called unusual; `usual` is 0 where no
    threshold was measured.
    """

    data: str
    longest: int
    longest_words: int
    low: float
    usual: float
    letters: bool
    most_pieces: int
    sources: list[str]
    spellings: list[str]
    years: tuple[int, int]
    not_a_source: str


@dataclass(frozen=True)
class GridShape:
    """Layers, and heads per layer."""

    layers: int
    heads: int


@dataclass(frozen=True)
class SiteModel:
    """A model that the page can compute; `limit` is the number of source tokens that it reads.

    `diagram` is the small one, `files` are those of its folder, `rules` those for words by language, `machine` the
    texts of the large diagram; `earlier` are weights of earlier steps of training by their step, in half precision, if
    it was trained for `steps`.
    """

    name: str
    title: str
    trained: bool
    story: str
    facts: list[str]
    limit: int
    shapes: dict[AttentionKind, GridShape]
    diagram: ModelDiagram
    examples: list[SiteExample]
    doubt: SiteDoubt
    files: dict[str, SiteFile]
    rules: dict[str, SiteFile]
    machine: SiteFile
    earlier: dict[str, SiteFile]
    steps: int


@dataclass(frozen=True)
class SiteLanguage:
    """A language of a site: its name in itself, and the file with its texts; `unasked`: a browser's wish is enough."""

    code: str
    name: str
    unasked: bool
    address: str


@dataclass(frozen=True)
class SiteHeader:
    """A page that computes its models: which page it is, the way to the root, what it opens, and its models.

    `root` is "" on the root page and "../" below it; None for a single file, which contains the models. `languages` are
    those to choose from, `examples` is the folder of the recorded examples. `terms` has the glossary by address: the
    term, the plain word, and the explanation. `attention` are the addresses of what the program adds
    when Attention or the tour is opened, `more` when the machine or a cell is, and `lessons` those of the lessons.
    """

    page: str
    pages: list[str]
    root: str | None
    languages: list[SiteLanguage]
    examples: str
    query: dict[str, str]
    terms: dict[str, tuple[str, str, str]]
    models: list[SiteModel]
    attention: list[str]
    more: list[str]
    lessons: list[str]
    words: Words | None


@dataclass(frozen=True)
class RecordingHeader:
    """A recording of a page that stands alone; for each row, `forks` maps tokens to the recordings they lead to."""

    seq: str
    text: str
    detail: str
    step: int
    forks: list[dict[int, int]]


@dataclass(frozen=True)
class StandaloneHeader:
    """A page that stands alone: its views, its recordings, and the place where it opens.

    `terms` has the glossary by address: the term, the plain word, and the explanation.
    """

    views: list[StandaloneView]
    view: StandaloneView
    at: int
    place: Position
    terms: dict[str, tuple[str, str, str]]
    words: Words | None
    recordings: list[RecordingHeader]
