"""The page "Attention of another model": a file of its weights, in the views of the Attention page."""

from __future__ import annotations

import streamlit as st

from explorer.browser.views import heads_view
from explorer.decoding.attention_file import MAX_BYTES, OwnAttentionError, read_own
from explorer.decoding.cache import cached
from explorer.decoding.decoding import Decoding, place_in
from explorer.locale.messages import t, translated
from explorer.locale.text import plain
from explorer.runs.viewer_mode import REASON
from explorer.web import page_parts
from explorer.web.faults import contained
from explorer.web.map_downloads import draw_downloads
from explorer.web.security import closed

_UPLOAD = "_own_attention"
EXAMPLE = """inputs = tokenizer("The cat sat", return_tensors="pt")
out = model(**inputs, output_attentions=True)  # a model loaded with attn_implementation="eager": others keep no weights
np.savez("mine.npz", encoder=torch.cat(out.attentions).detach().float(), src_tokens=inputs.tokens())"""


def draw() -> None:
    """Draw the whole page."""
    page_parts.heading(
        t("What does another model look at?"),
        t("A file of attention weights, from any program, in the views of the Attention page."),
    )
    _explore()


@st.fragment
@contained("own")
def _explore() -> None:
    """Draw the upload field, and once there is a file, its views; their messages rerun only this part of the page."""
    if closed(t("Uploads are switched off: {reason}.", reason=translated(REASON))):
        return
    label = t("An .npz or JSON file of attention weights with their tokens")
    most = MAX_BYTES // 1_000_000
    file = st.file_uploader(label, type=["npz", "json"], max_upload_size=most, key="own_file")
    if file is not None:
        try:
            # The session keeps the file, which is small; its arrays can be read again after they have been dropped.
            _opened(upload := (file.file_id, file.getvalue(), file.name))
        except OwnAttentionError as unfit:
            st.error(plain(str(unfit)))
            return
        st.session_state[_UPLOAD] = upload
    if _UPLOAD not in st.session_state:
        _explain()
        return
    upload = st.session_state[_UPLOAD]
    own = _opened(upload)
    if own.notes:
        st.caption(plain(" ".join(map(str, own.notes))))
    place, view = st.session_state.get(f"{_UPLOAD}_{own.seq}", (place_in(own.trace), ""))
    result = heads_view(own, place, view, key="own_heads")
    # Passing in the last reported place does not move the view, and restores it after a visit to another page.
    st.session_state[f"{_UPLOAD}_{own.seq}"] = result.place, result.view
    with st.expander(t("Download what is on screen")):
        facts = (t("From the file {name}.", name=own.model),)
        draw_downloads(lambda: _read(*upload).trace, result.place, result.view, model=own.model, facts=facts, key="own")


def _explain() -> None:
    st.caption(
        t(
            "Arrays encoder [layer, head, src, src], decoder [layer, head, tgt, tgt], cross [layer, head, tgt, src], "
            "of which one is enough, and the token lists src_tokens, read_tokens. Masks (encoder_mask …: 0 visible, 1 "
            "future, 2 padding) are optional. The file stays on this machine, nothing in it is executed, and the "
            "page's link does not include it. From Hugging Face:"
        )
    )
    # Without colours, because that of comments has too little contrast.
    st.code(EXAMPLE, language=None, wrap_lines=True)


def _opened(upload: tuple[str, bytes, str]) -> Decoding:
    with st.spinner(t("Reading the file …")):
        return _read(*upload)


@cached
def _read(file_id: str, _content: bytes, name: str) -> Decoding:
    del file_id  # the cache key: each upload has its own
    return read_own(_content, name)
