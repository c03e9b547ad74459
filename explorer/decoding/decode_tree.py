"""The tree of continuations of one sentence: its own translation, chosen paths, and the hypotheses of beam search."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from explorer.locale.messages import t
from explorer.locale.text import fixed, quoted

if TYPE_CHECKING:
    from explorer.decoding.translator import Translation
    from model.decoding.search import BeamStep

Fate = Literal["shown", "path", "kept", "ended", "pruned"]
MAX_NODES = 600  # more cannot be told apart; the worst of the pruned branches are left out first


@dataclass(frozen=True)
class Line:
    """A whole decoding in the tree: its path of token ids, its name, and the probability of each token if known.

    `hypothesis` says that beam search found it.
    """

    path: tuple[int, ...]
    name: str
    probabilities: tuple[float, ...] = ()
    hypothesis: bool = False


@dataclass(frozen=True)
class Node:
    """One token in the tree, identified by the path of token ids that leads to it; <sos> has the empty path.

    `fate`: on the path on screen; on another whole path; kept by beam search for some steps; ended with <eos>; pruned
    at once. `probability` of the token is from 0 to 1; `total` (in nats) and `score` are known where beam search scored
    the node. `names` are those of the lines that end here, and `hypothesis`
    says that a hypothesis of beam search is one of them. The node is drawn in `row`, at the length of its path.
    """

    path: tuple[int, ...]
    token: str
    fate: Fate
    probability: float | None = None
    total: float | None = None
    score: float | None = None
    names: tuple[str, ...] = ()
    hypothesis: bool = False
    row: int = 0


@dataclass(frozen=True)
class Tree:
    """The nodes, parents before children, and the number of pruned ones left out because the tree is full."""

    nodes: tuple[Node, ...]
    left_out: int = 0

    def __getitem__(self, path: tuple[int, ...]) -> Node:
        return next(node for node in self.nodes if node.path == path)

    def texts(self) -> dict[tuple[int, ...], str]:
        """The tokens from <sos> to each node, separated by spaces."""
        texts: dict[tuple[int, ...], str] = {}
        for node in self.nodes:
            texts[node.path] = f"{texts[node.path[:-1]]} {node.token}".strip() if node.path else ""
        return texts


def tree_of(
    own: Translation,
    current: Translation,
    chosen: Sequence[Translation],
    searched: Translation | None,
    label: Callable[[int], str],
    *,
    pruned: bool = True,
) -> Tree:
    """Build the tree of one sentence from its decodings and, if there was one, its beam search.

    Decodings are the model's own choice, the translation on screen and the paths that the user chose; of a beam search,
    hypotheses and branches are added. `label` and `pruned` are as for :func:`grow`.
    """
    lines = [_line(own, t("the model's own choice")), _line(current, t("on screen"))]
    lines += [
        _line(translation, t("path {number} you chose", number=number))
        for number, translation in enumerate(chosen, start=1)
    ]
    if searched is not None:
        lines += [
            Line(hypothesis.path, t("hypothesis {rank}", rank=rank), hypothesis=True)
            for rank, (_, hypothesis) in enumerate(searched.hypotheses, 1)
        ]
    branches = branches_of(searched.beam, label) if searched is not None else ()
    return grow(lines, branches, label, current_path=current.path, pruned=pruned)


def _line(translation: Translation, name: str) -> Line:
    return Line(translation.path, name, tuple(float(p) for p in translation.trace.probabilities))


def grow(
    lines: Sequence[Line],
    branches: Iterable[Node],
    label: Callable[[int], str],
    *,
    current_path: tuple[int, ...] = (),
    pruned: bool = True,
) -> Tree:
    """Build the tree of some decodings and of a beam search; paths with a common prefix share its nodes.

    `label` gives the text of a token id, `current_path` is that on screen; `pruned` False leaves out pruned branches.
    """
    nodes: dict[tuple[int, ...], Node] = {(): Node((), "<sos>", "shown")}
    for line in lines:
        for end in range(1, len(line.path) + 1):
            path = line.path[:end]
            probability = line.probabilities[end - 1] if end <= len(line.probabilities) else None
            node = nodes.setdefault(path, Node(path, label(path[-1]), "path", probability))
            if end == len(line.path) and line.name not in node.names:
                hypothesis = node.hypothesis or line.hypothesis
                nodes[path] = replace(node, names=(*node.names, line.name), hypothesis=hypothesis)
    candidates = [branch for branch in branches if pruned or branch.fate != "pruned"]
    fitting, left_out = _fitting(candidates, MAX_NODES - len(nodes))
    for branch in fitting:
        old = nodes.get(branch.path)
        if old:
            branch = replace(branch, fate=old.fate, names=old.names, hypothesis=old.hypothesis)
        nodes[branch.path] = branch
    for end in range(1, len(current_path) + 1):
        if current_path[:end] in nodes:
            nodes[current_path[:end]] = replace(nodes[current_path[:end]], fate="shown")
    return Tree(_laid_out(nodes), left_out)


def _fitting(branches: Sequence[Node], room: int) -> tuple[list[Node], int]:
    """Drop the worst pruned branches until the rest fits; the others are kept, since they may be parents."""
    worst_first = sorted((b for b in branches if b.fate == "pruned"), key=lambda b: b.score or 0.0)
    excess = max(0, min(len(worst_first), len(branches) - max(room, 0)))
    left_out = {id(branch) for branch in worst_first[:excess]}
    return [branch for branch in branches if id(branch) not in left_out], excess


def _laid_out(nodes: Mapping[tuple[int, ...], Node]) -> tuple[Node, ...]:
    """Order nodes depth first and set rows: the best child continues its parent's row, the others follow below."""
    children: dict[tuple[int, ...], list[Node]] = defaultdict(list)
    for path, node in nodes.items():
        if path:
            children[path[:-1]].append(node)
    order = {"shown": 0, "path": 1, "ended": 2, "kept": 2, "pruned": 3}
    ordered: list[Node] = []
    rows, stack = 0, [(nodes[()], True)]
    while stack:  # instead of recursion: a path may be longer than Python's recursion limit
        node, first = stack.pop()
        if not first:
            rows += 1
        ordered.append(replace(node, row=rows))
        best_first = sorted(
            children[node.path], key=lambda n: (order[n.fate], -(n.score if n.score is not None else -math.inf))
        )
        stack += [(child, i == 0) for i, child in reversed(list(enumerate(best_first)))]
    return tuple(ordered)


def tree_caption(tree: Tree) -> str:
    """Describe the tree in one or more sentences: its paths and tokens, and the best hypothesis of the beam search."""
    paths = sum(bool(node.names) for node in tree.nodes)
    scores = {node.path: node.score for node in tree.nodes if node.score is not None}
    parts = [
        t(
            "{paths}, {tokens} in all.",
            paths=t("{n} whole path", "{n:,} whole paths", n=paths),
            tokens=t("{n} token", "{n:,} tokens", n=len(tree.nodes) - 1),
        )
    ]
    if scores:
        pruned = sum(node.fate == "pruned" for node in tree.nodes)
        parts.append(
            t(
                "Beam search scored {scored} of them; {dropped} of those shown were dropped at once.",
                scored=len(scores),
                dropped=pruned,
            )
        )
    if ended := [node.path for node in tree.nodes if node.path in scores and _is_end(node)]:
        best = max(ended, key=scores.__getitem__)
        parts.append(
            t(
                "Its best hypothesis is {text} with score {score}.",
                text=quoted(tree.texts()[best]),
                score=fixed(scores[best], 3),
            )
        )
    if tree.left_out:
        parts.append(
            t(
                "Left out for lack of room: the worst {n} dropped branch.",
                "Left out for lack of room: the worst {n:,} dropped branches.",
                n=tree.left_out,
            )
        )
    return " ".join(parts)


def _is_end(node: Node) -> bool:
    return node.fate == "ended" or node.hypothesis


def tree_table(tree: Tree) -> list[dict[str, object]]:
    """One row per node, in the order in which they are drawn; probabilities in percent."""
    texts = tree.texts()
    fates = {
        "shown": t("on screen"),
        "path": t("a whole path"),
        "kept": t("kept"),
        "ended": t("ended"),
        "pruned": t("dropped"),
    }
    return [
        {
            t("step"): len(node.path),
            t("token"): node.token,
            t("after"): texts[node.path[:-1]],
            t("probability (%)"): None if node.probability is None else round(100 * node.probability, 2),
            t("log-probability (nats)"): None if node.total is None else round(node.total, 4),
            t("score"): None if node.score is None else round(node.score, 4),
            t("state"): fates[node.fate],
            t("end of"): ", ".join(node.names),
        }
        for node in tree.nodes[1:]
    ]


_FATES: dict[int, Fate] = {-1: "pruned", -2: "ended"}  # as in model.decoding.search; importing it would load torch


def branches_of(steps: Sequence[BeamStep], label: Callable[[int], str]) -> list[Node]:
    """All branches of the search for one sentence, in the order of the search."""
    paths: dict[int, tuple[int, ...]] = {0: ()}
    branches = []
    for step in steps:
        after = {}
        columns = (step.tokens, step.parents, step.log_probs, step.totals, step.scores, step.slots)
        candidates = zip(*(column[0].tolist() for column in columns), strict=True)
        for token, parent, log_prob, total, score, slot in candidates:
            if not math.isfinite(total):
                continue  # a padding candidate: fewer tokens than candidates could be chosen
            path, fate = (*paths[parent], token), _FATES.get(slot, "kept")
            branches.append(Node(path, label(token), fate, math.exp(log_prob), total, score))
            if fate == "kept":
                after[slot] = path
        paths = after
    return branches
