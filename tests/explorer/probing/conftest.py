"""The model `reverse` and its measured heads."""

import pytest

from explorer.probing.measured import Measured, measure
from explorer.probing.sample import SampleChoice
from model.checkpoint import LoadedModel, load_model
from tests.explorer.probed import quiet
from tests.paths import ROOT


@pytest.fixture(scope="session")
def reverse() -> LoadedModel:
    return load_model(ROOT / "checkpoints" / "reverse")


@pytest.fixture(scope="session")
def measured(reverse: LoadedModel) -> Measured:
    return measure(SampleChoice(size=60), reverse, quiet)
