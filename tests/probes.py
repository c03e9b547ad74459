"""Injection probes: text that would run, load or draw something if taken for markup, and folders full of it."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np

from explorer.runs.process import LAUNCHES
from model.folder import CARD, CONFIG, PROBE, TOKENIZER
from tests.explorer.toy_runs import LINES, eval_line, save_run, write_metrics, write_status

MARK = "injected"  # the class of every element that a probe would create
HOST = "headlight.example"  # no such host: a request to it is noticed and reaches nobody
# Without spaces, so that a probe stays one token where text is split at spaces.
PROBES = (
    f"<img/class='{MARK}'/src='x'/onerror='alert(1)'>",
    f"</script><script/class='{MARK}'>alert(2)</script>",
    f"<svg/class='{MARK}'/onload='alert(3)'>",
    f"<a/class='{MARK}'/href='javascript:alert(4)'>x</a>",
    f"![x](http://{HOST}/x.png)",
    "[x](javascript:alert(5))",
    "$\\href{javascript:alert(6)}{x}$",
    f"<style/class='{MARK}'>@import'http://{HOST}/x.css'</style>",
    f"<iframe/class='{MARK}'/src='//{HOST}'></iframe>",
    f"<b/class='{MARK}'/onmouseover='alert(7)'>:red[x]**y**`z`</b>",
    f"\"'><img/class='{MARK}'/src='http://{HOST}/y.png'>",
    "{{constructor.constructor('alert(8)')()}}",
    f"http://{HOST}/{MARK}",
)
FILE_NAME = f"<img class={MARK} src=x onerror=alert(9)>"
_LESSON = """+++
title = {everything}
about = {everything}
minutes = 5
model = "hostile"
text = {everything}
language = "en"
+++

## {title}

{code}

[one][1] and [two][2]

[1]: java&#115;cript:alert(10)
[2]: data&colon;text/html,&lt;script&gt;alert(11)&lt;/script&gt;

Open: attention?kind=cross&layer=1&head=1
Do: {code}
Ask: {code}
{choices}
Check: largest
Right: {code} {{answer}}
Wrong: {code}
Claim: translation == no
Needs: hostile
"""


def sentence(start: int = 0) -> str:
    """All probes in one line, beginning with number `start`."""
    return " ".join((*PROBES[start:], *PROBES[:start]))


def save_hostile(checkpoints: Path, name: str = "hostile") -> Path:
    """Write a failed run whose tokens, title, card, samples, error, command and watched sentence are probes.

    Beside it: a model that cannot be opened, with a probe in the reason, and a folder whose name is a probe.
    """
    folder = save_run(checkpoints / name, "adjective-swap", state="failed")
    tokens = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
    for side in ("source", "target"):
        tokens[side] |= {"kind": "whitespace", "lowercase": False}
        n = len(tokens[side]["pieces"])  # whatever the model predicts is a probe
        tokens[side]["pieces"] = [f" {PROBES[i % len(PROBES)]}{i if i >= len(PROBES) else ''}" for i in range(n)]
    (folder / TOKENIZER).write_text(json.dumps(tokens), encoding="utf-8")
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    config["data"] |= {"tokenizer": "whitespace", "lowercase": False}
    config["title"] = sentence()
    config["preset"] = PROBES[0]
    config["runtime"] = {"device": PROBES[1], "precision": PROBES[2], "torch_version": PROBES[3]}
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    (folder / CARD).write_text(f"# {sentence()}\n\n{sentence(3)}\n", encoding="utf-8")
    samples = [{"source": probe, "target": probe, "prediction": probe} for probe in PROBES]
    write_metrics(folder, (*LINES, eval_line(31, 1.0, 0.5, samples=samples)))
    write_status(folder, "failed", error=sentence())
    (folder / PROBE).write_text(json.dumps({"source": sentence(5)}), encoding="utf-8")
    (checkpoints / LAUNCHES).mkdir(exist_ok=True)
    launch = {"pid": 1, "started": 1.0, "arguments": ["python", *PROBES]}
    for owner in (name, "ghost"):
        (checkpoints / LAUNCHES / f"{owner}.json").write_text(json.dumps(launch), encoding="utf-8")
    for broken in ("broken", FILE_NAME):
        (checkpoints / broken).mkdir()
        (checkpoints / broken / CONFIG).write_text(json.dumps({"format_version": sentence()}), encoding="utf-8")
    return folder


def save_lessons(folder: Path) -> Path:
    """Write lessons full of probes: one valid, one refused, and one whose file name is a probe."""
    folder.mkdir()
    whole = _LESSON.format(
        everything=json.dumps(sentence()),
        title=PROBES[0],
        code=" ".join(f"`{probe}`" for probe in PROBES if "`" not in probe),
        choices=f"- `{PROBES[0]}` :: tokens side=target\n- `{PROBES[2]}` :: tokens side=source",
    )
    (folder / "hostile.md").write_text(whole, encoding="utf-8")
    (folder / "refused.md").write_text(whole.replace("[one]", PROBES[0]), encoding="utf-8")
    (folder / f"{FILE_NAME}.md").write_text(whole, encoding="utf-8")
    return folder


def attention_file(kind: str) -> bytes:
    """An attention file, "npz" or "json", whose tokens are probes; for any other kind, a file that is refused."""
    n = len(PROBES)
    weights = np.full((1, 2, n, n), 1 / n)
    made = io.BytesIO()
    if kind == "npz":
        np.savez(made, encoder=weights, src_tokens=np.array(PROBES))
        return made.getvalue()
    values = weights.tolist() if kind == "json" else PROBES[0]
    return json.dumps({"encoder": values, "src_tokens": PROBES}).encode()


def zip_file() -> bytes:
    """A zip file that holds no model; the names in it are probes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for probe in PROBES:
            archive.writestr(f"x/{probe.replace('/', ' ')}", "x")
    return made.getvalue()


def pairs_file() -> bytes:
    """Sentence pairs in three columns, all of them probes, the heads of the columns too."""
    rows = [PROBES[:3], *((one, other, one) for one, other in zip(PROBES, reversed(PROBES), strict=True))]
    return "\n".join("\t".join(row) for row in rows).encode()
