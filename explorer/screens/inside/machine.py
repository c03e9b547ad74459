"""The tab The machine: the whole model as one diagram, with the numbers of the sentence."""

from __future__ import annotations

import dataclasses
import re

import streamlit as st

from explorer.browser.machine import machine, place_reported
from explorer.browser.machine_numbers import encode_numbers
from explorer.browser.machine_payload import MachineView, encode, encode_details
from explorer.browser.machine_structs import NumbersRequest, RowWeights
from explorer.browser.structs import Departure, MachinePlace, Opened
from explorer.decoding.cache import cached
from explorer.decoding.examples import opening_step
from explorer.decoding.head_change import MOST_ROW, PARTS, Change, fitting
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.model_diagram import ADDED, Block, blocks_of
from explorer.decoding.selection import to_query
from explorer.decoding.translator import Translation
from explorer.web import address, changes_in_force, runtime, session
from explorer.web.open_translation import with_changes
from model.analysis.operations import Recording, added_positions, record, whole_runs
from model.config import ATTENTION_KINDS, ModelConfig

KEY = "machine"
_NAMED = re.compile(r"([a-z_]+(?:\.\d{1,4})?(?:\.[a-z_]+\d?)?)(?:\.h(\d{1,4}))?(?:\.([a-z_]+))?")


def draw_machine_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw the machine, move the session to its step, and follow its links to other pages."""
    translation = with_changes(translation)
    view = _view(translation, model)

    def encoded() -> bytes:
        return _encoded(translation.seq, runtime.fingerprint(translation.model), translation, view)

    def details(place: MachinePlace) -> bytes | None:
        if not place.block:
            return None
        step = place.step if view.stepwise else 0
        whole = Opened(place.block, place.head)  # one message serves all parts of a head
        return _details(translation.seq, runtime.fingerprint(translation.model), whole, step, translation, view)

    def numbers(request: NumbersRequest) -> bytes | None:
        step = max(1, min(len(translation.path), request.step)) if view.stepwise else len(translation.path)
        run = _run(translation, step)
        return runtime.with_model(translation.model, lambda model: encode_numbers(request, run, model))

    result = machine(view, encoded, details, numbers, stepped=_stepped, key=KEY)
    _keep(result.place)
    if result.edit is not None:
        _change(result.edit, view.config)
    if result.departure is not None:
        _go(result.departure, translation, view)


def _stepped() -> None:
    """Move the session before the run, so that the page writes the new step to the address and requests this place."""
    place = place_reported(KEY)
    if place is not None:
        _keep(place)


def _keep(place: MachinePlace) -> None:
    session.move(step=place.step)
    address.BLOCK.write({"block": text_of(place), "follow": place.follow})


def text_of(opened: Opened) -> str:
    """The name of what is open, as in the address: `decoder.0.cross_attn.h2.scores`."""
    head = f".h{opened.head}" if opened.head else ""
    return f"{opened.block}{head}{f'.{opened.part}' if opened.part else ''}"


def opened_of(text: str, blocks: tuple[Block, ...]) -> Opened:
    """Parse such a name: a block of the model, or a head or part of a block, unchecked; nothing if it is neither."""
    if text in {block.name for block in blocks}:
        return Opened(text)
    match = _NAMED.fullmatch(text)
    if match is None or match[2] is match[3] is None:
        return Opened()
    return Opened(match[1], int(match[2] or 0), match[3] or "")


def _view(translation: Translation, model: ModelDescription) -> MachineView:
    config, summary = model.model_config, runtime.models().get(translation.model)
    here, last = session.selection().step, len(translation.path)
    step = min(here, last) if here else opening_step(summary, translation) if summary else last
    view = MachineView(translation, config, blocks_of(config))
    query = address.BLOCK.current()
    former = query.get("op", "").replace(".layers.", ".")  # a link to an operation, which had a tab of its own
    opened = opened_of(query.get("block", former), view.blocks)
    place = MachinePlace(opened.block, opened.head, opened.part, step, query.get("follow", ""))
    return dataclasses.replace(view, start=view.fitting(place))


@cached
def _encoded(seq: str, version: str, _translation: Translation, _view: MachineView) -> bytes:
    """The message of a decoding; the first two arguments are its cache key."""
    del seq, version  # parts of the cache key only
    runs = runtime.with_model(
        _translation.model,
        lambda model: whole_runs(model, _translation.source.ids, _translation.path, edit=_translation.edit),
    )
    return encode(_view, runs, runtime.with_model(_translation.model, lambda model: added_positions(model, runs[-1])))


@cached
def _details(seq: str, version: str, opened: Opened, step: int, _translation: Translation, _view: MachineView) -> bytes:
    """The message of the open block; `step` is 0 if one run serves all steps."""
    del version  # part of the cache key only
    run = _run(_translation, step or len(_translation.path))
    block = next(block for block in _view.blocks if block.name == opened.block)
    return runtime.with_model(
        _translation.model, lambda model: encode_details(block, opened, run, model, seq=seq, step=step)
    )


def _run(translation: Translation, step: int) -> Recording:
    """The run up to a step with all its rows, under the changes of the translation."""
    if translation.edit is None:
        return runtime.computed(translation.model, record, translation.source.ids, translation.path, step)
    return _changed_run(translation.seq, runtime.fingerprint(translation.model), step, translation)


@cached
def _changed_run(seq: str, version: str, step: int, _translation: Translation) -> Recording:
    del seq, version  # parts of the cache key only
    shown = _translation
    return runtime.with_model(
        shown.model, lambda model: record(model, shown.source.ids, shown.path, step, edit=shown.edit)
    )


def _change(edit: RowWeights, config: ModelConfig) -> None:
    """Put dragged or typed weights or a moved token into force, or go back to the model as it was trained."""
    before, weights = changes_in_force.changes(), tuple(edit.weights[:MOST_ROW])
    if 0 < edit.to < MOST_ROW and 0 < edit.row < MOST_ROW and edit.kind != "cross":
        moved = Change(edit.kind, 0, 0, "position", row=edit.row, to=edit.to)
        changes_in_force.put(fitting((moved,), config)[0])
    elif not weights:
        changes_in_force.clear()
    elif any(weights) and all(0 <= weight <= PARTS for weight in weights) and edit.row > 0:
        change = Change(edit.kind, edit.layer, edit.head, "row", row=edit.row, weights=weights)
        changes_in_force.put(fitting((change,), config)[0])
    if changes_in_force.changes() != before:
        st.rerun()


def _go(departure: Departure, translation: Translation, view: MachineView) -> None:
    """Open the page that a link of the machine leads to, at the link's block."""
    place = departure.place
    block = next((block for block in view.blocks if block.name == departure.block), None)
    session.move(step=departure.step)
    here = dataclasses.replace(
        session.selection(), model=runtime.listed_name(translation.model), text=_text(), view="", panel="", cell=None
    )
    if block is not None and block.attention:
        head = departure.head or (1 if place == "cell" else 0)
        kind = next(kind for kind in ATTENTION_KINDS if kind == block.attention)
        here = dataclasses.replace(here, kind=kind, layer=max(1, block.layer), head=head, view="head")
    page, extra = str(place), {}
    if place == "cell":
        page = "attention"
        here = dataclasses.replace(here, panel="cell", cell=(departure.row, departure.column))
    elif place == "positions":
        extra = {"positions_tab": "One word"} if view.config.positions in ADDED else {"positions_tab": "In the scores"}
    elif place == "masks":
        extra = {"masks_tab": "The masks"}
    st.switch_page(f"pages/{page}.py", query_params=to_query(here) | extra)


def _text() -> str:
    return str(st.session_state.get(session.TEXT) or "")
