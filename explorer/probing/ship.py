"""Measure the shipped models and store the results beside their weights: `python -m explorer.probing.ship [NAME …]`.

With `--card` it prints the sentences about heads that the models' cards quote.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from explorer.decoding.names import index_name, short_layer
from explorer.locale.text import fixed, percent, plural
from explorer.probing.cross_checks import kept_shares, map_agreement
from explorer.probing.edit_effect import Quality, interval, quality_of
from explorer.probing.importance import halves, measure_importance, name_of
from explorer.probing.measured import Measured, measure, sample_hash, save, seeds_for
from explorer.probing.measurement import Gold
from explorer.probing.random_heads import measure_random
from explorer.probing.reporting import unheard
from explorer.probing.sample import default_choice
from explorer.probing.syntax import target_classes
from explorer.probing.tables import roles, summary
from model.analysis.importance import ablate_each, least_first, without
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel, load_model
from model.folder import find_model, list_models
from model.points import Head

LEAST_IMPORTANT = 3  # heads that are switched off together


def findings(loaded: LoadedModel, measured: Measured) -> tuple[str, ...]:
    """State roles, the best alignment, and the effect of removing heads by importance or role.

    Heads are chosen by importance on one half of the sentences and scored on the other; beside each set stand as many
    random heads.
    """
    choice, part = halves(measured.sample)
    order = least_first(ablate_each(loaded.transformer, choice.pairs).loss_change)
    with_role = [head for head, role in roles(measured.probe).items() if role.clear]
    whole = quality_of(loaded, part, measured.task, None)

    def without_them(heads: list[Head]) -> str:
        after = quality_of(loaded, part, measured.task, without(heads))
        control = measure_random(loaded, part, heads)
        return f"{_change(whole, after)} ({control.beside(after.loss - whole.loss)})"

    lines = [f"{summary(measured.probe)} (Over {plural(measured.probe.sentences, 'sentence')}.)"]
    if "cross" in measured.probe.kinds:
        lines += _alignment(measured)
    chosen_on = f"on {plural(len(choice), 'sentence')}"
    lines.append(
        f"The head that matters most {chosen_on} is {name_of(order[-1])}: without it, {without_them(order[-1:])}."
    )
    if len(order) > LEAST_IMPORTANT:
        named = ", ".join(name_of(head) for head in order[:LEAST_IMPORTANT])
        change = without_them(order[:LEAST_IMPORTANT])
        lines.append(f"Without the {LEAST_IMPORTANT} that matter least there ({named}) together, {change}.")
    if 0 < len(with_role) < len(order):
        noun = "the head that has a role" if len(with_role) == 1 else f"the {len(with_role)} heads that have a role"
        lines.append(f"Without {noun}, {without_them(with_role)}.")
    lines.append(f"All of these losses are those of {len(part)} other sentences.")
    return tuple(lines)


_LINKS: dict[Gold, str] = {
    "scenes": "words, sure and possible links, written and annotated by a language model",
    "words": "words, sure and possible links",
    "tokens": "tokens",
}


def _alignment(measured: Measured) -> list[str]:
    """Describe the cross-attention head with the lowest alignment error rate, if right alignments are known."""
    cross = measured.probe.kinds["cross"]
    if not measured.probe.gold or "error_rate" not in cross.corpus:
        return []
    names = {"error_rate": ("accuracy", "predicts"), "error_rate_input": ("accuracy_input", "has just read")}
    rate_names = [name for name in names if name in cross.corpus]
    best = min(rate_names, key=lambda name: float(np.nanmin(cross.corpus[name].own)))
    rates = cross.corpus[best]
    layer, head = (int(i) for i in np.unravel_index(int(np.nanargmin(rates.own)), rates.own.shape))
    accuracy, row = names[best]
    right, chance = cross.scores[accuracy].mean[layer, head], cross.scores[accuracy].uniform
    value, low, high = (fixed(part, 2) for part in rates.estimate.at(layer, head))
    mean = int(np.nanargmin(rates.of_mean.value))
    links = _LINKS[measured.probe.gold]
    return [
        f"The head that aligns best is cross {index_name(layer, head)}: in {percent(float(right))} of the rows its "
        f"largest weight is on the right source token of what the row {row} (chance: {percent(float(chance))}); "
        f"alignment error rate {value} ({low} to {high}; {links}), of the mean over the heads of a layer at best "
        f"{fixed(float(rates.of_mean.value[mean]), 2)} ({short_layer(mean + 1)})."
    ]


def _change(before: Quality, after: Quality) -> str:
    """A shorter form of :func:`explorer.probing.edit_effect.quality_words` for the models' cards."""
    loss = interval(before.losses.loss_change(after.losses), 3)
    text = f"the loss goes from {fixed(before.loss, 3)} to {fixed(after.loss, 3)}, by {loss}"
    if before.exact is not None and after.exact is not None:
        text += f", and exact match from {percent(before.exact)} to {percent(after.exact)}"
    return text


def check_lines(loaded: LoadedModel, sample: Sample) -> tuple[str, ...]:
    """The captions of both cross-checks over a sample."""
    classes = target_classes(loaded.data_config, loaded.target, sample)
    kept = kept_shares(loaded, sample, classes, unheard)
    return (
        f"{kept.verdict()} {kept.caption()}",
        map_agreement(loaded, sample, unheard).caption(),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure each named model on its default sample and write its file."""
    parser = argparse.ArgumentParser(prog="python -m explorer.probing.ship", description=__doc__)
    parser.add_argument("names", nargs="*", help="models in the checkpoints folder (default: all Transformers)")
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"))
    parser.add_argument("--card", action="store_true", help="print the sentences for a model's card, and store nothing")
    options = parser.parse_args(arguments)
    names = options.names or [str(entry["name"]) for entry in list_models(options.checkpoints)]
    for name in names:
        loaded = load_model(find_model(options.checkpoints, name))
        if loaded.model_config.architecture == "lstm" or loaded.folder is None:
            continue
        measured = measure(default_choice(loaded.data_config), loaded, unheard, again=True)
        if options.card:
            lines = (*findings(loaded, measured), *check_lines(loaded, measured.sample))
            print("\n".join((f"# {name}", *(f"- {line}" for line in lines))), flush=True)
            continue
        importance = measure_importance(loaded, measured.sample, unheard)
        hashed = sample_hash(measured.sample, seeds_for(loaded))
        path = save(loaded.folder, measured.probe, importance, hashed)
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB, {measured.about}")


if __name__ == "__main__":
    main()
