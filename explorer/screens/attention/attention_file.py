"""The panel "Your own attention": a file from any other model, in all views."""

from __future__ import annotations

import streamlit as st

from explorer.browser.heads import heads_view
from explorer.byte_cache import cached
from explorer.decoding.attention_file import MAX_BYTES, OwnAttention, OwnAttentionError, read_own
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import Decoding, place_in
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translation
from explorer.locale.text import plain
from explorer.screens.attention.download_buttons import draw_downloads
from explorer.web.viewer_mode import closed

_KEPT = "_own_attention"
EXAMPLE = """inputs = tokenizer("The cat sat", return_tensors="pt")
out = model(**inputs, output_attentions=True)  # a model loaded with attn_implementation="eager": others keep no weights
np.savez("mine.npz", encoder=torch.cat(out.attentions).detach().float(), src_tokens=inputs.tokens())"""


def draw(selection: Selection, shown: Translation, at: Place) -> None:
    """The upload field, and once there is a file, its views."""
    del selection, shown, at
    st.markdown("##### Attention of another model")
    if closed("Uploads are"):
        return
    file = st.file_uploader(
        "An .npz or JSON file of attention weights with their tokens",
        type=["npz", "json"],
        max_upload_size=MAX_BYTES // 1_000_000,
        key="own_file",
    )
    if file is not None:
        try:
            # The file itself is held, which is small; its arrays can be read again when they have been dropped.
            _opened(kept := (file.file_id, file.getvalue(), file.name))
        except OwnAttentionError as unfit:
            st.error(plain(str(unfit)))
            return
        st.session_state[_KEPT] = kept
    if _KEPT not in st.session_state:
        _explain()
        return
    kept = st.session_state[_KEPT]
    own = _opened(kept)
    if own.notes:
        st.caption(plain(" ".join(own.notes)))
    place, view = st.session_state.get(f"{_KEPT}_{own.seq}", (place_in(own.trace), ""))
    result = heads_view(Decoding(own.trace, own.seq, own.name), place, view, key="own_heads")
    # Handing back the last reported place moves nothing, and restores the view after a visit to another page.
    here = result.place
    st.session_state[f"{_KEPT}_{own.seq}"] = here, result.view
    with st.expander("Download what is on screen"):
        facts = (f"From the file {own.name}.",)
        draw_downloads(
            lambda: _read(*kept).trace, here, result.view, seq=own.seq, model=own.name, facts=facts, key="own"
        )


def _explain() -> None:
    st.caption(
        "Arrays encoder [layer, head, src, src], decoder [layer, head, tgt, tgt], cross [layer, head, tgt, src], of "
        "which one is enough, and the token lists src_tokens, read_tokens. Masks (encoder_mask …: 0 visible, 1 future, "
        "2 padding) are optional. Nothing leaves this machine, nothing in the file is run, and it is no part of the "
        "page's link. From Hugging Face:"
    )
    st.code(EXAMPLE, language="python")


def _opened(kept: tuple[str, bytes, str]) -> OwnAttention:
    with st.spinner("Reading the file …"):
        return _read(*kept)


@cached
def _read(file_id: str, _content: bytes, name: str) -> OwnAttention:
    del file_id  # the key: each upload has its own
    return read_own(_content, name)
