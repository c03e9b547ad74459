"""The tree of all ways on from one sentence: its own translation, chosen paths, and what beam search considered."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from explorer.translation.beam_candidates import Branch

Fate = Literal["shown", "path", "kept", "ended", "pruned"]
MAX_NODES = 600  # more cannot be told apart; the worst of the dropped branches go first


@dataclass(frozen=True)
class Line:
    """A whole decoding to put into the tree: its path, what it is called, and each token's probability if known."""

    path: tuple[int, ...]
    name: str
    probabilities: tuple[float, ...] = ()


@dataclass(frozen=True)
class Node:
    """One token at one place of the tree; `path` leads to it, <sos> being the empty path, and names it.

    `fate`: on the path that is shown; on another whole path; kept by beam search for a while; ended there with <eos>;
    pruned at once. `probability` of the token from 0 to 1, `total` in nats and `score` where beam search scored it.
    `names` are the lines that end here. `row` and the length of the path are where it is drawn.
    """

    path: tuple[int, ...]
    token: str
    fate: Fate
    probability: float | None = None
    total: float | None = None
    score: float | None = None
    names: tuple[str, ...] = ()
    row: int = 0


@dataclass(frozen=True)
class Tree:
    """The nodes, parents before children, and how many pruned ones were left out for want of room."""

    nodes: tuple[Node, ...]
    left_out: int = 0

    def __getitem__(self, path: tuple[int, ...]) -> Node:
        return next(node for node in self.nodes if node.path == path)

    def texts(self) -> dict[tuple[int, ...], str]:
        """The tokens from <sos> to each node, apart by spaces."""
        found: dict[tuple[int, ...], str] = {}
        for node in self.nodes:
            found[node.path] = f"{found[node.path[:-1]]} {node.token}".strip() if node.path else ""
        return found


def grow(
    lines: Sequence[Line],
    branches: Iterable[Branch],
    label: Callable[[int], str],
    *,
    shown: tuple[int, ...] = (),
    pruned: bool = True,
) -> Tree:
    """The tree of some decodings and of a beam search; paths that begin alike share their nodes.

    `label` gives a token's text, `shown` is the path on screen, `pruned` False leaves dropped branches out.
    """
    nodes: dict[tuple[int, ...], Node] = {(): Node((), "<sos>", "shown")}
    for line in lines:
        for end in range(1, len(line.path) + 1):
            path = line.path[:end]
            known = line.probabilities[end - 1] if end <= len(line.probabilities) else None
            node = nodes.setdefault(path, Node(path, label(path[-1]), "path", known))
            if end == len(line.path) and line.name not in node.names:
                nodes[path] = replace(node, names=(*node.names, line.name))
    wanted = [branch for branch in branches if pruned or branch.fate != "pruned"]
    chosen, left_out = _that_fit(wanted, MAX_NODES - len(nodes))
    for branch in chosen:
        old = nodes.get(branch.path)
        node = old or Node(branch.path, label(branch.path[-1]), branch.fate)
        nodes[branch.path] = replace(
            node, probability=math.exp(branch.log_prob), total=branch.total, score=branch.score
        )
    for end in range(1, len(shown) + 1):
        if shown[:end] in nodes:
            nodes[shown[:end]] = replace(nodes[shown[:end]], fate="shown")
    return Tree(_laid_out(nodes), left_out)


def _that_fit(branches: Sequence[Branch], room: int) -> tuple[list[Branch], int]:
    """The branches without the worst of the pruned ones, if there are too many; the rest is needed as parents."""
    dropped = sorted((b for b in branches if b.fate == "pruned"), key=lambda b: b.score)
    excess = max(0, min(len(dropped), len(branches) - max(room, 0)))
    out = {id(branch) for branch in dropped[:excess]}
    return [branch for branch in branches if id(branch) not in out], excess


def _laid_out(nodes: Mapping[tuple[int, ...], Node]) -> tuple[Node, ...]:
    """Nodes depth first, each with its row: a node goes on in its own row with its best child, the others below."""
    children: dict[tuple[int, ...], list[Node]] = defaultdict(list)
    for path, node in nodes.items():
        if path:
            children[path[:-1]].append(node)
    order = {"shown": 0, "path": 1, "ended": 2, "kept": 2, "pruned": 3}
    found: list[Node] = []
    rows, waiting = 0, [(nodes[()], True)]
    while waiting:  # an explicit stack: a path may be longer than Python's recursion is deep
        node, first = waiting.pop()
        if not first:
            rows += 1
        found.append(replace(node, row=rows))
        best_first = sorted(
            children[node.path], key=lambda n: (order[n.fate], -(n.score if n.score is not None else -math.inf))
        )
        waiting += [(child, i == 0) for i, child in reversed(list(enumerate(best_first)))]
    return tuple(found)


def tree_words(tree: Tree) -> str:
    """The tree in a sentence or two: how many paths and hypotheses, and the best of them."""
    ends = [node for node in tree.nodes if node.names]
    scored = [node for node in tree.nodes if node.score is not None]
    texts = tree.texts()
    parts = [f"{len(ends)} whole path{'s' if len(ends) != 1 else ''}, {len(tree.nodes) - 1} tokens in all."]
    ended = [node for node in scored if node.score is not None and node.path in texts and _is_end(node, tree)]
    if scored:
        pruned = sum(node.fate == "pruned" for node in tree.nodes)
        parts.append(f"Beam search scored {len(scored)} of them; {pruned} of those shown were dropped at once.")
    if ended:
        best = max(ended, key=lambda node: node.score or -math.inf)
        parts.append(f"Its best hypothesis is “{texts[best.path]}” with score {best.score:.3f}.")
    if tree.left_out:
        parts.append(f"{tree.left_out} of the worst dropped branches are left out for want of room.")
    return " ".join(parts)


def _is_end(node: Node, tree: Tree) -> bool:
    return node.fate == "ended" or any(name.startswith("hypothesis") for name in node.names)


def tree_table(tree: Tree) -> list[dict[str, object]]:
    """A row a node, in the order of the drawing; probabilities in percent."""
    texts = tree.texts()
    fates = {"shown": "on screen", "path": "a whole path", "kept": "kept", "ended": "ended", "pruned": "dropped"}
    return [
        {
            "step": len(node.path),
            "token": node.token,
            "after": texts[node.path[:-1]],
            "probability (%)": None if node.probability is None else round(100 * node.probability, 2),
            "log-probability (nats)": None if node.total is None else round(node.total, 4),
            "score": None if node.score is None else round(node.score, 4),
            "state": fates[node.fate],
            "end of": ", ".join(node.names),
        }
        for node in tree.nodes[1:]
    ]
