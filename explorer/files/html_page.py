"""One HTML file with figure, caption and numbers that needs no network and runs no script."""

from __future__ import annotations

import html
import re

from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.shown_maps import ShownMaps
from explorer.files.tables import mask_word
from model.trace import VISIBLE

MAX_TABLE_CELLS = 20_000  # more would make a page of several megabytes; the CSV file holds them all

STYLE = """
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;color:#1d2733;background:#fff;
margin:2rem auto;max-width:72rem;padding:0 1rem}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}
svg{max-width:100%;height:auto}figure{margin:1rem 0}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
th,td{border:1px solid #d7dde3;padding:2px 6px;text-align:right}th{background:#f3f5f7;font-weight:600}
th[scope=row]{text-align:left}td.masked{background:#ececec;color:#56606a}
pre{background:#f3f5f7;padding:.75rem;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
"""
# Nothing may be loaded and no script may run, whatever the tokens contain.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page_bytes(shown: ShownMaps, svg: bytes, manifest: str) -> bytes:
    """The page: title, figure as inline SVG, caption, tables of the numbers, and the manifest as text.

    Numbers are the shortest decimals that read back as the same float32; masked cells say why they are empty.
    """
    cells = sum(one.values.size for one in shown.maps)
    if cells <= MAX_TABLE_CELLS:
        tables = "\n".join(_table(one, remark) for one, remark in zip(shown.maps, shown.notes, strict=True))
    else:
        tables = f"<p>{cells:,} numbers are too many for a page; the CSV and NPZ files hold them.</p>"
    facts = "".join(f"<p>{html.escape(fact)}</p>" for fact in shown.facts)
    body = f"""<h1>{html.escape(shown.title)}</h1>
{facts}
<figure aria-label="{html.escape(shown.title)}">
{inline(svg)}<figcaption>{html.escape(shown.caption)}</figcaption>
</figure>
<p>Attention weights show where information was read from in one layer. They do not say why the model decided so.</p>
<h2>The numbers</h2>
{tables}
{_reopening(manifest)}"""
    return document(shown.title, body)


def document(
    title: str, body: str, *, language: str = "en", style: str = STYLE, policy: str = _POLICY, theme: str = ""
) -> bytes:
    """A whole HTML file around `body`, whose text must be escaped already; by default nothing in it may load or run."""
    chosen = f' data-theme="{theme}"' if theme else ""
    return f"""<!DOCTYPE html>
<html lang="{html.escape(language)}"{chosen}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{html.escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
""".encode()


def _reopening(manifest: str) -> str:
    if not manifest:
        return ""
    return (
        "<h2>How to open this view again</h2>\n<p>Save the following as a .json file and upload it on the Attention "
        f"page, under Export.</p>\n<pre>{html.escape(manifest)}</pre>"
    )


def inline(svg: bytes) -> str:
    """An SVG file as an element of a page: without prolog, document type and metadata."""
    text = svg.decode("utf-8")
    text = text[text.index("<svg") :]
    return re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)


def _table(one: LabelledMap, remark: str) -> str:
    columns = "".join(f'<th scope="col"><bdi>{html.escape(label)}</bdi></th>' for label in one.column_labels)
    predicts = '<th scope="col">predicts</th>' if one.predicted else ""
    rows = []
    for query, label in enumerate(one.row_labels):
        cells = "".join(_cell(one, query, key) for key in range(len(one.columns)))
        predicted = f"<td><bdi>{html.escape(one.predicted[query])}</bdi></td>" if one.predicted else ""
        rows.append(f'<tr><th scope="row"><bdi>{html.escape(label)}</bdi></th>{predicted}{cells}</tr>')
    title = html.escape(f"{one.title}. {remark}" if remark else one.title)
    corner = html.escape(f"{one.row_title} \\ {one.column_title}")
    return (
        f'<div class="wide"><table><caption>{title}</caption><thead><tr><th scope="col">{corner}</th>{predicts}'
        f"{columns}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(one: LabelledMap, query: int, key: int) -> str:
    code = int(one.mask[query, key])
    if code != VISIBLE:
        return f'<td class="masked">{mask_word(code)}</td>'
    return f"<td>{one.values[query, key]!s}</td>"
