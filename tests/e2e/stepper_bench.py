"""The stepper alone in a page, mounted as by Streamlit, with a stand-in server that records what it is sent."""

from __future__ import annotations

import base64
import dataclasses
import json
import tomllib
from typing import Any

from playwright.sync_api import Locator, Page

from explorer.browser import assets
from explorer.browser.payload import encode
from explorer.browser.structs import Position
from tests.explorer.planted import Planted
from tests.paths import ROOT

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
  const { html, css } = pack.looks.stepper;
  wrap.append(document.createRange().createContextualFragment(html));
  wrap.append(Object.assign(document.createElement("style"), { textContent: css }));
  root.append(wrap);
  const first = URL.createObjectURL(new Blob([pack.modules[0][1]], { type: "text/javascript" }));
  const { link } = await import(first);
  const [stepper, bring] = [await link(pack, "stepper"), await link(frame, "carrier")];
  window.calls = [];
  const say = (name, value) => calls.push({ name, value });
  window.send = ([text, data]) => {
    bring.default({ data: Uint8Array.from(atob(text), (c) => c.charCodeAt(0)) });
    window.latest = data;
    mount();
  };
  window.mount = () => {
    const data = window.latest;
    window.unmount = stepper.default({ data: [data], parentElement: root, setStateValue: say, setTriggerValue: say });
  };
}"""


def theme(name: str) -> dict[str, str]:
    """The CSS variables that Streamlit sets for this theme of the app."""
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    colours = settings[name]
    return {
        "--st-background-color": colours["backgroundColor"],
        "--st-text-color": colours["textColor"],
        "--st-primary-color": colours["primaryColor"],
        "--st-font": settings["font"],
        "--st-chart-sequential-colors": ",".join(colours["chartSequentialColors"]),
    }


def pixels(canvas: Locator, points: list[dict[str, float]]) -> list[tuple[int, ...]]:
    """The colour at each point (CSS pixels from the canvas's corner): red, green, blue, opacity."""
    script = """(canvas, points) => {
      const ratio = canvas.width / parseFloat(canvas.style.width);
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return points.map(({ x, y }) => {
        const [column, row] = [Math.floor(x * ratio), Math.floor(y * ratio)];
        if (column >= canvas.width || row >= canvas.height) return [0, 0, 0, 0];
        const at = 4 * (row * canvas.width + column);
        return [...data.slice(at, at + 4)];
      });
    }"""
    return [tuple(colour) for colour in canvas.evaluate(script, points)]


def lightness(canvas: Locator, xs: list[float], ys: list[float]) -> list[list[float]]:
    """The lightness, 0 to 255, at each crossing of these lines; NaN where nothing is painted [y, x]."""
    colours = pixels(canvas, [{"x": x, "y": y} for y in ys for x in xs])
    values = [sum(colour[:3]) / 3 if colour[3] else float("nan") for colour in colours]
    return [values[i : i + len(xs)] for i in range(0, len(values), len(xs))]


class Bench:
    """A page with one stepper."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_viewport_size({"width": 1040, "height": 768})
        self.seq, self.turn = "", 0

    def mount(self, view: Planted, *, dark: bool = False, width: int = 1000) -> None:
        variables = theme("dark" if dark else "light")
        self.page.set_content("<!doctype html><html><body><input id=elsewhere></body></html>")
        parts = {"pack": json.loads(assets.pack("stepper")), "frame": json.loads(assets.pack("frame"))}
        self.page.evaluate(MOUNT, {**parts, "variables": variables, "width": f"{width}px"})
        self.send(view)

    def send(self, view: Planted) -> None:
        """Do what the server does for a decoding; the same one starts no new turn."""
        self.page.evaluate("sent => { send(sent); }", self._sent(view))

    def press_and_send(self, key: str, view: Planted) -> None:
        """Press a key and send new data at the same moment, before the key's report is due."""
        script = """([key, sent]) => {
          document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
          send(sent);
        }"""
        self.page.evaluate(script, [key, self._sent(view)])

    def _sent(self, view: Planted) -> list[Any]:
        """The message and the data of the view."""
        decoding, place = view
        self.turn += decoding.seq != self.seq
        self.seq = decoding.seq
        start = dataclasses.asdict(Position(**vars(place)))
        data = {"seq": decoding.seq, "turn": self.turn, "start": start, "explains": False, "compact": False}
        return [base64.b64encode(encode(decoding)).decode(), data]

    def __call__(self, selector: str) -> Locator:
        return self.page.locator(f"#host {selector}")

    def text(self, selector: str) -> str:
        """The text on one line, without the control characters for its layout."""
        text = self(selector).inner_text().translate({0x2068: "", 0x2069: ""})
        return " ".join(text.split())

    def step(self) -> str:
        return self.text("output")

    def frame(self) -> None:
        """Wait until pending changes are painted."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.frame()

    def calls(self) -> list[dict[str, Any]]:
        """What the view has said; of a report, the place alone."""
        said = self.page.evaluate("() => calls")
        return [call | {"value": call["value"]["place"]} if call["name"] == "at" else call for call in said]

    def plot(self, kind: str) -> tuple[float, float, float, int, int]:
        """Where the cells of a heatmap are on its canvas: left, top, size, rows drawn, columns (CSS pixels)."""
        left, top, cell, rows, columns = self(f"figure.{kind} canvas").get_attribute("data-plot").split(",")
        return float(left), float(top), float(cell), int(rows), int(columns)

    def point(self, kind: str, query: int, key: int) -> dict[str, float]:
        """A point inside a cell, off its centre, where no number is written."""
        left, top, cell, *_ = self.plot(kind)
        return {"x": left + (key + 0.5) * cell, "y": top + (query + 0.2) * cell + 1}

    def colour(self, kind: str, query: int, key: int) -> tuple[int, ...]:
        """The colour at that point: red, green, blue, opacity."""
        return pixels(self(f"figure.{kind} canvas"), [self.point(kind, query, key)])[0]

    def painted(self, kind: str) -> list[list[float]]:
        """Every cell's lightness, 0 to 255, and NaN where nothing is painted [query, key]."""
        left, top, cell, _, columns = self.plot(kind)
        rows = round((self(f"figure.{kind} canvas").bounding_box()["height"] - top) / cell)
        xs, ys = [left + (k + 0.5) * cell for k in range(columns)], [top + (q + 0.2) * cell + 1 for q in range(rows)]
        return lightness(self(f"figure.{kind} canvas"), xs, ys)

    def written(self) -> list[list[Any]]:
        """Everything written on canvases since :meth:`listen`: [canvas kind, text, x, y]."""
        return json.loads(self.page.evaluate("() => JSON.stringify(window.written)"))

    def listen(self) -> None:
        """From now on, record the texts that the canvases write, with their positions."""
        self.page.evaluate(
            """() => {
          window.written = [];
          const fill = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            const place = this.getTransform().transformPoint({ x, y });
            const figure = this.canvas.closest("figure");
            window.written.push([figure?.className.split(" ")[0], text, place.x, place.y]);
            fill.call(this, text, x, y);
          };
        }"""
        )
