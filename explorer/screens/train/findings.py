"""What the check of a person's own pairs found: what cannot be used, what can be left out, and lines to look at."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer.locale.messages import t
from explorer.locale.text import capitalised, plain, quoted, shortened
from explorer.web.figures import draw_table
from model.config import PairFault
from model.data.checks import CHOICES, LEFT_OUT, Finding
from model.data.files import name_lines

_SIDE = 40  # characters of each side of the first pair
_UNUSED = ("unusable", "leaking")  # kinds of findings whose pairs are not trained on in any case


def _key(fault: PairFault) -> str:
    return f"train_found_{fault}"


def forget_choices() -> None:
    """Return to the default choices, for another file."""
    for fault in CHOICES:
        st.session_state.pop(_key(fault), None)


def chosen() -> tuple[tuple[PairFault, ...], tuple[PairFault, ...]]:
    """What to keep and what to leave out, where that is not the default."""
    chosen = {fault: st.session_state.get(_key(fault)) for fault in CHOICES}
    keep = tuple(fault for fault in LEFT_OUT if chosen[fault] is False)
    return keep, tuple(fault for fault in CHOICES if chosen[fault] and fault not in LEFT_OUT)


def draw_findings(findings: Sequence[Finding]) -> None:
    """Draw what was found, the worst first, and the pairs that have it in a fold; nothing if nothing was found."""
    if not findings:
        return
    with st.container(border=True, gap="small"):
        st.markdown(f"**{t('The check of these pairs')}**")
        for finding in findings:
            if finding.kind in _UNUSED:
                st.markdown(f":red[:material/block:] :small[{plain(_sentence(finding))}]")
        if any(finding.choice for finding in findings):
            st.caption(t("Tick what to leave out:"))
        for finding in findings:
            if finding.choice is not None:
                key = _key(finding.choice)
                st.session_state[key] = finding.left_out
                st.checkbox(plain(_sentence(finding)), key=key, persist_state="session")
        for finding in findings:
            if finding.choice is None and finding.kind not in _UNUSED:
                st.markdown(f":material/info: :small[{plain(_sentence(finding))}]")
        with_pairs = [finding for finding in findings if finding.lines and finding.pairs]
        if with_pairs:
            with st.expander(t("Lines to look at")):
                for finding in with_pairs:
                    _draw_lines(finding)


def _sentence(finding: Finding) -> str:
    """The sentence of a finding, with the numbers of the first lines that have it, and the first of these pairs."""
    if not finding.lines:
        return finding.sentence
    lines = capitalised(name_lines(finding.lines))
    if not finding.pairs:
        return f"{finding.sentence} {lines}."
    source, target = (quoted(shortened(side, _SIDE)) for side in (finding.pairs[0].source, finding.pairs[0].target))
    pair = t(
        "{lines}: {source} → {target}.",
        "{lines}, of which the first: {source} → {target}.",
        n=len(finding.lines),
        lines=lines,
        source=source,
        target=target,
    )
    return f"{finding.sentence} {pair}"


def _draw_lines(finding: Finding) -> None:
    rows = [
        {t("line"): str(line), t("source"): pair.source, t("target"): pair.target}
        for line, pair in zip(finding.lines, finding.pairs, strict=False)
    ]
    st.caption(plain(finding.sentence))
    draw_table(rows, t("The first {n} pair with it", "The first {n} pairs with it", n=len(rows)), file=finding.kind)
