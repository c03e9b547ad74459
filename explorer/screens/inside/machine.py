"""The tab The machine: the whole model as one diagram, with the numbers of this sentence."""

from __future__ import annotations

import dataclasses
import re

import streamlit as st

from explorer.browser.machine import Departure, machine, step_reported
from explorer.browser.machine_details import check_opened, encode_details
from explorer.browser.machine_payload import MachineView, Opened, encode
from explorer.byte_cache import cached
from explorer.decoding.examples import opening_step
from explorer.decoding.machine_blocks import ADDED, MEMORY
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.model_diagram import whole_diagram_of
from explorer.decoding.selection import to_query
from explorer.decoding.translator import Translation
from explorer.screens.inside.computation import walked
from explorer.screens.inside.operation_names import title_of
from explorer.web import runtime, session
from explorer.web.address import Parameter
from model.analysis.whole_run import added_positions, whole_runs
from model.config import ATTENTION_KINDS

KEY = "machine"
LEDGER = "All operations"
_BLOCK = Parameter("block")
_NAMED = re.compile(r"([a-z_]+(?:\.\d{1,4})?(?:\.[a-z_]+\d?)?)(?:\.h(\d{1,4}))?(?:\.([a-z]+))?")


def draw_machine_tab(shown: Translation, model: ModelDescription) -> None:
    """Draw the machine; the session moves with its step, and its links lead to the other pages."""
    view = _view(shown, model)

    def encoded() -> bytes:
        return _encoded(view.seq, runtime.fingerprint(shown.model), shown, view)

    def details(opened: Opened, step: int) -> bytes | None:
        if not opened.block:
            return None
        at = step if view.stepwise else 0
        whole = dataclasses.replace(opened, part="")  # one message serves all parts of a head
        return _details(view.seq, runtime.fingerprint(shown.model), whole, at, shown, view)

    result = machine(view, encoded, details, stepped=_stepped, key=KEY)
    session.move(step=result.step)
    _BLOCK.write(text_of(result.opened))
    if result.departure is not None:
        _go(result.departure, shown, view)


def _stepped() -> None:
    """The session moves before the run, so that the address that the page writes names the step."""
    step = step_reported(KEY)
    if step is not None:
        session.move(step=step)


def text_of(opened: Opened) -> str:
    """What is open, as the address names it: `decoder.0.cross_attn.h2.scores`."""
    head = f".h{opened.head}" if opened.head else ""
    return f"{opened.block}{head}{f'.{opened.part}' if opened.part else ''}"


def opened_of(text: str, view: MachineView) -> Opened:
    """What an address names, as far as it exists in this model."""
    blocks = view.diagram.blocks
    if text in {block.name for block in blocks}:
        return Opened(text)
    match = _NAMED.fullmatch(text)
    if match is None or match[2] is None:
        return Opened()
    return check_opened({"block": match[1], "head": int(match[2]), "part": match[3]}, blocks, view.config)


def _view(shown: Translation, model: ModelDescription) -> MachineView:
    config, summary = model.model_config, runtime.models().get(shown.model)
    here, last = session.selection().step, len(shown.path)
    step = min(here, last) if here else opening_step(summary, shown) if summary else last
    view = MachineView(
        diagram=whole_diagram_of(config),
        config=config,
        runs=(),
        trace=shown.trace,
        seq=shown.seq,
        model=shown.model,
        step=max(1, step),
        trained=bool(summary["trained"]) if summary else True,
    )
    asked = _BLOCK.asked()
    text = _BLOCK.written() if asked is None else asked
    return dataclasses.replace(view, opened=opened_of(text, view))


@cached
def _encoded(seq: str, version: str, _shown: Translation, _view: MachineView) -> bytes:
    """The message of a decoding, which the first arguments name."""
    del seq, version  # parts of the key only
    with runtime.model(_shown.model) as translator:
        model = translator.loaded.model
        runs = whole_runs(model, _shown.source.ids, _shown.path)
        added = added_positions(model, runs[-1])
    return encode(dataclasses.replace(_view, runs=runs, added=added))


@cached
def _details(seq: str, version: str, opened: Opened, step: int, _shown: Translation, _view: MachineView) -> bytes:
    """The message of what is open; `step` is 0 where one run serves all steps."""
    del version  # part of the key only
    run = walked(_shown, step or len(_shown.path), whole=True)
    blocks = {block.name: block for block in _view.diagram.blocks}
    block = blocks[opened.block]
    before = blocks[block.reads[0]] if block.name == MEMORY else None
    with runtime.model(_shown.model) as translator:
        model = translator.loaded.model
        return encode_details(block, opened, run, model, title_of, seq=seq, step=step, before=before)


def _go(departure: Departure, shown: Translation, view: MachineView) -> None:
    """Open the page that a link of the machine leads to, at the block that it stands in."""
    opened, place = departure.opened, departure.place
    block = next((block for block in view.diagram.blocks if block.name == opened.block), None)
    session.move(step=departure.step)
    if place == "ledger":
        _BLOCK.write("")
        st.session_state["inside_tab"] = LEDGER
        st.rerun()
    here = dataclasses.replace(session.selection(), model=shown.model, text=_text(), view="", panel="", cell=None)
    if block is not None and block.attention:
        head = opened.head or (1 if place == "cell" else 0)
        kind = next(kind for kind in ATTENTION_KINDS if kind == block.attention)
        here = dataclasses.replace(here, kind=kind, layer=max(1, block.layer), head=head, view="head")
    page, extra = place, {}
    if place == "cell":
        page = "attention"
        here = dataclasses.replace(here, panel="cell", cell=(departure.row, departure.column))
    elif place == "positions":
        extra = {"positions_tab": "One word"} if view.config.positions in ADDED else {"positions_tab": "In the scores"}
    elif place == "masks":
        extra = {"masks_tab": "While decoding"}
    st.switch_page(f"pages/{page}.py", query_params=to_query(here) | extra)


def _text() -> str:
    return str(st.session_state.get(session.TEXT) or "")
