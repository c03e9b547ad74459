"""Start a larger model from a smaller one, so that before its first update it computes what the smaller one does.

Source: Gesmundo and Maile 2023, "Composable Function-Preserving Expansions for Transformer Architectures", §3.1 (wider
feed-forward networks) and §3.6 (further layers).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor

from model.config import ConfigError, ModelConfig

_FEED_FORWARD = re.compile(r"\.feed_forward\.(linear1\.weight|linear1\.bias|linear2\.weight)$")
_LAST_OF_PART = re.compile(r"\.(out_proj|linear2)\.(weight|bias)$")
_LAYER = re.compile(r"^(encoder|decoder)\.layers\.(\d+)\.")


def grown(
    name: str, small: Mapping[str, Tensor], fresh: Mapping[str, Tensor], config: ModelConfig
) -> dict[str, Tensor]:
    """The weights of a model that computes what a smaller one does and has room for more.

    A further feed-forward unit reads with its fresh weights, and what it says counts 0 at first. In a further layer,
    the last projection of each part is 0, so that the residual stream passes through as it is.

    `name` and `small`: the smaller model and its weights; `fresh` and `config`: the larger model's.

    Raises:
        ConfigError: another size differs, a size is smaller, or layers are added where the stream is normalised after
            each part, or is not passed on, so that no layer can begin as nothing.
    """
    weights = {}
    for key, new in fresh.items():
        old = small.get(key)
        if old is not None and old.shape == new.shape:
            weights[key] = old
        elif old is not None and _FEED_FORWARD.search(key) and _fits_in(old, new):
            weights[key] = _widened(old, new, silent=key.endswith("linear2.weight"))
        elif old is None and _LAYER.match(key) and config.norm_first and config.residual:
            weights[key] = new * 0 if _LAST_OF_PART.search(key) else new
        else:
            raise ConfigError(_refusal(name, key, old, config))
    if missing := sorted(set(small) - set(fresh)):
        raise ConfigError(_refusal(name, missing[0], small[missing[0]], config))
    return weights


def _fits_in(old: Tensor, new: Tensor) -> bool:
    return all(small <= large for small, large in zip(old.shape, new.shape, strict=True))


def _widened(old: Tensor, new: Tensor, *, silent: bool) -> Tensor:
    """`old` in the first rows and columns of `new`, whose others stay fresh, or are 0 if `silent`."""
    wide = new * 0 if silent else new.clone()
    wide[tuple(slice(size) for size in old.shape)] = old
    return wide


def _refusal(name: str, key: str, old: Tensor | None, config: ModelConfig) -> str:
    """Why the smaller model cannot be the start, and what to do."""
    start = f"'{name}' cannot be the start"
    if old is None and _LAYER.match(key):
        needed = "residual" if config.norm_first else "norm_first"
        return f"{start}: only where {needed}=true can layers be added; leave their number as it is there."
    return (
        f"{start}: its '{key}' has another shape than the settings ask for; d_ff and the numbers of layers may be "
        "larger than there, and all other sizes stay as they are."
    )
