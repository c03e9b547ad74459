"""The roles of all heads as one picture, a file that needs nothing else."""

from __future__ import annotations

from html import escape

from explorer.decoding.names import KIND_TITLES, short_head, short_layer
from explorer.locale.text import shortened
from explorer.probing.measurement import Probe
from explorer.probing.tables import roles, summary
from model.config import ATTENTION_KINDS

_WIDE, _HIGH, _SIDE, _TOP = 150, 46, 46, 28
_LETTER = 6.6  # of the summary, in pixels
_LINE = 22  # letters of a role that fit on a line


def role_map_svg(probe: Probe, model: str, about: str) -> str:
    """An SVG with a table of layer × head for each kind: the letters and the name of each head's role."""
    known, parts, y = roles(probe), [], 62
    widest = max(item.n_heads for item in probe.kinds.values())
    for kind in ATTENTION_KINDS:
        measured = probe.kinds[kind]
        parts.append(_text(10, y, KIND_TITLES[kind], bold=True))
        for head in range(measured.n_heads):
            parts.append(_text(_SIDE + head * _WIDE + 6, y + 20, short_head(head + 1)))
        y += _TOP
        for layer in range(measured.n_layers):
            parts.append(_text(10, y + _HIGH / 2 + 4, short_layer(layer + 1)))
            for head in range(measured.n_heads):
                role, left = known[kind, layer, head], _SIDE + head * _WIDE
                style = 'fill="#dcebf2" stroke="#2a6da3"' if role.clear else 'fill="#fff" stroke="#b8c2cc"'
                parts.append(f'<rect x="{left}" y="{y}" width="{_WIDE - 6}" height="{_HIGH - 6}" {style}/>')
                lines = [role.letters, role.name] if role.clear else [role.name]
                for nth, line in enumerate(lines):
                    short = shortened(line, _LINE)
                    parts.append(_text(left + 6, y + 16 + 16 * nth, short, bold=role.clear and nth == 0))
            y += _HIGH
        y += 24
    width = max(_SIDE + widest * _WIDE, round(_LETTER * len(summary(probe)))) + 10
    title = f"The heads of {model}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" viewBox="0 0 {width} {y}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="#1d2733"><title>{escape(title)}</title>'
        f"<desc>{escape(summary(probe))} Measured on {escape(about)}.</desc>"
        f'<rect width="{width}" height="{y}" fill="#fff"/>{_text(10, 22, title, bold=True)}'
        f"{_text(10, 40, summary(probe))}{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}"{weight}>{escape(text)}</text>'
