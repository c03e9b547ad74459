"""Injection probes as tokens, sentences, names, labels, files and parameters on every page: shown as text.

Streamlit renders texts and labels as Markdown, and Plotly a few tags: a probe that is found there as it was given has
not been escaped. tests/e2e/test_component_maps.py has the views of the browser, tests/test_boundaries.py the code.
"""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Widget

from explorer.probing.sample import SampleChoice, to_link
from explorer.runs.process import LAUNCHES
from explorer.screens.lessons import running_models
from explorer.web import runtime
from model.folder import CARD, CONFIG, PROBE, TOKENIZER
from tests.explorer.toy_runs import LINES, eval_line, save_run, write_metrics, write_status
from tests.pages.page import PAGES, VISITS, choose, press, run, visit
from tests.pages.test_languages import strings
from tests.pages.test_train_data import upload

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


# A sample of three sentences, so that the Probe page is measured quickly.
SAMPLE = to_link(SampleChoice("own", tuple(f"{sentence(i)}\t{sentence(i + 1)}" for i in range(3))))
HOSTILE = {"model": "hostile", "text": sentence(), "run": "hostile", "entry": "hostile", "sample": SAMPLE}
# Parameters that pages read themselves; Streamlit handles the names of widgets in the address.
PARAMETERS = (
    *("model", "text", "path", "step", "kind", "layer", "head", "view", "panel", "cell", "other", "run", "entry"),
    *("edit", "lesson", "at", "done", "present", "experiment", "operation"),
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    save_lessons(folder / "lessons")
    save_hostile(folder)
    return folder


@pytest.fixture(autouse=True)
def _hostile(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", hostile)
    monkeypatch.setattr(running_models, "FOLDER", hostile / "lessons")


def rendered(at: AppTest) -> Iterator[str]:
    """What Streamlit renders as Markdown, and the texts of figures, where Plotly renders tags."""
    for element in (*at.sidebar, *at.main):
        if element.type not in ("code", "json", "text"):
            # What stands in a field or a list of choices is shown as it is.
            own = [] if isinstance(element, Widget) else [getattr(element, "value", None)]
            found = [*own, getattr(element, "label", None), getattr(element, "help", None)]
            yield from (text for text in found if isinstance(text, str))
            if element.type in ("radio", "button_group"):
                yield from map(str, element.options)
    for plot in at.get("plotly_chart"):
        yield from (text for text in strings(json.loads(plot.proto.spec)) if "<" in text)


def assert_only_text(at: AppTest, where: str) -> None:
    assert not at.exception
    found = [(probe, text) for text in rendered(at) for probe in (*PROBES, FILE_NAME) if probe in text]
    assert found == [], where


@pytest.mark.parametrize("page", PAGES)
def test_tokens_sentences_names_and_parameters(page: str) -> None:
    for query in VISITS[page]:
        at = visit(page, **query | HOSTILE)
        assert_only_text(at, str(query))
        if page not in ("own", "experiments"):  # which name no model and no sentence
            assert any(MARK in text for text in (*rendered(at), str(at.sidebar), str(at.main))), "no probe is there"
    given = {name: PROBES[i % len(PROBES)] for i, name in enumerate(PARAMETERS)} | {"sample": SAMPLE}
    assert_only_text(visit(page, **given), "parameters")


@pytest.mark.parametrize("kind", ["npz", "refused"])
def test_tokens_and_name_of_attention_files(kind: str) -> None:
    at = visit("own", model="hostile", text="I read")
    name = f"{FILE_NAME}.{'npz' if kind == 'npz' else 'json'}"
    at.file_uploader(key="own_file").upload(name, attention_file(kind), "application/octet-stream").run()
    assert_only_text(at, kind)
    assert bool(at.error) == (kind == "refused")


def test_pairs_of_ones_own_and_a_typed_name() -> None:
    at = visit("train", train_task="files")
    upload(at, f"{FILE_NAME}.tsv", pairs_file())
    assert_only_text(choose(at, train_name=PROBES[0]), "train")


def test_names_in_a_zip_file() -> None:
    at = visit("runs", entry="hostile")
    at.get("file_uploader")[0].set_value((f"{FILE_NAME}.zip", zip_file(), "application/zip"))
    assert press(run(at), "Import").error
    assert_only_text(at, "runs")
