"""Settings as values: what differs from a preset, as `--set` takes it."""

from __future__ import annotations

import pytest

from explorer.runs.settings import ALWAYS_DRAWN, as_text, increment, label_of, problem, setting, value_of
from model.presets import PRESETS


@pytest.mark.parametrize("value", [True, False, 7, 0.1, 1e-9, "cosine"])
def test_text_is_read_back(value: object) -> None:
    assert value_of(type(value), as_text(value)) == value


def test_a_changed_setting_takes_the_place_of_the_preset() -> None:
    preset = PRESETS["tiny"]
    assert setting(preset, (), "max_steps") == preset.training["max_steps"]
    assert setting(preset, (("max_steps", "12"),), "max_steps") == 12


def test_settings_that_do_not_fit_get_a_message() -> None:
    assert problem(PRESETS["tiny"], ()) == ""
    assert "does not divide into" in problem(PRESETS["tiny"], (("d_model", "65"),))


def test_labels() -> None:
    assert label_of("max_steps") == "Updates (steps)"
    assert label_of("n_encoder_layers") == "Encoder layers"
    assert "seed" in ALWAYS_DRAWN
    assert "beta1" not in ALWAYS_DRAWN


@pytest.mark.parametrize(("value", "step"), [(4, 1), (512, 10), (3000, 100), (0.0, 0.05), (0.1, 0.05), (4e-3, 0.002)])
def test_one_press_moves_a_number_in_proportion(value: float, step: float) -> None:
    assert increment(value) == pytest.approx(step)
