"""A visitor without a browser: uses Streamlit's protocol over a websocket, types, steps, and records the responses."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Self

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from explorer.browser import wire

PATIENCE_SECONDS = 300.0  # a busy machine is not a defect


class Trouble(AssertionError):
    """The page showed an error, or something this visitor did not ask for."""


@dataclass(frozen=True)
class Shown:
    """What the stepper received: model, source tokens as one string, number of rows, a digest of all else."""

    model: str
    seq: str
    n_rows: int
    digest: str

    @classmethod
    def of(cls, payload: bytes) -> Shown:
        header, _ = wire.read(payload)
        decoding = header["decoding"]
        rows = len(decoding["target"]["tokens"])
        return cls(decoding["model"], header["seq"], rows, hashlib.sha256(payload).hexdigest())


@dataclass
class Visitor:
    """One open tab of the Translate page.

    `seconds` of a request are from sending it to the last message of the run that it starts. `redrawn` are the
    containers that the last run sent anything for: 0 is the page, 1 the sidebar.
    """

    port: int
    socket: ClientConnection
    query: str = ""
    shown: Shown = Shown("", "", 0, "")
    redrawn: set[int] = field(default_factory=set)
    _field: str = ""
    _field_fragment: str = ""
    _stepper: str = ""
    _fragment: str = ""
    _turn: int = 0
    _text: str = ""
    _at: dict[str, Any] = field(default_factory=dict)

    @classmethod
    async def arrive(cls, port: int, query: str) -> Self:
        """Open the page, with `query` after the question mark of its address."""
        subprotocols = [Subprotocol("streamlit")]
        socket = await connect(f"ws://localhost:{port}/_stcore/stream", max_size=None, subprotocols=subprotocols)
        visitor = cls(port, socket, query)
        await visitor._run(BackMsg())
        return visitor

    async def leave(self) -> None:
        await self.socket.close()

    async def type(self, text: str) -> float:
        self._text, self._at, before = text, {}, self.shown.seq
        message = BackMsg()
        message.rerun_script.fragment_id = self._field_fragment
        seconds = await self._run(message)
        if self.shown.seq == before:
            raise Trouble(f"'{text}' was answered with the previous sentence")
        return seconds

    async def look(self, step: int, layer: int, head: int) -> float:
        """Report a step and a head as the stepper does after a pause; seconds until the page has answered."""
        place = {"kind": "cross", "layer": layer, "head": head, "step": step, "row": step, "column": None}
        self._at = {"seq": self.shown.seq, "turn": self._turn, "place": place, "wanted": []}
        message = BackMsg()
        message.rerun_script.fragment_id = self._fragment
        seconds = await self._run(message)
        if f"step={step}" not in self.query.split("&"):
            raise Trouble(f"step {step} was asked for, and the address says {self.query}")
        return seconds

    async def _run(self, message: BackMsg) -> float:
        message.rerun_script.query_string = self.query
        if self._text:
            typed = message.rerun_script.widget_states.widgets.add()
            typed.id, typed.string_value = self._field, self._text
        if self._at:
            looked = message.rerun_script.widget_states.widgets.add()
            looked.id, looked.json_value = self._stepper, json.dumps({"at": self._at})
        self.redrawn = set()
        start = perf_counter()
        await self.socket.send(message.SerializeToString())
        # Until the run has finished, or the last that it asks for.
        while (answer := await self._next()).script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN or (
            answer.WhichOneof("type") != "script_finished"
        ):
            self.read(answer)
            if answer.WhichOneof("type") == "delta" and answer.delta.WhichOneof("type") == "new_element":
                self.element(answer.delta.new_element, answer.delta.fragment_id)
        return perf_counter() - start

    async def _next(self) -> ForwardMsg:
        """The next message of the server; a run that goes on, however slowly, is waited for."""
        message = ForwardMsg()
        message.ParseFromString(await asyncio.wait_for(self.socket.recv(), PATIENCE_SECONDS))
        return message

    def read(self, message: ForwardMsg) -> None:
        what = message.WhichOneof("type")
        if what == "delta":
            self.redrawn.add(message.metadata.delta_path[0])
        elif what == "page_info_changed":
            self.query = message.page_info_changed.query_string

    def element(self, element: Any, fragment: str) -> None:
        what = element.WhichOneof("type")
        if what == "exception":
            raise Trouble(element.exception.message)
        if what == "text_input":
            self._field, self._field_fragment = element.text_input.id, fragment
        if what == "bidi_component" and element.bidi_component.component_name == "headlight_stepper":
            self._stepper, self._fragment = element.bidi_component.id, fragment
            self._turn = json.loads(element.bidi_component.json)[0]["turn"]
        if what == "bidi_component" and element.bidi_component.component_name == "headlight_carrier":
            self.shown = Shown.of(element.bidi_component.bytes)
