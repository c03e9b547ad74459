"""Measurements of the Probe page by model and sample, and the sentences of the sample as the model reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from explorer.decoding.model_description import ModelDescription
from explorer.probing.reporting import Report, unheard
from explorer.probing.sample import Measured, SampleChoice, observe_again
from explorer.web import runtime
from explorer.web.long_work import with_progress
from explorer.web.measurements import Key, store
from model.analysis.recorded_batches import Observed
from model.checkpoint import LoadedModel


def measurement_key(described: ModelDescription, choice: SampleChoice, what: str) -> Key:
    """The key of one measurement of a model, with its current files, on a sample."""
    return (what, described.name, runtime.fingerprint(described.name), choice.key)


def observations(described: ModelDescription, measured: Measured) -> tuple[Observed, ...] | None:
    """All sentences of the sample as the model reads them, read again where results were stored; None while stopped."""
    if measured.observed:
        return measured.observed

    def make(loaded: LoadedModel, report: Report) -> tuple[Observed, ...]:
        return tuple(observe_again(measured, loaded, report).values())

    key = measurement_key(described, measured.choice, "sentences")
    return with_progress(key, partial(runtime.compute_in_parts, described.name, make), "Reading the sentences")


def some_observations(described: ModelDescription, measured: Measured, indices: Sequence[int]) -> dict[int, Observed]:
    """A few sentences of the sample as the model reads them."""
    if measured.observed:
        return {i: measured.observed[i] for i in indices}

    def make() -> dict[int, Observed]:
        with runtime.model(described.name) as translator:
            return observe_again(measured, translator.loaded, unheard, indices)

    key = measurement_key(described, measured.choice, f"sentences {sorted(set(indices))}")
    return store().quick(key, make)
