"""What a page sent to the views of its browser, and what they would report, for tests with AppTest."""

import json
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from explorer.browser import wire

Message = tuple[dict[str, Any], dict[str, np.ndarray]]


def messages(at: AppTest) -> list[Message]:
    """All messages but the glossary, which every page is sent."""
    return [
        wire.read(element.proto.bytes)
        for element in at.get("bidi_component")
        if element.proto.bytes and element.proto.component_name != "headlight_glossary"
    ]


def decodings(at: AppTest) -> list[Message]:
    return [message for message in messages(at) if "decoding" in message[0]]


def decoding(at: AppTest) -> dict[str, Any]:
    (header,) = [header for header, _ in decodings(at) if header["decoding"]]
    return {"seq": header["seq"], **header["decoding"]}


def one_cell(at: AppTest) -> Message:
    (found,) = [message for message in messages(at) if message[0].get("part") == "cell"]
    return found


def mount(at: AppTest, view: str) -> dict[str, Any]:
    """The data that a view ("stepper", "heads", "machine") is mounted with."""
    (data,) = [
        element.proto.json
        for element in at.get("bidi_component")
        if element.proto.component_name == f"headlight_{view}"
    ]
    (found,) = json.loads(data)
    return dict(found)


def report(mounted: dict[str, Any], *, wanted: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:
    """The state of a view whose user has moved from its start."""
    place = {**mounted["start"], **changes}
    return {"at": {"seq": mounted["seq"], "turn": mounted["turn"], "place": place, "wanted": list(wanted)}}
