"""The views of the Attention page alone, mounted as by Streamlit, with a stand-in server that can be slow or silent."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

from playwright.sync_api import Locator, Page

from explorer.browser import assets
from explorer.browser.payload import encode
from explorer.browser.structs import Position
from explorer.decoding.decoding import Decoding, place_in
from explorer.decoding.view_options import ViewOptions, format_view, parse_view
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of
from tests.e2e.stepper_bench import lightness, pixels, theme

MOUNT = """async ({pack, frame, variables, width}) => {
  delete globalThis.__headlightModules; // a new page has no modules and no decodings
  document.body.style = `margin: 0; padding: 16px; background: ${variables["--st-background-color"]}`;
  const host = document.createElement("div");
  host.id = "host";
  host.style.width = width;
  for (const name in variables) host.style.setProperty(name, variables[name]);
  document.body.append(host);
  window.root = host.attachShadow({ mode: "open" });
  const wrap = document.createElement("div");
  const { html, css } = pack.looks.heads;
  wrap.append(document.createRange().createContextualFragment(html));
  wrap.append(Object.assign(document.createElement("style"), { textContent: css }));
  root.append(wrap);
  const first = URL.createObjectURL(new Blob([pack.modules[0][1]], { type: "text/javascript" }));
  const { link } = await import(first);
  const [views, bring] = [await link(pack, "heads"), await link(frame, "carrier")];
  window.calls = [];
  const say = (name, value) => calls.push({ name, value: JSON.parse(JSON.stringify(value)) });
  window.show = (data) => {
    window.unmount = views.default({ data: [data], parentElement: root, setStateValue: say, setTriggerValue: say });
  };
  window.carry = (text) => bring.default({ data: Uint8Array.from(atob(text), (c) => c.charCodeAt(0)) });
}"""


class HeadsBench:
    """A page with a single instance of the views."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_viewport_size({"width": 1040, "height": 768})
        self.turn = 0

    def mount(self, trace: AttentionTrace, *, dark: bool = False, width: int = 1000, **changes: Any) -> None:
        """Show a trace; all its kinds are delivered at once, unless `kinds` names fewer."""
        self.page.set_content("<!doctype html><html><body><input id=elsewhere></body></html>")
        variables = theme("dark" if dark else "light")
        parts = {"pack": json.loads(assets.pack("heads")), "frame": json.loads(assets.pack("frame"))}
        self.page.evaluate(MOUNT, {**parts, "variables": variables, "width": f"{width}px"})
        self.send(trace, **changes)

    def send(self, trace: AttentionTrace, *, kinds: tuple[AttentionKind, ...] | None = None, **changes: Any) -> None:
        """Do what the server does for a new decoding or when it moves the views."""
        place = {name: changes.pop(name) for name in ("kind", "layer", "head", "step", "cell") if name in changes}
        options = parse_view(changes.pop("view", "heads"))
        flags = {name: changes.pop(name, False) for name in ("explains", "compact")}
        self.decoding = Decoding(**({"trace": trace, "seq": "first", "model": "planted"} | changes))
        self.turn += 1
        start = dataclasses.asdict(Position(**vars(place_in(trace, **place)), options=options))
        self.carry(*(kinds_of(trace) if kinds is None else kinds), with_header=True)
        data = {"seq": self.decoding.seq, "turn": self.turn, "start": start, **flags}
        self.page.evaluate("data => show(data)", data)
        self.frame()

    def carry(self, *kinds: AttentionKind, with_header: bool = False) -> None:
        """Deliver some kinds of the decoding."""
        self._carry(encode(self.decoding, kinds, with_header=with_header))

    def _carry(self, block: bytes) -> None:
        self.page.evaluate("text => { carry(text); }", base64.b64encode(block).decode())
        self.frame()

    def __call__(self, selector: str) -> Locator:
        return self.page.locator(f"#host {selector}")

    def text(self, selector: str) -> str:
        """The text on one line, without the control characters for its layout."""
        text = self(selector).inner_text().translate({0x2068: "", 0x2069: "", 0x202F: " ", 0x2009: " "})
        return " ".join(text.split())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.frame()

    def click(self, selector: str) -> None:
        self(selector).click()
        self.frame()

    def choose(self, name: str, value: str) -> None:
        """Choose an option, in the panel that the button "Options" opens."""
        if not self(".panel").is_visible():
            self(".options").click()
        self(f"select[name={name}]").select_option(value)
        self.frame()

    def open_table(self) -> None:
        """Open the table; it is filled once the browser reports that it is open."""
        self("summary").click()
        self("tbody tr").first.wait_for()

    def frame(self) -> None:
        """Wait until pending changes are painted."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def calls(self) -> list[dict[str, Any]]:
        """What the views have said; of a report, the place alone, with the kinds that they need."""
        return [_placed(call) for call in self.page.evaluate("() => calls")]

    def reported_view(self) -> str:
        """The last report's options as the text in the address."""
        return format_view(ViewOptions(**self.calls()[-1]["value"]["options"]))

    def plot(self, kind: str) -> tuple[float, float, float, int, int]:
        """Where the cells of the large map are on its canvas: left, top, size, rows drawn, columns (CSS pixels)."""
        left, top, cell, rows, columns = self(f"figure.{kind} canvas").get_attribute("data-plot").split(",")
        return float(left), float(top), float(cell), int(rows), int(columns)

    def point(self, kind: str, query: int, key: int) -> dict[str, float]:
        """A point inside a cell, off its centre, where no number is written."""
        left, top, cell, *_ = self.plot(kind)
        return {"x": left + (key + 0.5) * cell, "y": top + (query + 0.2) * cell + 1}

    def colour(self, kind: str, query: int, key: int) -> tuple[int, ...]:
        """The colour of a cell of the large map: red, green, blue, opacity."""
        return pixels(self(f"figure.{kind} canvas"), [self.point(kind, query, key)])[0]

    def map(self, kind: str) -> list[list[float]]:
        """Lightness, 0 to 255, of every cell of the large map."""
        left, top, cell, rows, columns = self.plot(kind)
        xs, ys = [left + (k + 0.5) * cell for k in range(columns)], [top + (q + 0.2) * cell + 1 for q in range(rows)]
        return lightness(self(f"figure.{kind} canvas"), xs, ys)

    def thumbnail(self, name: str, rows: int, columns: int) -> list[list[float]]:
        """Lightness, 0 to 255, of every cell of the thumbnail whose accessible name begins with `name`."""
        picture, (left, top, width, height) = self._thumbnail(f'.tile[aria-label^="{name}"]')
        xs = [left + (k + 0.5) / columns * width for k in range(columns)]
        ys = [top + (q + 0.5) / rows * height for q in range(rows)]
        return lightness(picture, xs, ys)

    def in_thumbnail(self, tile: str, *places: tuple[float, float]) -> list[tuple[int, ...]]:
        """What is painted in the thumbnail of a button, at these shares of its width and height."""
        picture, (left, top, width, height) = self._thumbnail(tile)
        return pixels(picture, [{"x": left + x * width, "y": top + y * height} for x, y in places])

    def _thumbnail(self, tile: str) -> tuple[Locator, tuple[float, ...]]:
        """The canvas below a button, and the thumbnail's left, top, width and height on it."""
        picture = self(f".under:has({tile}) > canvas")
        room, canvas = self(f"{tile} i").bounding_box(), picture.bounding_box()
        return picture, (room["x"] - canvas["x"], room["y"] - canvas["y"], room["width"], room["height"])

    def listen(self) -> None:
        """From now on, record the texts that the large maps write, with their positions on the canvas."""
        self.page.evaluate(
            """() => {
          window.written = [];
          const fill = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            const place = this.getTransform().transformPoint({ x, y });
            window.written.push([text.replace(/[\\u2068\\u2069]/g, ""), place.x, place.y]);
            fill.call(this, text, x, y);
          };
        }"""
        )

    def written(self) -> dict[str, tuple[float, float]]:
        """The last position of each text."""
        return {text: (x, y) for text, x, y in self.page.evaluate("() => window.written")}


def _placed(call: dict[str, Any]) -> dict[str, Any]:
    value = call["value"]
    return call | {"value": value["place"] | {"wanted": value["wanted"]}} if call["name"] == "at" else call
