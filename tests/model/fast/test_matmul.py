"""Products by oneDNN: as exact as float32, for training in float32 alone, never where they would be rounded."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from model.fast import matmul
from model.fast.matmul import fast_matmul, onednn_keeps_float32
from model.training import device
from model.training.distributed import World
from model.training.trainer import Trainer
from tests.model.engine import SETTLED, string_setup

pytestmark = pytest.mark.skipif(
    not hasattr(torch.backends.mkldnn, "matmul"), reason="this PyTorch is too old for the permission"
)

BF16_STEP = 2.0**-8
"""The relative distance of two neighbouring bf16 numbers, at most."""


@pytest.fixture
def fresh() -> Iterator[None]:
    """The processor is asked anew, before and after the test."""
    onednn_keeps_float32.cache_clear()
    yield
    onednn_keeps_float32.cache_clear()


def asked() -> str:
    """What PyTorch's products of float32 numbers may be made of at the moment."""
    settings = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]  # an attribute made on access
    return str(settings.fp32_precision)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param((300, 128), (128, 256), id="a layer's output"),
        pytest.param((128, 3000), (3000, 256), id="a gradient of weights"),
        pytest.param((7, 5), (5, 3), id="small"),
        pytest.param((24, 9, 32), (24, 32, 11), id="the scores of heads"),
    ],
)
def test_products_are_as_exact_as_float32(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    first, second = torch.randn(a), torch.randn(b)
    exact = first.double() @ second.double()
    with fast_matmul():
        found = first @ second
    off = float((found - exact).norm() / exact.norm())
    rounded = float((first.bfloat16().double() @ second.bfloat16().double() - exact).norm() / exact.norm())
    assert found.dtype == torch.float32
    assert off < 1e-6 < BF16_STEP / 8 < rounded
    with fast_matmul():
        assert torch.equal(first @ second, found), "the same each time"


@pytest.mark.usefixtures("fresh")
def test_a_processor_that_would_round_is_left_to_mkl(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its instructions, or because a product that is tried out shows it."""
    product = torch.Tensor.__matmul__
    for kind in (torch.bfloat16, torch.float64):
        with monkeypatch.context() as patch:
            patch.setattr(torch.Tensor, "__matmul__", lambda a, b, kind=kind: product(a.to(kind), b.to(kind)).float())
            assert matmul._rounds(0) == matmul._rounds(3) == (kind == torch.bfloat16)
    here = dict(torch.cpu.get_capabilities())
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(matmul, "_rounds", lambda batch: False)
    monkeypatch.setattr(
        torch.cpu, "get_capabilities", lambda: {name: has for name, has in here.items() if "amx" not in name}
    )
    assert onednn_keeps_float32() == torch.backends.mkldnn.is_available()

    for where, name, value in (
        (torch.cpu, "get_capabilities", lambda: here | {"amx_bf16": True}),
        (torch.backends.cpu, "get_cpu_capability", lambda: "AVX2"),
        (matmul, "_rounds", lambda batch: batch > 0),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(where, name, value)
            onednn_keeps_float32.cache_clear()
            assert not onednn_keeps_float32()
            with fast_matmul():
                assert asked() == "none"


def test_the_permission_ends_with_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "onednn_keeps_float32", lambda: True)
    before = asked()
    with fast_matmul():
        with fast_matmul():
            assert asked() == "bf16"
        assert asked() == "bf16"
    assert asked() == before

    @fast_matmul()
    def fail() -> None:
        assert asked() == "bf16"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert asked() == before


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_training_asks_for_them_forward_and_backward(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "onednn_keeps_float32", lambda: True)
    monkeypatch.setattr(device, "FAST_OPERATIONS", 1)
    trainer = Trainer(string_setup(runtime=replace(SETTLED, precision=precision)), World(), None)
    seen: dict[str, str] = {}

    def forward(*_: object) -> None:
        seen["forward"] = asked()

    def backward(gradient: Tensor) -> None:
        seen["backward"] = asked()

    trainer.loss.register_forward_hook(forward)
    trainer.model.output.weight.register_hook(backward)
    trainer.update()
    assert seen == dict.fromkeys(("forward", "backward"), "bf16" if precision == "fp32" else "none")
    assert asked() == "none"
