"""The tree of a beam search and of chosen paths, compared with the search itself and with brute force."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.decode_tree import MAX_NODES, Fate, Line, Node, branches_of, grow, tree_caption, tree_table
from model.config import EOS
from model.decoding.beam import beam_search, hypotheses
from model.decoding.search import ENDED, PRUNED, length_penalty
from tests.model.tables import GARDEN_PATH, A, B, TableModel, beam, random_tables

NAMES = {A: "A", B: "B", EOS: "<eos>"}


def label(i: int) -> str:
    return NAMES.get(i, str(i))


def branch(path: tuple[int, ...], log_prob: float, total: float, score: float, fate: Fate) -> Node:
    return Node(path, label(path[-1]), fate, math.exp(log_prob), total, score)


def searched(model: TableModel, width: int = 2, penalty: str = "none") -> tuple[list, list[Node]]:
    steps = list(beam_search(model.step, model.start(), limit=6, config=beam(width, penalty)))
    return steps, branches_of(steps, label)


def test_the_garden_path_by_hand() -> None:
    _, branches = searched(TableModel([GARDEN_PATH]))
    by_path = {node.path: node for node in branches}
    assert by_path[A,].probability == pytest.approx(0.55)
    assert math.exp(by_path[B, EOS].total) == pytest.approx(0.45 * 0.9)
    assert (by_path[B, EOS].fate, by_path[A, A].fate) == ("ended", "kept")
    tree = grow([Line((B, EOS), "hypothesis 1", (0.45, 0.9), hypothesis=True)], branches, label, current_path=(B, EOS))
    assert tree[()].token == "<sos>"
    assert [tree[path].fate for path in ((B,), (B, EOS), (A,))] == ["shown", "shown", "kept"]
    assert tree[B, EOS].names == ("hypothesis 1",)
    assert "Its best hypothesis is “B <eos>” with score" in tree_caption(tree)
    # A log-probability of 0 is certainty, not a missing score.
    certain, likely = branch((A, EOS), 0.0, 0.0, 0.0, "ended"), branch((B, EOS), -0.1, -0.1, -0.05, "ended")
    kept = [branch((token,), 0.0, 0.0, 0.0, "kept") for token in (A, B)]
    assert "Its best hypothesis is “A <eos>” with score 0.000." in tree_caption(
        grow([], [*kept, likely, certain], label)
    )


@given(random_tables(), st.integers(1, 3), st.sampled_from(["none", "mean", "gnmt"]))
def test_branches_are_all_that_the_search_weighed(model: TableModel, width: int, penalty: str) -> None:
    steps, branches = searched(model, width, penalty)
    table = model.tables[0]
    for node in branches:
        *before, token = node.path
        assert node.probability == pytest.approx(table.get(tuple(before), {EOS: 1.0})[token], rel=1e-4)
        probabilities = [table.get(node.path[:i], {EOS: 1.0})[token] for i, token in enumerate(node.path)]
        assert node.total == pytest.approx(sum(map(math.log, probabilities)), rel=1e-4, abs=1e-5)
        assert node.score == pytest.approx(node.total / length_penalty(penalty, 1.0, len(node.path)), rel=1e-4)
    finite = sum(int(step.totals.isfinite().sum()) for step in steps)
    assert len(branches) == len({node.path for node in branches}) == finite
    assert sum(b.fate == "ended" for b in branches) == sum(int((step.slots == ENDED).sum()) for step in steps)
    dropped = sum(int(((step.slots == PRUNED) & step.totals.isfinite()).sum()) for step in steps)
    assert sum(b.fate == "pruned" for b in branches) == dropped
    ended = {b.path for b in branches if b.fate == "ended"}
    for found in hypotheses(steps, 1, width)[0]:
        assert (found.path in ended) == found.finished


@given(random_tables(), st.integers(1, 3), st.booleans())
def test_every_node_has_its_parent_and_a_place_of_its_own(model: TableModel, width: int, pruned: bool) -> None:
    _, branches = searched(model, width)
    lines = [Line((A, B, A), "fork 1", (0.1, 0.2, 0.3)), Line((B, 9), "fork 2")]
    tree = grow(lines, branches, label, current_path=(A, B, A), pruned=pruned)
    seen: set[tuple[int, ...]] = set()
    for node in tree.nodes:
        assert node.path[:-1] in seen or not node.path
        seen.add(node.path)
    assert seen == {
        path[:i] for path in [b.path for b in branches if pruned or b.fate != "pruned"] for i in range(9)
    } | {line.path[:i] for line in lines for i in range(4)}
    places = [(len(node.path), node.row) for node in tree.nodes]
    assert len(set(places)) == len(places)
    assert {node.row for node in tree.nodes} == set(range(max(node.row for node in tree.nodes) + 1))
    assert all(tree[(A, B, A)[:i]].row == 0 for i in range(4)), "the path on screen is a straight line at the top"
    assert len(tree_table(tree)) == len(tree.nodes) - 1


def test_a_large_tree_loses_its_worst_dropped_branches_and_says_so() -> None:
    kept = [branch((4,) * n, -0.1, -0.1 * n, -0.1 * n, "kept") for n in range(1, 101)]
    dropped = [branch((*(4,) * (i % 100), 5 + i), -1.0, -float(i), -float(i), "pruned") for i in range(900)]
    tree = grow([], [*kept, *dropped], label)
    assert len(tree.nodes) == MAX_NODES
    assert tree.left_out == 1001 - MAX_NODES
    scores = [node.score or 0.0 for node in tree.nodes if node.fate == "pruned"]
    assert sorted(scores) == [-float(i) for i in reversed(range(len(scores)))], "the best are kept"
    assert f"the worst {tree.left_out} dropped branches" in tree_caption(tree)


@pytest.mark.parametrize("length", [0, 2000])
def test_an_empty_path_and_one_longer_than_the_recursion_limit_are_drawn(length: int) -> None:
    tree = grow([Line((4,) * length, "long")], (), label)
    assert len(tree.nodes) == length + 1
    assert {node.row for node in tree.nodes} == {0}
    assert len(tree_table(tree)) == length
