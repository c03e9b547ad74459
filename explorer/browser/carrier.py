"""An invisible component that brings decodings to the browser's store, from which every view of the tab draws."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.browser.payload import AT_ONCE, encode
from explorer.browser.registration import component
from explorer.decoding.cache import cached
from explorer.decoding.decoding import Decoding
from model.config import ATTENTION_KINDS, AttentionKind
from model.trace import kinds_of

_carrier = component("carrier", "carrier")


def carry(message: bytes, *, key: str) -> None:
    """Bring one message to the store."""
    _carrier(key=key, data=message)


def carry_decoding(decoding: Decoding, *, key: str, kinds: Sequence[AttentionKind] = ATTENTION_KINDS) -> None:
    """Bring a decoding to the store: whole if it is small or all kinds are needed, otherwise `kinds` one by one."""
    size = sum(decoding.trace.weights(kind).nbytes for kind in kinds_of(decoding.trace))
    if size <= AT_ONCE or set(kinds) == set(ATTENTION_KINDS):
        carry(_message(decoding.seq, decoding.chosen_by, ATTENTION_KINDS, True, decoding), key=key)
        return
    carry(_message(decoding.seq, decoding.chosen_by, (), True, decoding), key=key)
    for kind in kinds:
        carry(_message(decoding.seq, "", (kind,), False, decoding), key=f"{key}-{kind}")


# `seq` names the decoding. Arguments with an underscore are not part of the cache key.
@cached
def _message(
    seq: str, chosen_by: str, kinds: tuple[AttentionKind, ...], with_header: bool, _decoding: Decoding
) -> bytes:
    del seq, chosen_by
    return encode(_decoding, kinds, with_header=with_header)
