"""The tokens of a person's own pairs: the proposal with its reason, another choice, and samples cut into tokens."""

from __future__ import annotations

import streamlit as st

from explorer.locale.text import plain
from explorer.web.figures import draw_table
from explorer.web.training_form import field_key
from model.data.proposal import Proposal, TokenKind, named, share_text, unspellable_sentence
from model.text.tokenizer import Encoding

_WIDTHS = (st.column_config.Column(width=290), st.column_config.Column(width=200))
FAILS = 0.02  # share of answers from which it is a warning that they cannot be spelled


def choose_kind(proposal: Proposal, task: str) -> TokenKind | None:
    """Draw the choice of tokens, and what they would do with these data."""
    proposed, key = proposal.data.tokenizer, field_key(task, "tokenizer")
    names = [each.kind for each in proposal.kinds]
    chosen = st.session_state.get(key)
    # Set at every run: an interrupted run creates fields that the browser never sees.
    st.session_state[key] = chosen if chosen in names else proposed
    chosen = st.segmented_control(
        "Tokens",
        names,
        required=True,
        key=key,
        help="What the model reads and writes one at a time. Each head attends from token to token.",
    )
    kind = proposal.of(chosen or proposed)
    if kind is not None:
        reason = f"Proposed: {proposal.reason[0].lower()}{proposal.reason[1:]} " if kind.kind == proposed else ""
        (st.warning if kind.unspellable > FAILS else st.caption)(plain(f"{reason}{unspellable_sentence(kind)}"))
    return kind


def draw_tokens(kind: TokenKind, proposal: Proposal) -> None:
    """A few validation pairs as tokens, and all kinds side by side."""
    rows = [{"source as tokens": _cut(source), "target as tokens": _cut(target)} for source, target in kind.samples]
    widths = dict(zip(rows[0], _WIDTHS, strict=True))
    alt = f"{len(rows)} validation pairs cut into {named(kind.kind)}"
    draw_table(rows, alt, column_config=widths)
    with st.expander("Compare the kinds of tokens", key="train_kinds"):
        draw_table([_row(each) for each in proposal.kinds], "The kinds of tokens, compared")
        looked = "a sample of the training pairs" if proposal.sampled else "the training pairs"
        st.caption(
            plain(
                f"Vocabularies are made from {looked} alone, and checked on the pairs that are held out. In the "
                f"samples above, · stands between tokens, ␣ is a space that is a token, and ⟨…⟩ has no token."
            )
        )


def _cut(text: Encoding) -> str:
    return "·".join(
        f"⟨{token}⟩" if unknown else token for token, unknown in zip(text.tokens, text.unknown, strict=True)
    )


def _row(kind: TokenKind) -> dict[str, str | int | float]:
    return {
        "tokens": kind.kind,
        "answers it cannot spell": share_text(kind.unspellable),
        "sources with unknown tokens": share_text(kind.unread),
        "tokens per source": round(kind.src_length, 1),
        "tokens per answer": round(kind.tgt_length, 1),
        "source vocabulary": kind.src_vocab_size,
        "target vocabulary": kind.tgt_vocab_size,
    }
