"""Read how a run was trained from its folder, to train it again or longer and to compare runs.

The folder may come from somebody else: an entry of an unexpected type counts as absent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from os.path import isfile
from pathlib import Path
from typing import Any

from explorer.decoding.examples import FILES
from explorer.locale.messages import message, t, translated
from explorer.locale.text import listed
from explorer.runs.settings import label_of, unread_by, written
from explorer.runs.status import RunStatus
from explorer.runs.uploads import LANGUAGES
from model.config import DataConfig, ModelConfig, TrainConfig, with_current_names
from model.data import TASKS, get_task
from model.data.files import DATA_FILE
from model.folder import STATE, STATUS, TOKENIZER, CheckpointError, read_config, read_json

_DEVICES = {"cpu": message("the CPU"), "cuda": message("a GPU"), "mps": message("Apple's GPU")}
_OTHER = message("another device")
_SECTIONS = ("data", "model", "training", "runtime")
# Of settings that an older file lacks.
_DEFAULTS: dict[str, dict[str, Any]] = {
    name: {item.name: list(item.default) if item.default == () else item.default for item in fields(part)}
    for name, part in (("data", DataConfig), ("model", ModelConfig), ("training", TrainConfig))
}
_FILES = ("--data", "--source", "--target", "--valid-data")
_NOT_COMPARED = ("src_vocab_size", "tgt_vocab_size", "settled", "fused", "snapshots", "snapshot_megabytes")


@dataclass(frozen=True)
class Repeatable:
    """A run that can be trained again.

    `steps`: its updates so far, of those `planned`; `can_go_on`: its state was saved, so it can be trained longer;
    `computed`: the device and software, in a sentence; `missing`: what it was trained from that is no longer here, in
    a sentence.
    """

    seed: int
    steps: int
    planned: int
    warmup: int
    schedule: str
    can_go_on: bool
    computed: str
    missing: str = ""

    def longer_sentence(self, total: int) -> str:
        """Explain what happens to the learning rate if the run is trained to `total` updates."""
        if self.schedule != "cosine" or total == self.planned or self.steps < self.warmup:
            return t(
                "The learning rate continues as in a run of this length from the start: the weights will be the same."
            )
        if total < self.planned:
            return t(
                "The learning rate falls faster than planned: it was to reach 0 at step {planned:,}, and now does at "
                "step {total:,}.",
                planned=self.planned,
                total=total,
            )
        now = (self.steps - self.warmup) / (self.planned + 1 - self.warmup)  # the share of its fall
        if (self.steps + 1 - self.warmup) / (total + 1 - self.warmup) >= now:
            return t("The learning rate goes on falling, a little more slowly than planned.")
        return t(
            "The learning rate rises to where it would be in a run of this length, then falls again: the loss may "
            "rise for a while."
        )


def repeatable(folder: Path, status: RunStatus | None) -> Repeatable | None:
    """Read what is needed to train this model again; None if its folder does not say how it was trained."""
    config = _config(folder)
    settings, training = config.get("set"), config.get("training")
    if not isinstance(config.get("preset"), str) or not isinstance(settings, dict) or not isinstance(training, dict):
        return None
    training, results = with_current_names(training), config.get("results")
    stored = results.get("trained_steps") if isinstance(results, dict) else None
    finished = status is not None and status.state == "finished"
    return Repeatable(
        seed=_whole(training.get("seed"), TrainConfig().seed),
        steps=_whole(status.step if status is not None and status.step else stored, 0),
        planned=_whole(training.get("max_steps"), 0),
        warmup=_whole(training.get("warmup_steps"), 0),
        schedule=str(training.get("schedule", "")),
        can_go_on=finished and (folder / STATE / "state.json").is_file(),
        computed=computed_sentence(config.get("runtime")),
        missing=_missing(folder, config),
    )


def _config(folder: Path) -> dict[str, Any]:
    """Read config.json; empty if it cannot be read."""
    try:
        return read_config(folder)
    except CheckpointError:
        return {}


def _missing(folder: Path, config: Mapping[str, Any]) -> str:
    """State what a run was trained from that is no longer here: another model's weights, or files of further pairs."""
    absent = []
    init = config.get("init")
    if isinstance(init, str) and not config.get("first") and not (folder.parent / init).is_dir():
        absent.append(t("the weights of “{model}”", model=init))
    names = [str(entry.get("file")) for entry in _list(config, "added_data") if isinstance(entry, dict)]
    if names and not _added_are_here(folder):
        absent.append(t("the pairs in {files}", files=listed(names)))
    if not absent:
        return ""
    return t(
        "It was trained from {absent}, which are not here. Its card names the command that makes everything.",
        absent=listed(absent),
    )


def _added_are_here(folder: Path) -> bool:
    try:
        paths = _list(read_json(folder / STATUS), "added_data")
    except CheckpointError:
        return False  # no run, or a damaged one: the paths of its files are unknown
    return bool(paths) and all(isinstance(path, str) and isfile(path) for path in paths)


def _list(values: Mapping[str, Any], name: str) -> list[Any]:
    value = values.get(name)
    return value if isinstance(value, list) else []


def _whole(value: Any, default: int) -> int:
    return value if type(value) is int and 0 <= value < 2**53 else default


def computed_sentence(runtime: Any) -> str:
    """State device, precision, threads and PyTorch's version of a run; empty if they are unknown."""
    if not isinstance(runtime, dict) or not runtime.get("settled"):
        return ""
    computed = t(
        "Computed on {device} in {precision} with {threads}",
        device=device_text(str(runtime.get("device", "cpu"))),
        precision=runtime.get("precision"),
        threads=t("{n} thread", "{n:,} threads", n=_whole(runtime.get("threads"), 1)),
    )
    processes = _whole(runtime.get("processes"), 1)
    parts = [computed, *([t("{n} process", "{n} processes", n=processes)] if processes > 1 else [])]
    parts += [t("compiled")] if runtime.get("compile") else []
    version = runtime.get("torch_version")
    parts.append(t("PyTorch {version}", version=version) if version else t("PyTorch (version not stored)"))
    return ", ".join(parts) + "."


def device_text(device: str) -> str:
    """The device of a run in words: "cuda:0" is a GPU."""
    return translated(_DEVICES.get(device.partition(":")[0], _OTHER))


def losses_are_alike(folder: Path) -> bool:
    """Whether a run had no dropout, label smoothing or consistency, which alter the loss of training only."""
    settings = _sections(_config(folder), ("model", "training"))
    noise = ("dropout", "attention_dropout", "activation_dropout", "label_smoothing")
    return all(settings.get(name) == 0 for name in noise) and settings.get("consistency") == "none"


def _sections(config: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The settings in these sections of a config.json, with the defaults of those that an older file lacks."""
    settings: dict[str, Any] = {}
    for name in names:
        if isinstance(section := config.get(name), dict):
            settings |= _DEFAULTS.get(name, {}) | with_current_names(section)
    return settings


def settings_of(folder: Path) -> dict[str, Any]:
    """Read the settings of a run by name, with its runtime and origin; empty without a readable config.json.

    Settings that its architecture does not read are None.
    """
    config = _config(folder)
    settings = _sections(config, _SECTIONS)
    settings |= dict.fromkeys(unread_by(str(settings.get("architecture"))))
    if settings.get("tokenizer") != "subwords":
        settings.pop("vocab_size", None)
    first = config.get("first")
    added = [
        _pairs(str(entry.get("file")), _whole(entry.get("pairs"), 0), str(entry.get("sha256")))
        for entry in _list(config, "added_data")
        if isinstance(entry, dict)
    ]
    longer = [
        t("to {n} update", "to {n:,} updates", n=steps) for steps in _list(config, "extended") if isinstance(steps, int)
    ]
    origin = {
        "starts_from": str(config.get("init") or ""),
        "first_part": ", ".join(f"{key}={value}" for key, value in first.items()) if isinstance(first, dict) else "",
        "own_pairs": _own_pairs(list(map(str, _list(config, "own_data"))), folder / DATA_FILE),
        "further_pairs": ", ".join(added),
        "trained_longer": ", ".join(longer),
    }
    settings |= {name: value for name, value in origin.items() if value}
    results, most = config.get("results"), settings.get("max_steps")
    made = _whole(results.get("trained_steps"), 0) if isinstance(results, dict) else 0
    if isinstance(most, int) and 0 < made < most:
        settings["max_steps"] = t("{n:,} of at most {most:,}", n=made, most=most)
    return {name: value for name, value in settings.items() if name not in _NOT_COMPARED}


def _own_pairs(arguments: Sequence[str], stored: Path) -> str:
    """Name the files of a run's own pairs, with a checksum of the pairs, since files of one name may differ."""
    files = ", ".join(value for option, value in zip(arguments[::2], arguments[1::2], strict=False) if option in _FILES)
    try:
        content = stored.read_bytes() if arguments else b""
    except OSError:
        return files
    return _pairs(files, content.count(b"\n"), hashlib.sha256(content).hexdigest()) if arguments else ""


def _pairs(files: str, pairs: int, digest: str) -> str:
    return t(
        "{files} ({n} pair, checksum {digest})",
        "{files} ({n:,} pairs, checksum {digest})",
        files=files,
        n=pairs,
        digest=digest[:8],
    )


def comparable(folders: Mapping[str, Path], *, by_token: bool) -> list[list[str]]:
    """Group runs of the same validation sentences; `by_token`: cut into the same tokens, as means over them need."""
    groups: dict[Any, list[str]] = {}
    for run, folder in folders.items():
        settings = settings_of(folder)
        try:
            tokens = hashlib.sha256((folder / TOKENIZER).read_bytes()).digest() if by_token else b""
        except OSError:  # it has not been written yet: nobody knows what its tokens are
            tokens = run.encode()
        key = (tokens, *(str(settings.get(name)) for name in ("task", "split_seed", "own_pairs")))
        groups.setdefault(key, []).append(run)
    return list(groups.values())


def differences(runs: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """One table row per setting that is not the same in all runs that read it: its label, and its value in each."""
    rows = []
    for name in dict.fromkeys(name for settings in runs.values() for name in settings):
        values = {run: _text(name, settings.get(name)) for run, settings in runs.items()}
        read = {values[run] for run, settings in runs.items() if settings.get(name, "") is not None}
        if len(read) > 1:
            rows.append({t("setting"): label_of(name), **values})
    return rows


def _text(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if name == "task":
        named = translated(get_task(value).title) if value in TASKS else str(value)
        return t("Your own pairs") if value == FILES else named
    if name in ("src_lang", "tgt_lang") and value in LANGUAGES:
        return translated(LANGUAGES[value])
    return written(name, value)
