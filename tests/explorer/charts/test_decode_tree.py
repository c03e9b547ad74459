"""The figure of the tree shows the tree: every node once, at the table's position, with an edge to its parent."""

from explorer.charts.decode_tree import LOOKS, hover, tree_figure
from explorer.decoding.decode_tree import Line, Node, grow

NAMES = {4: "<b>je</b>", 5: "lis", 6: "</script>", 2: "<eos>"}
BRANCHES = (
    Node((4,), NAMES[4], "kept", 0.9, -0.1, -0.1),
    Node((6,), NAMES[6], "pruned", 0.08, -2.5, -2.5),
    Node((4, 5), NAMES[5], "kept", 0.8, -0.3, -0.15),
    Node((4, 5, 2), NAMES[2], "ended", 0.9, -0.4, -0.13),
)


def tree():
    return grow([Line((4, 6, 2), "path 1", (0.9, 0.1, 1.0))], BRANCHES, NAMES.__getitem__, current_path=(4, 5, 2))


def test_every_node_is_drawn_once_in_its_place_and_joined_to_its_parent() -> None:
    drawn, edges, nodes = {}, 0, tree().nodes
    places = {(len(node.path), node.row): node for node in nodes}
    for trace in tree_figure(tree()).data:
        for index, x, y in zip(trace.customdata or (), trace.x, trace.y, strict=False):
            drawn[index] = (x, y, trace.name)
        for i in range(0, len(trace.x) if trace.mode == "lines" else 0, 4):
            parent, child = places[trace.x[i], trace.y[i]], places[trace.x[i + 2], trace.y[i + 2]]
            assert child.path[:-1] == parent.path
            edges += 1
    assert sorted(drawn) == list(range(len(nodes)))
    assert edges == len(nodes) - 1
    for index, node in enumerate(nodes):
        assert drawn[index] == (len(node.path), node.row, LOOKS[node.fate][0])
    assert len(tree_figure(grow([], (), str)).data) == 2, "a bare root is drawn"


def test_tokens_are_text_and_fates_have_marks_of_their_own() -> None:
    figure = tree_figure(tree())
    texts = [text for trace in figure.data for text in trace.text or ()]
    assert "&lt;b&gt;je&lt;/b&gt;" in texts
    assert not any("<" in text for text in texts)
    assert "&lt;/script&gt;" in hover(tree()[6,])
    assert "score -2.500" in hover(tree()[6,])
    assert len({look[1] for look in LOOKS.values()}) == len(LOOKS), "no two fates share a symbol"
