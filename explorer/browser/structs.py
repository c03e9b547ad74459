"""Types of the messages to and from the browser.

The types that the JavaScript is checked against are generated from them (typescript.py).
Layers, heads, steps, rows and columns count from 1 here; head 0 is the mean over the heads of a layer. Only lists of
array indices (`unknown`, `chosen`, spans) count from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from explorer.browser.cell_structs import CellHeader as CellHeader
from explorer.browser.cell_structs import CellMessage as CellMessage
from explorer.browser.cell_structs import CellReport as CellReport
from explorer.browser.machine_structs import MachineStage
from explorer.decoding.coordinates import Place
from explorer.decoding.model_diagram import Block, ModelDiagram
from explorer.decoding.view_options import ViewOptions
from model.config import AttentionKind

StandaloneView = Literal["steps", "heads"]
Formula = Any  # str | list[Formula], which the checkers cannot read in a dataclass; `Formula` in types.d.ts


@dataclass(frozen=True)
class Position(Place):
    """A place in a decoding, and the options of the views of heads; the stepper has no options."""

    options: ViewOptions | None = None


@dataclass(frozen=True)
class Source:
    """The source tokens; `words` has the word of each (-1 for none), `unknown` the indices of those read as <unk>."""

    tokens: list[str]
    words: list[int]
    unknown: list[int]


@dataclass(frozen=True)
class Target:
    """The tokens that the decoder read and predicted, row by row.

    `probabilities` is None if they are unknown. `chosen` lists the rows whose token is not the likeliest, and `by` says
    how such a token was selected. The first `given` rows lead to tokens of the prompt, which the model did not write.
    """

    tokens: list[str]
    words: list[int]
    predicted: list[str]
    predicted_ids: list[int]
    probabilities: list[float] | None
    chosen: list[int]
    by: str
    given: int


@dataclass(frozen=True)
class Alternatives:
    """The likeliest tokens of each row; none where the model was not trained to predict.

    `joined` says which of them continue the word before them; it is empty if unknown.
    """

    tokens: list[list[str]]
    ids: list[list[int]]
    joined: list[list[bool]]
    probabilities: list[list[float]]


@dataclass(frozen=True)
class Heat:
    """The temperatures of the slider, and log Σ p^(1/T) over the vocabulary [row][temperature]."""

    temperatures: list[float]
    log_sums: list[list[float]]


@dataclass(frozen=True)
class Checks:
    """Checks of all heads: largest error of a row's sum, number of nonzero masked cells, number of heads."""

    error: float
    leaks: int
    heads: int


@dataclass(frozen=True)
class Shape:
    """The sizes of one kind of attention; all 0 if the model has none of this kind."""

    layers: int
    heads: int
    queries: int
    keys: int


@dataclass(frozen=True)
class DecodingHeader:
    """A decoding without its weights and masks."""

    model: str
    trained: bool
    edits: list[str]
    source: Source
    target: Target
    alternatives: Alternatives
    heat: Heat | None
    diagram: ModelDiagram | None
    checks: Checks
    shapes: dict[AttentionKind, Shape]
    subwords: bool


@dataclass(frozen=True)
class DecodingMessage:
    """A decoding, or a part of it: each message adds to what the browser holds under `seq`.

    The arrays after it are `<kind>` [layer, head, query, key] and `<kind>.mask` [query, key].
    """

    seq: str
    decoding: DecodingHeader | None


@dataclass(frozen=True)
class ViewMount:
    """The data that a view is mounted with: the decoding, the place to start at, and the server's turn (sync.py).

    `explains`: the page can explain a cell. `compact`: as few controls as possible.
    """

    seq: str
    turn: int
    start: Position
    explains: bool
    compact: bool


@dataclass(frozen=True)
class ViewReport:
    """The place of a view; `wanted` lists the kinds of attention that it needs."""

    seq: str
    turn: int
    place: Position
    wanted: list[AttentionKind]


@dataclass(frozen=True)
class ForkReport:
    """A request to continue with another token: the row of the place's step is to predict `token_id`."""

    seq: str
    place: Position
    token_id: int


@dataclass(frozen=True)
class MachinePicture:
    """A picture of a block's result in the array `numbers`: its offset, rows and columns.

    `rows` are the first numbers of each token's vector, as recorded at the block's result; for the positions, of the
    vectors that are added; for the logits, those of the likeliest tokens. A `map` has the attention weights, mean over
    the heads. A number as large as `scale` has the full colour. `side` says which rows there are: those of the source,
    those of the target by step, one per step, or those of the target at any step.
    """

    kind: Literal["rows", "map"]
    side: Literal["source", "target", "step", "once"]
    scale: float
    at: int
    rows: int
    width: int


@dataclass(frozen=True)
class MachinePart:
    """Title, explanation and formula of a part of a head."""

    title: str
    words: str
    formula: Formula


@dataclass(frozen=True)
class MachineFacts(MachinePart):
    """Title, explanation, formula and sizes of a block. In `shape`, 0 stands for the number of target tokens read."""

    shape: list[int]
    parameters: int
    picture: MachinePicture | None


@dataclass(frozen=True)
class MachineMessage:
    """The data of the machine beside its decoding: its blocks, and the facts about each.

    `stepwise`: each step has rows of its own. `terms` maps each form of a term, in lower case, to the address of its
    explanation. `numbers` is d_model, `vocabulary` the number of target tokens.
    """

    part: Literal["machine"]
    seq: str
    stepwise: bool
    blocks: list[Block]
    facts: dict[str, MachineFacts]
    parts: dict[AttentionKind, dict[str, MachinePart]]
    terms: dict[str, str]
    numbers: int
    vocabulary: int
    stages: list[MachineStage]


@dataclass(frozen=True)
class Opened:
    """The open block, its open head (from 1; 0 = none), and the open part of the block or head, such as `scores`."""

    block: str = ""
    head: int = 0
    part: str = ""


@dataclass(frozen=True)
class MachinePlace(Opened):
    """The machine's open block, head, part and step; `follow`: "target.weights", "source-2.added" (row 2) or ""."""

    step: int = 1
    follow: str = ""


@dataclass(frozen=True)
class MachineMount:
    """The data that the machine is mounted with: the decoding, the place to start at, the server's turn (sync.py)."""

    seq: str
    turn: int
    start: MachinePlace


@dataclass(frozen=True)
class Departure(MachinePlace):
    """A link that was clicked: the page or part of a page that it leads to, and the cell on screen (row, column)."""

    seq: str = ""
    place: Literal["attention", "cell", "positions", "masks", "translate"] = "attention"
    row: int = 1
    column: int = 1


@dataclass(frozen=True)
class PointNumbers:
    """The statistics of a point of an opened block; `side` says to which tokens its rows belong."""

    point: str
    title: str
    shape: list[int]
    parameters: int
    mean: float | None
    deviation: float | None
    side: Literal["source", "target"]


@dataclass(frozen=True)
class CodeFunction:
    """A function of this program: its file, its name, the number of its first line, and its lines."""

    file: str
    name: str
    first: int
    lines: list[str]


@dataclass(frozen=True)
class CodePlace:
    """The place where a point is computed: the index of the function, and the lines."""

    function: int
    marked: list[int]


@dataclass(frozen=True)
class Code:
    """The functions that compute the points of a block, and the place of each point by the last part of its name."""

    functions: list[CodeFunction]
    places: dict[str, CodePlace]


@dataclass(frozen=True)
class MachineDetails:
    """The data of an opened block; `step` is 0 if one run serves all steps.

    `full` is the weight that has the full colour in the maps of heads.
    """

    part: Literal["details"]
    seq: str
    step: int
    opened: Opened
    heads: int
    full: float
    numbers: list[PointNumbers]
    code: Code


@dataclass(frozen=True)
class MachineWords:
    """What the machine shows of a model whatever it reads (machine_model.py), for a browser that computes the rest.

    In the shapes of `machine`, -1 stands for the number of source tokens, and its pictures have no numbers. `points`
    has the operations of each block, `reads` the point that each projection reads, and `code` the code of each block.
    """

    machine: MachineMessage
    points: dict[str, dict[str, PointNumbers]]
    reads: dict[str, str]
    code: dict[str, Code]


@dataclass(frozen=True)
class FrameHeader:
    """The labels of one moment of training in the film."""

    step: int
    rows: list[str]
    columns: list[str]
    predicted: list[str]


@dataclass(frozen=True)
class FilmPlace:
    """A position in the film: the frame counts from 0, layer and head from 1."""

    frame: int
    layer: int
    head: int


@dataclass(frozen=True)
class FilmReport(FilmPlace):
    """The position of the view of a film."""

    seq: str


@dataclass(frozen=True)
class FilmHeader:
    """The film without its weights, and the position to start at."""

    seq: str
    kind: AttentionKind
    layers: int
    heads: int
    place: FilmPlace
    frames: list[FrameHeader]


@dataclass(frozen=True)
class RoleTile:
    """A head with its role; `colour` is that of its frame, -1 without a clear role."""

    name: str
    role: str
    letters: str
    colour: int
    mark: str
    chosen: bool


@dataclass(frozen=True)
class GridRole:
    """A role of some head: its letters, its name, the colour of its frames, and how many heads have it."""

    letters: str
    name: str
    colour: int
    heads: int


@dataclass(frozen=True)
class RoleGridHeader:
    """The heads of one kind in layer and head order; `bins` are the rows and columns of a map.

    `top`: the end of the colour scale, in multiples of uniform attention.
    """

    kind: AttentionKind
    layers: int
    heads: int
    bins: int
    top: float
    tiles: list[RoleTile]


@dataclass(frozen=True)
class RoleGridsHeader:
    """Grids of heads. `choosing`: a click selects or deselects a head; otherwise it opens the head."""

    choosing: bool
    roles: list[GridRole]
    grids: list[RoleGridHeader]


@dataclass(frozen=True)
class GridHead:
    """A head that was clicked."""

    kind: AttentionKind
    layer: int
    head: int


@dataclass(frozen=True)
class Words:
    """The catalogue of a page: its language, its decimal mark, and the translation or forms of each English message."""

    language: str
    decimal: str
    messages: dict[str, str | list[str]]
