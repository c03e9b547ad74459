"""The drawing in docs/architecture.md, as an SVG that also reads on a dark page."""

from __future__ import annotations

from html import escape

from tests.paths import ROOT

ARCHITECTURE = ROOT / "docs" / "images" / "architecture.svg"

WIDTH, HEIGHT = 980, 540
INK, FAINT, PAPER, ACCENT, SOURCE, TARGET = "#1d2733", "#5b6875", "#ffffff", "#0f5e7d", "#7d3c98", "#b5530c"

Box = tuple[int, int, int, int]  # x, y, width, height

SENTENCE: Box = (20, 50, 120, 70)
TOKENIZER: Box = (175, 50, 105, 70)
MODEL: Box = (315, 30, 240, 110)
TAP: Box = (590, 50, 135, 70)
DECODING: Box = (760, 30, 200, 110)
WIRE: Box = (760, 210, 200, 70)
SERVER: Box = (525, 192, 200, 50)
RECORDED: Box = (525, 250, 200, 50)
LIVE: Box = (525, 308, 200, 50)
STORE: Box = (310, 205, 180, 85)
VIEWS: Box = (20, 205, 255, 85)
ROOMS = (
    (("app.py", "pages/"), 110),
    (("explorer/", "screens/"), 120),
    (("web/  browser/", "charts/  files/"), 165),
    (("decoding/  probing/", "runs/  lessons/"), 200),
    (("model/", "transformer, training, …"), 205),
)


def architecture() -> str:
    """The way of a sentence to the screen, and below it the direction of imports."""
    parts = [
        _box(SENTENCE, SOURCE, "sentence", "what you type"),
        _box(TOKENIZER, INK, "tokenizer", "model/text/"),
        _box(
            MODEL, ACCENT, "Transformer", "encoder, decoder, cross-attention", "each intermediate has a name", "model/"
        ),
        _box(TAP, TARGET, "tap", "records or edits", "model/tap.py"),
        _box(
            DECODING, ACCENT, "one decoding", "tokens, weights, masks,", "probabilities, choices", "explorer/decoding/"
        ),
        _arrow((140, 85), (175, 85)),
        _arrow((280, 85), (315, 85)),
        _arrow((555, 85), (590, 85), both=True),
        _arrow((725, 85), (760, 85)),
        _arrow((860, 140), (860, 210)),
        _text(848, 172, "also to files and notebooks", FAINT, anchor="end"),
        _box(WIRE, INK, "one wire form", "JSON header, raw arrays"),
        _box(SERVER, TARGET, "source: the server", "in the app, by Streamlit"),
        _box(RECORDED, TARGET, "source: a recording", "in a page that steps"),
        _box(LIVE, TARGET, "source: a worker", "the model in the browser"),
        _arrow((760, 235), (725, 220)),
        _arrow((760, 255), (725, 272)),
        _arrow((525, 217), (490, 232)),
        _arrow((525, 274), (490, 252)),
        _arrow((525, 328), (490, 275)),
        _box(STORE, ACCENT, "store in the browser", "decodings, one place", "explorer/browser/js/"),
        _arrow((310, 247), (275, 247)),
        _box(VIEWS, SOURCE, "views", "steps, all heads, one head, lines,", "shaded sentence, the machine"),
        _text(20, 395, "Imports point this way", INK, weight="600"),
        *_rooms(),
        _text(20, 520, "model/ never imports explorer/. Only screens/, web/ and browser/ use Streamlit.", FAINT),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif" font-size="13">\n'
        "<title>From a sentence to the screen</title>\n"
        '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto-start-reverse">'
        f'<path d="M0 0L8 4L0 8z" fill="{FAINT}"/></marker></defs>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{PAPER}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _rooms() -> list[str]:
    parts, x = [], 20
    for i, (lines, width) in enumerate(ROOMS):
        parts.append(_box((x, 415, width, 70), INK, *lines))
        if i:
            parts.append(_arrow((x - 35, 450), (x, 450)))
        x += width + 35
    return parts


def _box(box: Box, colour: str, title: str, *lines: str) -> str:
    """A box with a title and lines below it, all centred."""
    x, y, width, height = box
    middle, top = x + width // 2, y + (height - 18 * (1 + len(lines))) // 2 + 14
    texts = [_text(middle, top, title, colour, weight="600", anchor="middle")]
    texts += [_text(middle, top + 18 * n, line, FAINT, anchor="middle") for n, line in enumerate(lines, 1)]
    at = f'x="{x}" y="{y}" width="{width}" height="{height}" rx="6"'
    frame = f'<rect {at} fill="{PAPER}" stroke="{colour}" stroke-width="1.5"/>'
    return "\n".join([frame, *texts])


def _text(x: int, y: int, text: str, colour: str, *, weight: str = "400", anchor: str = "start") -> str:
    style = f'fill="{colour}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>'


def _arrow(start: tuple[int, int], end: tuple[int, int], *, both: bool = False) -> str:
    (x1, y1), (x2, y2) = start, end
    tips = 'marker-start="url(#end)" marker-end="url(#end)"' if both else 'marker-end="url(#end)"'
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{FAINT}" stroke-width="1.5" {tips}/>'
