"""The browser's code as packs: every module once and after those that it imports, kept by its content's address."""

import gzip
import json
import re
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.browser import assets, bundle
from explorer.web.warm_up import WarmUp
from tests import loop

NAMES = sorted(assets._PACKS)
JS = assets._HERE / "js"


def joined(script: str) -> list[str]:
    return re.findall(r'= modules\["([^"]+)"\] \?\?= \(', script)


def test_every_module_is_in_a_pack_or_in_a_page_without_a_server() -> None:
    packs = [assets.pack(name) for name in NAMES] + [assets.standalone(("stepper", "heads"))]
    used = {file for pack in packs for file in joined(json.loads(pack)["script"])} | {"mount.js", "standalone_boot.js"}
    later = [f"{entry}.js" for entry, _, _ in bundle._LATER.values()]
    pages = {*assets.in_order("site.js", "live/worker.js", *later), "service_worker.js"}
    there = {path.relative_to(JS).as_posix() for path in JS.rglob("*.js")}
    assert (used | pages) - {"palettes.js"} == there


@pytest.mark.parametrize("line", ["export * from './b.js';", 'import b from "./b.js";', "export let a = 1;"])
def test_what_is_not_joined_is_refused(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "read", {"a.js": f"{line}\n", "b.js": ""}.__getitem__)
    with pytest.raises(ValueError, match=r"a\.js has an import or export that is not joined"):
        assets.join("a.js")


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=assets.routes()))


@pytest.mark.parametrize("base", ["/", "/class/", "/class/room/"])
@pytest.mark.parametrize("name", NAMES)
def test_a_pack_is_served_under_any_base_path_and_kept(client: TestClient, name: str, base: str) -> None:
    answer = client.get(base + assets.address(name))
    assert answer.status_code == 200
    assert answer.content == assets.pack(name)
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert client.get(base + assets.address(name), headers={"accept-encoding": "identity"}).content == assets.pack(name)


def test_an_old_address_gets_the_new_code_which_is_not_kept(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tab that was open while the server was updated: the address follows the content."""
    answer = client.get("/headlight/0123456789ab/stepper.json")
    assert answer.content == assets.pack("stepper")
    assert answer.headers["cache-control"] == "no-store"
    for path in ("/headlight/x/nothing.json", "/headlight/x/..%2fassets.py", "/headlight/stepper.json"):
        assert client.get(path).status_code == 404
    before = assets.address("frame")
    monkeypatch.setattr(assets, "pack", lambda name: b"other")
    assert assets.address("frame") != before


def test_the_first_screen_is_small() -> None:
    """What a first visit fetches besides Streamlit's own code."""
    assert sum(len(gzip.compress(assets.pack(name), 9)) for name in ("frame", "stepper")) < 63_500


def preloaded(path: str, kind: str = "text/html; charset=utf-8") -> list[str]:
    sent: list[dict[str, Any]] = []

    async def app(scope: object, receive: object, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind.encode())]})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    server = WarmUp(app)
    server._begun = True
    loop.run(server({"type": "http", "path": path}, None, send))
    return [value.decode() for name, value in sent[0]["headers"] if name == b"link"]


@pytest.mark.parametrize(("path", "first"), [("/", "stepper"), ("/base/attention", "heads"), ("/inside", "machine")])
def test_a_page_names_the_code_that_it_needs_first(path: str, first: str) -> None:
    (link,) = preloaded(path)
    assert re.findall(r"<\./([^>]+)>", link) == [assets.address("frame"), assets.address(first)]
    assert preloaded("/runs") == preloaded(path, "application/json") == []
