"""Pages that compute their models: complete, addressed by content, closed to other hosts, and refused with a reason."""

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from explorer.files import live_site
from explorer.files.live_site import PAGES, LiveModel, estimated_size, live_model, single_page, site_pages
from explorer.site.command import main
from model.checkpoint import snapshot_path
from model.commands import CommandError
from model.folder import CheckpointError, find_model
from model.importing.import_folder import import_folder
from model.user_error import UserError
from tests.explorer.files.unpacked import header_of, parts_of
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import eval_line, write_metrics, write_snapshots
from tests.model.importing import family_peers, peer
from tests.paths import CHECKPOINTS

LSTM = {"architecture": "lstm", "positions": "none", "n_encoder_heads": 1, "n_decoder_heads": 1}
HOSTILE = "</script><script>alert(1)</script>\u202e"
DOCUMENTS = {"index.html": "", "attention/index.html": "../", "inside/index.html": "../"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Toys: letters, words, an LSTM, and one whose validation sentences are hostile."""
    folder = tmp_path_factory.mktemp("models")
    for name, task, sizes in (
        ("letters", "reverse", {}),
        ("words", "adjective-swap", {}),
        ("lstm", "reverse", LSTM),
        ("hostile", "reverse", {}),
    ):
        save_toy(folder / name, task, **sizes)
    write_snapshots(folder / "words", (0, 3, 5, 9))
    change(folder / "hostile" / "config.json", lambda config: config["data"].update(task="files"))
    write_metrics(folder / "hostile", [eval_line(1, 1.0, 0.0, samples=[{**SAMPLE, "source": HOSTILE}])])
    return folder


SAMPLE = {"source": "a", "target": "b", "prediction": "c"}


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(path.read_text(encoding="utf-8"))
    edit(values)
    path.write_text(json.dumps(values), encoding="utf-8")


@pytest.fixture(scope="module")
def files(models: Path) -> dict[str, bytes]:
    return in_english([live_model(models / name) for name in ("letters", "words", "hostile")])


def in_english(models: list[LiveModel]) -> dict[str, bytes]:
    return site_pages({"en": (models, ())})


def header(files: Mapping[str, bytes], name: str) -> tuple[str, dict[str, Any]]:
    """The address of the program and the header of a document of a folder, with what its first language adds."""
    ((program, text),) = re.findall(r'id="site" data-program="([^"]*)">(.*?)</script>', files[name].decode())
    given = json.loads(text)
    return program, given | json.loads(files[given["languages"][0]["address"]])


def test_every_address_in_every_header_exists_with_its_size_and_hash(files: dict[str, bytes]) -> None:
    named = {*DOCUMENTS, "service-worker.js"}
    for name, root in DOCUMENTS.items():
        program, given = header(files, name)
        assert (given["root"], given["page"]) == (root, name.removesuffix("index.html").strip("/") or "translate")
        assert posixpath.normpath(posixpath.join(posixpath.dirname(name), program)) in files
        named |= {program.removeprefix(root), *(each["address"] for each in given["languages"])}
        named |= {*given["attention"], *given["more"]}
        for model in given["models"]:
            for file in (
                *model["files"].values(),
                *model["rules"].values(),
                model["machine"],
                *model["earlier"].values(),
            ):
                content = files[file["address"]]
                assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
                named.add(file["address"])
    assert set(files) == named
    for address in named - {*DOCUMENTS, "service-worker.js"}:
        assert hashlib.sha256(files[address]).hexdigest()[:10] in address
    assert [len(model["rules"]) for model in given["models"]] == [0, 1, 0]
    earlier = [(list(model["earlier"]), model["steps"]) for model in given["models"]]
    assert earlier == [([], 0), (["0", "3", "5"], 9), ([], 0)], "the last snapshot is the model itself"


def test_weights_of_earlier_steps_stay_within_their_room_and_out_of_a_single_page(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = snapshot_path(models / "words", 0).stat().st_size
    for room, steps in ((2.5, ["0", "5"]), (1.5, ["0"]), (0.5, ["0"])):
        monkeypatch.setattr(live_site, "MOST_EARLIER", int(room * size))
        model = live_model(models / "words")
        assert list(model.card.earlier) == steps
    monkeypatch.undo()
    _, given, files = parts_of(single_page([live_model(models / "words")], {}).decode())
    assert given["models"][0]["earlier"] == {}
    assert not [name for name in files if "step-" in name]


def test_the_service_worker_knows_every_file(files: dict[str, bytes]) -> None:
    text = files["service-worker.js"].decode()
    first, hashed = (json.loads(found) for found in re.findall(r"^const \w+ = (\[.*\]);", text, re.MULTILINE))
    program = {address for address in files if address.startswith("code/")}
    assert {*first} == {"./", "attention/", "inside/", *program}
    assert {*hashed} == {*files} - {*DOCUMENTS, "service-worker.js"}
    assert "%" not in text


def test_each_part_of_the_program_is_one_script_that_takes_what_the_first_has(files: dict[str, bytes]) -> None:
    parts = {address.split("/")[1][:4]: json.loads(files[address]) for address in files if address.startswith("code/")}
    site, attention, more = parts["site"], parts["atte"], parts["more"]
    for script, exports in (
        (site["script"], ['export default modules["site.js"].start;']),
        (site["worker"], []),
        (attention["script"], ['export default modules["desk_attention.js"];']),
        (more["script"], ['export default modules["desk_more.js"];']),
    ):
        assert re.findall(r"(?:^|[;}])\s*((?:import|export) [^;]*;)", script) == exports
        assert "importScripts" not in script
        # The page imports one script: a later part of its program, which it was given the bytes of.
        assert len(re.findall(r"\bimport\(", script)) == (script == site["script"])
    for later in (attention, more):
        taken, made = (re.findall(rf'= modules\["([^"]+)"\]{end}', later["script"]) for end in (";", r" \?\?="))
        assert {*taken} <= {*re.findall(r'= modules\["([^"]+)"\] \?\?=', site["script"])}
        assert not {*taken} & {*made}
    for name in ("mountMachine", "showCell", "mountHeads", "tour", "createLiveEngine", "put"):
        assert sum(f"function {name}(" in part["script"] for part in (site, attention, more)) == 1, name


@pytest.mark.parametrize("document", ["inside/index.html", "one file"])
def test_the_policy_allows_the_boot_script_and_what_it_starts(
    models: Path, files: dict[str, bytes], document: str
) -> None:
    single = document == "one file"
    html = (single_page([live_model(models / "words")], {"text": HOSTILE}) if single else files[document]).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    (boot,) = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(boot.encode()).digest()).decode()
    assert dict(part.split(" ", 1) for part in policy.split("; ")) == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "script-src": f"'sha256-{digest}' blob: 'wasm-unsafe-eval'",
        **({"worker-src": "blob:"} if single else {"connect-src": "'self'", "worker-src": "'self' blob:"}),
    }
    assert html.index("Content-Security-Policy") < html.index("<style>") < html.index("<script")
    assert re.findall(r"<script type=\"([^\"]*)\"", html) == ["text/plain" if single else "application/json", "module"]
    assert html.count("<script") == 2


def test_what_somebody_else_wrote_is_text(models: Path, files: dict[str, bytes]) -> None:
    for name in DOCUMENTS:
        (found,) = (model for model in header(files, name)[1]["models"] if model["name"] == "hostile")
        assert [example["source"] for example in found["examples"]] == [HOSTILE]
    page = single_page([live_model(models / "hostile")], {"model": "hostile", "text": HOSTILE}).decode()
    assert header_of(page)["query"] == {"model": "hostile", "text": HOSTILE}
    assert header_of(page)["models"][0]["examples"][0]["source"] == HOSTILE


def test_no_other_host_is_named_in_any_file() -> None:
    everything = in_english([live_model(CHECKPOINTS / name) for name in ("reverse", "adjective-swap")])
    for address, content in everything.items():
        if not address.endswith(".safetensors"):
            loads = r"""(?:https?:)?//(?!www\.w3\.org/)[\w-]+(?:\.[\w-]+)+[^\s"'\\]*"""
            rules = address.startswith("models/words-")  # spaCy's patterns and exceptions have pieces of addresses
            assert rules or re.findall(loads, content.decode()) == [], address


def as_bf16(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    save_file({name: tensor.bfloat16() for name, tensor in weights.items()}, folder / "model.safetensors")


def spoken(lang: str) -> Callable[[Path], None]:
    """A change of the language that the source is in."""
    return lambda folder: change(folder / "tokenizer.json", lambda stored: stored["source"].update(lang=lang))


REFUSED: dict[str, tuple[dict[str, Any], Callable[[Path], object], type[UserError], str]] = {
    "lstm": (LSTM, lambda _: None, live_site.NotLive, "toy is an LSTM, which is not computed in the browser."),
    "bf16": ({}, as_bf16, live_site.NotLive, "toy stores its weights as BF16, which the browser does not read."),
    "french": ({}, spoken("fr"), live_site.NotLive, "toy splits words by rules .* patterns that ignore case"),
    "chinese": ({}, spoken("zh"), live_site.NotLive, "toy splits words by rules .* split by a program"),
    "cut off": ({}, lambda folder: (folder / "model.safetensors").write_bytes(b"x"), CheckpointError, "cut off"),
    "no words": ({}, lambda folder: (folder / "tokenizer.json").write_text("{}"), CheckpointError, "tokenizer.json"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("function", [live_model, estimated_size])
def test_what_the_browser_cannot_compute_is_refused_with_the_reason(
    tmp_path: Path, case: str, function: Callable[[Path], object]
) -> None:
    sizes, harm, error, says = REFUSED[case]
    save_toy(tmp_path / "toy", "adjective-swap", **sizes)
    harm(tmp_path / "toy")
    with pytest.raises(error, match=says):
        function(tmp_path / "toy")


def test_models_of_other_kinds_and_sizes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import_folder(peer.standard(), tmp_path / "marian")
    with pytest.raises(live_site.NotLive, match="marian has tokens of the kind sentencepiece"):
        live_model(tmp_path / "marian")
    import_folder(family_peers.save("t5", tmp_path / "theirs"), tmp_path / "t5")
    with pytest.raises(live_site.NotLive, match=r"t5 has layer_norm=rms, .*positions=relative, which is not computed"):
        live_model(tmp_path / "t5")
    monkeypatch.setattr(live_site, "MOST_WEIGHTS", 400_000)
    with pytest.raises(live_site.NotLive, match=r"reverse has 0\.5 MB of weights; a browser is given 0\.4 MB at most"):
        live_model(find_model(CHECKPOINTS, "reverse"))


# The command line


def run(models: Path, *given: str | Path) -> int:
    return main([*map(str, given), "--checkpoints", str(models)])


def test_recordings_stand_beside_the_pages_that_compute_in_each_language(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, order = tmp_path / "site", ("lstm", "words")
    assert run(models, out, *(f"--model={name}" for name in order), "--examples", "1") == 0
    said = capsys.readouterr().out
    assert "lstm is an LSTM, which is not computed in the browser. Its examples are recordings." in said
    assert re.search(r"1 model and 3 recorded pages, [\d.]+ MB\. Put .* on a web server\.", said)
    for name in order:
        assert len(header_of((out / "examples" / f"{name}-1.html").read_text(encoding="utf-8"))["recordings"]) >= 1
        assert f'content="0; url=examples/{name}-1.html"' in (out / f"{name}-1.html").read_text(encoding="utf-8")
    for folder, back in (("examples", "../"), ("examples/de", "../../?lang=de")):
        assert f'href="{back}"' in (out / folder / "index.html").read_text(encoding="utf-8")
    # In German, what is computed opens there; what is not has a recording of its own.
    listed = (out / "examples" / "de" / "index.html").read_text(encoding="utf-8")
    assert 'href="../../?lang=de&amp;model=words&amp;text=' in listed
    assert {path.name for path in (out / "examples" / "de").iterdir()} == {"index.html", "lstm-1.html"}
    written = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    given = header(written, "index.html")[1]
    assert [model["name"] for model in given["models"]] == ["words"]
    assert [(each["code"], each["name"]) for each in given["languages"]] == [("en", "English"), ("de", "Deutsch")]
    german = json.loads(written[given["languages"][1]["address"]])
    assert german["words"]["messages"]["Recorded examples"] == "Aufgezeichnete Beispiele"
    machine, more = (json.loads(written[address]) for address in german["more"])
    assert "script" in machine
    assert more["words"]["language"] == "de"
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"code", "models", "examples", *PAGES[1:3]}


@pytest.mark.parametrize(
    ("given", "live", "says"),
    [
        (["--model=words", "I read"], True, ""),
        (["--model=lstm", "abc"], False, "lstm is an LSTM, which is not computed in the browser. The page has a "),
    ],
)
def test_one_page_has_its_model_or_a_recording(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], live: bool, says: str
) -> None:
    out = tmp_path / "page.html"
    assert run(models, out, *given) == 0
    assert says in capsys.readouterr().out
    found = header_of(out.read_text(encoding="utf-8"))
    assert ("models" in found, "recordings" in found) == (live, not live)
    if live:
        assert found["query"] == {"text": "I read"}
    with pytest.raises(CommandError, match=r"exists already.*--overwrite"):
        run(models, out, *given)
    assert run(models, out, *given, "--overwrite") == 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["page.html", "--model=words", ""], "A sentence is empty"),
        (["page.html", "--model=words", "a", "--examples=2"], "--examples counts a model's own sentences"),
        (["page.html"], "One page shows one sentence of one model"),
        (["page.html", "a", "b", "--model=words"], "One page shows one sentence"),
        (["site", "--examples=-1"], "--examples is a number from 0, not -1"),
        (["site", "--forks", "99"], "--forks is a number from 0 to 12"),
        (["site", "--checkpoints", "/nowhere-at-all"], "There is no trained model in /nowhere-at-all"),
        (["site", "--model=words", "--model=nobody"], "there is no model 'nobody'"),
    ],
)
def test_wrong_options_are_one_sentence_and_nothing_is_written(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=says):
        main(given if "--checkpoints" in given else [*given, "--checkpoints", str(models)])
    assert list(tmp_path.iterdir()) == []
