"""The views of one decoding alone in a page, mounted as by Streamlit, with a stand-in server that records messages."""

import base64
import dataclasses
import json
import tomllib
from typing import Any, Literal

from playwright.sync_api import Locator, Page

from explorer.browser import assets
from explorer.browser.payload import encode
from explorer.browser.structs import Position
from explorer.decoding.decoding import Decoding, place_in
from explorer.decoding.view_options import ViewOptions, format_view, parse_view
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of
from tests.browser import box_of
from tests.explorer.planted import planted_trace
from tests.paths import ROOT

Look = Literal["stepper", "heads", "cell"]
MOUNT = """async ({look, pack, frame, variables, width}) => {
  delete globalThis.__headlightModules; // a new page has no modules and no decodings
  document.body.style = `margin: 0; padding: 16px; background: ${variables["--st-background-color"]}`;
  const host = document.createElement("div");
  host.id = "host";
  host.style.width = width;
  for (const name in variables) host.style.setProperty(name, variables[name]);
  document.body.append(host);
  window.root = host.attachShadow({ mode: "open" });
  const wrap = document.createElement("div");
  const { html, css } = pack.looks[look];
  wrap.append(document.createRange().createContextualFragment(html));
  wrap.append(Object.assign(document.createElement("style"), { textContent: css }));
  root.append(wrap);
  for (const { script } of [pack, frame])
    await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const { [`${look}.js`]: views, "carrier.js": bring } = globalThis.__headlightModules;
  window.calls = [];
  const say = (name, value) => calls.push({ name, value: JSON.parse(JSON.stringify(value)) });
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  window.carry = (text) => bring.component({ data: bytes(text) });
  window.showMessage = (text) => {
    window.unmount = views.component({ data: bytes(text), parentElement: root, setTriggerValue: say });
  };
  window.show = (data) => {
    window.unmount = views.component({ data: [data], parentElement: root, setStateValue: say, setTriggerValue: say });
  };
}"""
LISTEN = """() => {
  window.written = [];
  const fill = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const place = this.getTransform().transformPoint({ x, y });
    const figure = this.canvas.closest("figure")?.className.split(" ")[0];
    const bold = /^(bold|700) /.test(this.font);
    window.written.push([figure, text.replace(/[\\u2068\\u2069]/g, ""), place.x, place.y, bold]);
    fill.call(this, text, x, y);
  };
}"""
NASTY = [
    "<img src=x onerror=alert(1)>",
    "</script>",
    "مرحبا",
    "日本語",
    "👩‍👩‍👧",
    "\u202eevil",
    "the",
    "the",
    "a" * 300,
    "<eos>",
]


def theme(name: str) -> dict[str, str]:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    colours = settings[name]
    return {
        "--st-background-color": colours["backgroundColor"],
        "--st-text-color": colours["textColor"],
        "--st-primary-color": colours["primaryColor"],
        "--st-font": settings["font"],
        "--st-chart-sequential-colors": ",".join(colours["chartSequentialColors"]),
    }


def ends_of_scale(dark: bool) -> list[tuple[int, ...]]:
    stops = theme("dark" if dark else "light")["--st-chart-sequential-colors"].split(",")
    return [tuple(bytes.fromhex(stop.strip(" #"))) for stop in (stops[0], stops[-1])]


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
    def __init__(self, page: Page, look: Look) -> None:
        self.page, self.look = page, look
        page.set_viewport_size({"width": 1040, "height": 768})
        self.seq, self.turn = "", 0

    def mount(
        self, trace: AttentionTrace | None = None, *, dark: bool = False, width: int = 1000, **changes: Any
    ) -> None:
        """Show a trace in a new page; all its kinds are delivered at once, unless `kinds` names fewer."""
        self.prepare(dark=dark, width=width)
        self.send(trace, **changes)

    def prepare(self, *, dark: bool = False, width: int = 1000) -> None:
        """Make a new page with the code of the view, which shows nothing yet."""
        self.page.set_content("<!doctype html><html><body><input id=elsewhere></body></html>")
        parts = {"pack": json.loads(assets.pack(self.look)), "frame": json.loads(assets.pack("frame"))}
        parts |= {"look": self.look, "variables": theme("dark" if dark else "light"), "width": f"{width}px"}
        self.page.evaluate(MOUNT, parts)
        self.seq = ""

    def show(self, message: bytes) -> None:
        """Do what the server does for a view that receives its own message."""
        self.page.evaluate("text => showMessage(text)", base64.b64encode(message).decode())
        self.frame()

    def send(self, trace: AttentionTrace | None = None, **changes: Any) -> None:
        """Do what the server does for a decoding; the same one starts no new turn."""
        text, data = self._message(trace or planted_trace(), **changes)
        self.page.evaluate("([text, data]) => { carry(text); show(data); }", [text, data])
        self.frame()

    def press_and_send(self, key: str, **changes: Any) -> None:
        """Press a key and send new data at the same moment, before the key's report is due."""
        script = """([key, text, data]) => {
          document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
          carry(text);
          show(data);
        }"""
        self.page.evaluate(script, [key, *self._message(planted_trace(), **changes)])
        self.frame()

    def carry(self, *kinds: AttentionKind) -> None:
        block = base64.b64encode(encode(self.decoding, kinds, with_header=False)).decode()
        self.page.evaluate("text => { carry(text); }", block)
        self.frame()

    def _message(
        self, trace: AttentionTrace, *, kinds: tuple[AttentionKind, ...] | None = None, view: str = "", **changes: Any
    ) -> tuple[str, dict[str, Any]]:
        """The message and the data of the view; a stepper opens at step 1 unless another one is named."""
        place: dict[str, Any] = {"step": 1} if self.look == "stepper" else {}
        place |= {name: changes.pop(name) for name in ("kind", "layer", "head", "step") if name in changes}
        own = {"seq": "first", "model": "planted", "path": tuple(int(i) for i in trace.top_ids[:, 0])}
        self.decoding = Decoding(trace, **(own | changes))
        self.turn += self.decoding.seq != self.seq
        self.seq = self.decoding.seq
        options = None if self.look == "stepper" and not view else parse_view(view or "heads")
        start = dataclasses.asdict(Position(**vars(place_in(trace, **place)), options=options))
        block = encode(self.decoding, kinds_of(trace) if kinds is None else kinds)
        data = {"seq": self.seq, "turn": self.turn, "start": start, "explains": False, "compact": False}
        return base64.b64encode(block).decode(), data

    def __call__(self, selector: str) -> Locator:
        return self.page.locator(f"#host {selector}")

    def text(self, selector: str) -> str:
        """The text on one line, with simple spaces and without the control characters for its layout."""
        return " ".join(self(selector).inner_text().translate({0x2068: "", 0x2069: ""}).split())

    def step(self) -> str:
        return self.text(".steps + output")

    def frame(self) -> None:
        """Wait until pending changes are painted."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.frame()

    def click(self, selector: str, **options: Any) -> None:
        self(selector).click(**options)
        self.frame()

    def hover(self, selector: str, **options: Any) -> None:
        self(selector).hover(**options)
        self.frame()

    def away(self) -> None:
        self.page.mouse.move(0, 0)
        self.frame()

    def choose(self, name: str, value: str) -> None:
        if not self(".panel").is_visible():
            self(".options").click()
        self(f"select[name={name}]").select_option(value)
        self.frame()

    def open_table(self) -> None:
        """Open the table; it is filled once the browser reports that it is open."""
        self("summary").click()
        self("tbody tr").first.wait_for()

    def calls(self) -> list[dict[str, Any]]:
        """What the view has said; of a report, the place alone, with the kinds that heads need."""
        return [self._placed(call) for call in self.page.evaluate("() => calls")]

    def _placed(self, call: dict[str, Any]) -> dict[str, Any]:
        if call["name"] != "at":
            return call
        value = call["value"]
        return call | {"value": value["place"] | ({"wanted": value["wanted"]} if self.look == "heads" else {})}

    def report(self) -> dict[str, Any]:
        """The last place that the view has reported, once the pause after the last move is over."""
        self.page.wait_for_timeout(400)
        *_, last = (call["value"] for call in self.calls() if call["name"] == "at")
        return dict(last)

    def reported_view(self) -> str:
        """The last report's options as the text in the address."""
        return format_view(ViewOptions(**self.report()["options"]))

    def plot(self, kind: str) -> tuple[float, float, float, int, int]:
        """Where the cells of a large map are on its canvas: left, top, size, rows drawn, columns (CSS pixels)."""
        left, top, cell, rows, columns = (self(f"figure.{kind} canvas").get_attribute("data-plot") or "").split(",")
        return float(left), float(top), float(cell), int(rows), int(columns)

    def point(self, kind: str, query: int, key: int) -> dict[str, float]:
        """A point inside a cell, off its centre, where no number is written."""
        left, top, cell, *_ = self.plot(kind)
        return {"x": left + (key + 0.5) * cell, "y": top + (query + 0.2) * cell + 1}

    def colour(self, kind: str, query: int, key: int) -> tuple[int, ...]:
        return pixels(self(f"figure.{kind} canvas"), [self.point(kind, query, key)])[0]

    def painted(self, kind: str) -> list[list[float]]:
        """Every cell's lightness, 0 to 255, and NaN where nothing is painted [query, key]."""
        left, top, cell, rows, columns = self.plot(kind)
        if self.look == "stepper":  # the canvas has room for the rows of later steps
            rows = round((box_of(self(f"figure.{kind} canvas"))["height"] - top) / cell)
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
        room, canvas = box_of(self(f"{tile} i")), box_of(picture)
        return picture, (room["x"] - canvas["x"], room["y"] - canvas["y"], room["width"], room["height"])

    def listen(self) -> None:
        """From now on, record the texts that the large maps write, with their positions on the canvas."""
        self.page.evaluate(LISTEN)

    def written(self, kind: str) -> dict[str, tuple[float, float]]:
        texts = self.page.evaluate("() => window.written")
        return {text: (x, y) for figure, text, x, y, _ in texts if figure == kind}

    def bold(self, kind: str) -> set[str]:
        """The texts that the map of a kind wrote in bold, since `listen`."""
        texts = self.page.evaluate("() => window.written")
        return {text for figure, text, _, _, bold in texts if bold and figure == kind}

    def narrow(self, width: int) -> None:
        self.page.set_viewport_size({"width": width + 32, "height": 768})

    def fits(self) -> bool:
        return bool(self.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))
