"""Further training pairs on the Train page: files from elsewhere, and pairs that trained models write.

The latter is data diversification: choose models that write pairs, start, watch and stop them.
"""

from __future__ import annotations

import dataclasses

import streamlit as st

from explorer.locale.messages import t, translated
from explorer.locale.text import listed, plain, why
from explorer.runs.command import WHERE, PairsOrder, quoted_command
from explorer.runs.lifecycle import Runs
from explorer.runs.made_pairs import MadePairs, Making, Writers, writers
from explorer.runs.own_pairs import added_overview
from explorer.runs.uploads import store
from explorer.screens.train.data import TABLES, Data, upload_megabytes
from explorer.web import runtime
from explorer.web.faults import contained
from explorer.web.runs import attempt, draw_refused, made_key
from model.data import DataError
from model.folder import modified

_PLACE = "made_pairs"  # where refusals are shown
_SEEN = "_train_made_seen"  # in the session: names of the files that it has seen being made
_NEWS_SECONDS = 1.0
_TEMPERATURE = 0.7


def choose_added(data: Data, made_pairs: MadePairs, device: str) -> tuple[str, ...]:
    """Draw the upload, the pairs made by models, and the form that makes some; return the paths to train on."""
    left, right = st.columns(2, gap="large")
    with right:
        _choose_writers(data, made_pairs, device)
    with left:
        return _uploaded(data, made_pairs) + _written_by_models(data, made_pairs)


def _uploaded(data: Data, made_pairs: MadePairs) -> tuple[str, ...]:
    """Draw the upload, and a summary of each file; return the files' paths."""
    files = st.file_uploader(
        t("Further training pairs (TSV, CSV or JSONL)"),
        type=list(TABLES),
        accept_multiple_files=True,
        max_upload_size=upload_megabytes(),
        key="train_added",
        help=t(
            "Training reads these pairs as well as its own, except pairs that it already has and pairs whose source is "
            "held out."
        ),
    )
    paths = []
    for file in files:
        try:
            path = store(file.name, file.getvalue(), made_pairs.checkpoints)
            summary = added_overview(str(path), modified(path), data.data.src_lang, data.data.tgt_lang)
        except (DataError, OSError) as unusable:
            st.error(plain(why(unusable)))
            continue
        st.caption(plain(f"{file.name}: {summary}"))
        paths.append(str(path))
    return tuple(paths)


def _written_by_models(data: Data, made_pairs: MadePairs) -> tuple[str, ...]:
    """Draw the files that models have written for these data, each with a checkbox, a summary and Remove."""
    paths = []
    for making in made_pairs.finished(data.task, data.arguments):
        languages = data.data.src_lang, data.data.tgt_lang
        try:
            summary = added_overview(str(making.path), making.made, *languages, within=True)
        except (DataError, OSError) as unusable:
            st.error(plain(why(unusable)))
            _draw_removal(made_pairs, making)
            continue
        tick, removal = st.columns([3, 1], vertical_alignment="center")
        key = made_key(making.name)
        st.session_state[key] = bool(st.session_state.get(key, True))  # at every run, as in _choose_model
        chosen = tick.checkbox(
            plain(making.name),
            key=key,
            persist_state="session",
            help=t("If checked, training reads these pairs, too."),
        )
        with removal:
            _draw_removal(made_pairs, making)
        st.caption(plain(t("{summary} Written by models: {origin}.", summary=summary, origin=making.origin())))
        if chosen:
            paths.append(str(making.path))
    return tuple(paths)


def _draw_removal(made_pairs: MadePairs, making: Making) -> None:
    with st.popover(t("Remove"), key=f"train_remove_{making.name}"):
        warning = t(
            "{name}: Deletes the file. Models that were trained with it stay, but a stopped run can then no longer be "
            "resumed.",
            name=making.name,
        )
        st.caption(plain(warning))
        key = f"train_remove_go_{making.name}"
        st.button(t("Remove these pairs"), key=key, on_click=attempt, args=(_PLACE, made_pairs.remove, making.name))


def _choose_writers(data: Data, made_pairs: MadePairs, device: str) -> None:
    """Draw the two choices and the button, and the files that are being made or have failed."""
    st.markdown(
        f"**{t('Pairs written by trained models')}**",
        help=t(
            "Data diversification: one model translates the sources of the training pairs, one of the reverse "
            "direction the targets, and training reads the new pairs beside the old ones. Source: Nguyen, Joty, Wu and "
            "Aw 2020, “Data Diversification: A Simple Strategy For Neural Machine Translation”, §3.1. It can help "
            "where a sentence has many good translations; toy tasks with a single right answer gain nothing from it."
        ),
    )
    busy = [status.name for status in Runs(made_pairs.checkpoints).statuses() if status.busy]
    models = list(runtime.models().values())
    left, right = st.columns(2)
    with left:
        candidates = writers(models, data.data, "target", busy)
        forward = _choose_model(t("From source to target"), candidates, f"train_{data.task}_writer_model")
    with right:
        candidates = writers(models, data.data, "source", busy)
        back = _choose_model(t("From target to source"), candidates, f"train_{data.task}_writer_reverse")
    order = PairsOrder(data.task, data.arguments, forward, back, device)
    if _draws(data):
        order = made_pairs.next_drawn(dataclasses.replace(order, sample=_TEMPERATURE))
    running = any(making.state == "running" for making in made_pairs.unfinished())
    existing = next(
        (making.name for making in made_pairs.finished(data.task, data.arguments) if making.order == order), ""
    )
    possible = bool(forward or back) and not existing and not running
    label = t("Make the pairs")
    st.button(label, key="train_make", disabled=not possible, on_click=attempt, args=(_PLACE, made_pairs.start, order))
    draw_unfinished(made_pairs)
    if existing:
        st.caption(plain(t("These pairs exist already: “{name}” is in the list.", name=existing)))
    elif not running:
        st.caption(
            t(
                "Each model translates every distinct sentence of its side once (beam search with 5 hypotheses, unless "
                "it draws at random). An estimate of the time appears after the first few: in all, about half a minute "
                "on an idle core for a toy task, and five minutes for each model of Multi30k."
            )
        )
    if possible:
        with st.popover(t("Command for the pairs")):
            st.caption(t("The button runs exactly this command; you can also run it {where}.", where=translated(WHERE)))
            st.code(quoted_command(made_pairs.command(order)), language="bash", wrap_lines=True)


def _draws(data: Data) -> bool:
    """Draw the choice between beam search and drawing at random; return whether to draw at random."""
    key = f"train_{data.task}_writer_draws"
    st.session_state[key] = bool(st.session_state.get(key))  # at every run, as in _choose_model
    return st.checkbox(
        t("Draw at random instead of searching"),
        key=key,
        persist_state="session",
        help=t(
            "Beam search writes the same pairs each time. Drawing each token from the model's probabilities "
            "(temperature {temperature:g}) writes others with each seed, so the same models can make several files. "
            "More of these sentences are wrong, so drawing suits sources better than targets, and with few pairs beam "
            "search may be better. Compare Edunov, Ott, Auli and Grangier 2018, “Understanding "
            "Back-Translation at Scale”, §3.",
            temperature=_TEMPERATURE,
        ),
    )


def _choose_model(label: str, candidates: Writers, key: str) -> str:
    """Draw the choice of one model, or say why there is none."""
    options = ["", *candidates.names]
    # Set at every run: an interrupted run creates fields that the browser never sees.
    chosen = st.session_state.get(key)
    st.session_state[key] = chosen if chosen in options else candidates.proposed
    chosen = st.selectbox(
        label,
        options,
        key=key,
        format_func=lambda name: name or t("none"),
        persist_state="session",
        disabled=not candidates.names,
        help=t("Trained models with matching languages. They translate this side of the training pairs."),
    )
    if candidates.missing:
        st.caption(plain(candidates.missing))
    return chosen or ""


def draw_unfinished(made_pairs: MadePairs, *, apart: bool = False) -> None:
    """Draw the files that are being made, with progress, and those that failed, with the reason; else nothing.

    `apart`: the list of made pairs is not on the page, so a file that has been finished is announced here.
    """
    draw_refused(_PLACE)
    makings = {making.name: making for making in made_pairs.all()}
    running = [name for name, making in makings.items() if making.state == "running"]
    seen = st.session_state.setdefault(_SEEN, set())
    ended = [name for name in sorted(seen) if name in makings and makings[name].state == "finished"]
    if apart and ended:
        sentence = t("{names}: made. Settings → All settings adds these pairs to the training.", names=listed(ended))
        st.caption(plain(sentence))
    seen.update(running)
    if all(making.state == "finished" for making in makings.values()):
        return
    every = _NEWS_SECONDS if running else None
    st.fragment(contained("made_pairs")(_news), run_every=every)(made_pairs, running)


def _news(made_pairs: MadePairs, drawn: list[str]) -> None:
    """Draw the progress, on a timer; when a file ends, redraw the page, whose list then has the file."""
    unfinished = made_pairs.unfinished()
    if [making.name for making in unfinished if making.state == "running"] != drawn:
        st.rerun()
        return
    draw_refused(_PLACE)
    for making in unfinished:
        with st.container(horizontal=True, vertical_alignment="center"):
            if making.state == "running":
                st.progress(making.share, text=plain(f"{making.name}: {making.progress()}"))
                label, hint = t("Stop"), t("Ends the process at once; nothing of these pairs is kept.")
            else:
                st.error(plain(t("{name} was not made: {error}", name=making.name, error=making.error)))
                label, hint = t("Close"), t("Removes this message.")
            key = f"train_making_{'Stop' if making.state == 'running' else 'Close'}_{making.name}"
            st.button(label, key=key, help=hint, on_click=attempt, args=(_PLACE, made_pairs.remove, making.name))
