"""The panel of the decoding tree: forks and beam hypotheses of a sentence. Choosing a node opens its attention."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from explorer.charts.decode_tree import tree_figure
from explorer.decoding.decode_tree import Node, Tree, tree_caption, tree_of, tree_table
from explorer.decoding.selection import Selection
from explorer.decoding.translator import InputError, Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import runtime, session
from explorer.web.changes_in_force import NoMeans, edit_of_translation
from explorer.web.figures import CONFIG, draw_table
from explorer.web.panel_choices import Choices
from model.config import DecodeConfig
from model.edits import EditError
from model.folder import CheckpointError

_SEEN = "_tree_seen"
_BEAM = 4


def draw(selection: Selection, translation: Translation) -> None:
    """Draw the tree as a figure and a table; choosing a node moves the session to it."""
    st.markdown(f"##### {t('Which continuations did it not choose?')}")
    config = session.decode_config()
    left, right = st.columns(2)
    choices = Choices("tree")
    for key, option in (("tree_beam", "beam"), ("tree_pruned", "dropped")):
        choices.start(key, option, (True, False), True)
    about = t("Beam search extends several translations at once.")
    beam = left.toggle(t("What beam search considers"), key="tree_beam", help=about)
    pruned = right.toggle(t("Show dropped branches"), key="tree_pruned", disabled=not beam)
    choices.keep()
    try:
        tree = _tree(selection, translation, config, beam=beam, pruned=pruned)
    except (InputError, EditError, NoMeans, CheckpointError) as without:
        st.info(plain(str(without)))
        return
    words, rows = tree_caption(tree), tree_table(tree)
    with st.container(key="wide_tree"):
        figure = st.plotly_chart(
            tree_figure(tree),
            key=f"tree_chart_{translation.seq}",
            width="stretch",
            config=CONFIG,
            on_select="rerun",
            selection_mode="points",
        )
    st.caption(plain(f"{words} {t('Choose a node, in the figure or in the table, to see its attention.')}"))
    table = draw_table(
        rows,
        words,
        file="tree",
        key=f"tree_table_{translation.seq}",
        on_select="rerun",
        selection_mode="single-row",
        height=min(35 * (len(rows) + 1) + 3, 320),
    )
    point, row = _chosen("chart", figure, "points"), _chosen("table", table, "rows")
    index = point if point is not None else None if row is None else row + 1  # the table omits the root
    if index is not None and 0 <= index < len(tree.nodes):
        _open(tree.nodes[index], translation)


def _tree(selection: Selection, translation: Translation, config: DecodeConfig, *, beam: bool, pruned: bool) -> Tree:
    """The tree of this sentence; with `beam`, it includes what beam search considers."""
    model, text = selection.model, selection.text
    edit = edit_of_translation(selection, translation)
    own = runtime.translate(model, text, config, edit=edit)
    chosen = [runtime.translate(model, text, DecodeConfig(), fork.path or (), edit) for fork in session.forks()]
    searched = own if beam else None
    if beam and config.method != "beam":
        searched = runtime.translate(model, text, replace(config, method="beam", beam_size=_BEAM), edit=edit)
    return tree_of(own, translation, chosen, searched, runtime.describe(model).target.label, pruned=pruned)


def _chosen(key: str, state: Any, what: str) -> int | None:
    """The index just chosen in a figure or table; None if this choice has already been handled.

    The browser may report any value as chosen.
    """
    chosen = state.get("selection") if state else None
    values = chosen.get(what) if chosen else None
    first = values[0] if isinstance(values, list) and values else None
    if isinstance(first, dict):
        first = first.get("customdata")
    if isinstance(first, (list, tuple)):
        first = first[0] if first else None
    index = first if type(first) is int else None
    seen = st.session_state.setdefault(_SEEN, {})
    if seen.get(key) == index:
        return None
    seen[key] = index
    return index


def _open(node: Node, translation: Translation) -> None:
    """Go to a node's step, and to the node's path if that is not the one on screen."""
    step = max(len(node.path), 1)
    if node.path == translation.path[: len(node.path)]:
        session.move(step=step, cell=None)
    else:
        session.move(path=node.path, step=step, cell=None)  # a selected cell would pin the step
    st.rerun()
