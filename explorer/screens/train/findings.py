"""What the check of a person's own pairs found: what cannot be used, what can be left out, and lines to look at."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer.locale.messages import t
from explorer.locale.text import capitalised, plain
from explorer.web.figures import draw_table
from model.config import PairFault
from model.data.checks import CHOICES, LEFT_OUT, Finding

CHECK = "check"  # the anchor of what was found
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
    """Draw what was found, the worst first; nothing if nothing was found."""
    if not findings:
        return
    with st.container(border=True, gap="small"):
        st.subheader(t("The check of these pairs"), anchor=CHECK)
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


def _sentence(finding: Finding) -> str:
    """The sentence of a finding, with the numbers of the first lines that have it, and the first of them."""
    return f"{finding.sentence} {capitalised(finding.where())}." if finding.lines else finding.sentence


def draw_lines(findings: Sequence[Finding]) -> None:
    """Draw the first lines of each finding in a fold, each in the whole width; nothing if there are none."""
    with_lines = [finding for finding in findings if finding.lines]
    if not with_lines:
        return
    with st.expander(t("Lines to look at")):
        for finding in with_lines:
            st.caption(plain(finding.sentence))
            rows = _rows(finding)
            draw_table(rows, t("The first {n} line with it", "The first {n} lines with it", n=len(rows)))


def _rows(finding: Finding) -> list[dict[str, str]]:
    """The first lines of a finding: rows that cannot be used, sources with both answers, or pairs."""
    if finding.rows:
        return [{t("line"): str(line), t("row"): row} for line, row in zip(finding.lines, finding.rows, strict=False)]
    pairs = zip(finding.lines, finding.pairs, strict=False)
    if not finding.commonest:
        return [{t("line"): str(line), t("source"): pair.source, t("target"): pair.target} for line, pair in pairs]

    def at(answer: str, line: int) -> str:
        return t("{answer} (line {line})", answer=answer, line=line)

    return [
        {t("source"): pair.source, t("commonest answer"): at(*commonest), t("another answer"): at(pair.target, line)}
        for (line, pair), commonest in zip(pairs, finding.commonest, strict=True)
    ]
