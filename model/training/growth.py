"""Start a larger model from the weights of a smaller one, so that at first both compute the same.

Source: Gesmundo and Maile 2023, "Composable Function-Preserving Expansions for Transformer Architectures", §3.1 (wider
feed-forward networks) and §3.6 (further layers).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import le

from torch import Tensor

from model.config import ConfigError, ModelConfig
from model.wording import Later, later

_FEED_FORWARD = re.compile(r"\.feed_forward\.(linear1\.weight|linear1\.bias|linear2\.weight)$")
_LAST_PROJECTION = re.compile(r"\.(out_proj|linear2)\.(weight|bias)$")
_LAYER = re.compile(r"^(encoder|decoder)\.layers\.(\d+)\.")


def grown(
    name: str, small: Mapping[str, Tensor], fresh: Mapping[str, Tensor], config: ModelConfig
) -> dict[str, Tensor]:
    """The weights of a larger model that computes the same as a smaller one.

    An added feed-forward unit has fresh input weights and output weights of 0. In an added layer, the last projection
    of each sublayer is 0, so that the residual stream passes through unchanged.

    `name` and `small`: the smaller model and its weights; `fresh` and `config`: the larger model's.

    Raises:
        ConfigError: another size differs, a size is smaller, or layers are added to a post-norm model or one without
            residual connections, where no layer can pass the stream through unchanged.
    """
    weights = {}
    for key, new in fresh.items():
        old = small.get(key)
        if old is not None and old.shape == new.shape:
            weights[key] = old
        elif old is not None and _FEED_FORWARD.search(key) and all(map(le, old.shape, new.shape)):
            weights[key] = _widened(old, new, zeros=key.endswith("linear2.weight"))
        elif old is None and _LAYER.match(key) and config.norm_first and config.residual:
            weights[key] = new * 0 if _LAST_PROJECTION.search(key) else new
        else:
            raise ConfigError(_refusal(name, key, old, config))
    if missing := sorted(set(small) - set(fresh)):
        raise ConfigError(_refusal(name, missing[0], small[missing[0]], config))
    return weights


def _widened(old: Tensor, new: Tensor, *, zeros: bool) -> Tensor:
    """Put `old` into the first rows and columns of `new`; the others stay fresh, or become 0 with `zeros`."""
    widened = new * 0 if zeros else new.clone()
    widened[tuple(slice(size) for size in old.shape)] = old
    return widened


def _refusal(name: str, key: str, old: Tensor | None, config: ModelConfig) -> Later:
    """Why training cannot start from the smaller model, and what to do."""
    if old is None and _LAYER.match(key):
        needed = "residual" if config.norm_first else "norm_first"
        return later(
            "training cannot start from '{name}': layers can only be added with {needed}=true; keep the number of "
            "layers.",
            name=name,
            needed=needed,
        )
    return later(
        "training cannot start from '{name}': its '{key}' has another shape than the settings require; only d_ff and "
        "the numbers of layers may differ, and only be larger.",
        name=name,
        key=key,
    )
