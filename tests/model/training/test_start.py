"""A run that starts from the weights of another model."""

from dataclasses import replace

import pytest

from model.architectures import make_model
from model.config import ConfigError
from model.training.randomness import generator
from model.training.setup import fresh_model
from tests.tiny import tiny_config


class Start:
    """A model to start from."""

    name = "first"

    def __init__(self) -> None:
        self.model = make_model(tiny_config())
        self.model.reset_parameters(generator(1, "weights"))


def test_it_has_the_same_weights_or_is_refused() -> None:
    start = Start()
    same = fresh_model(tiny_config(), 2, start)  # type: ignore[arg-type]
    assert all(value.equal(start.model.state_dict()[key]) for key, value in same.state_dict().items())
    for sizes in ({"d_ff": 96}, {"n_encoder_layers": 9}, {"n_decoder_layers": 1}):
        with pytest.raises(ConfigError, match="training cannot start from 'first'"):
            fresh_model(replace(tiny_config(), **sizes), 2, start)  # type: ignore[arg-type]
