"""The checks that lessons may use: pure functions of a translation and the model that made it."""

from explorer.lessons.checks import attention, model_facts, predictions
from explorer.lessons.checks.registry import CHECKS, Live, answer, validate

__all__ = ["CHECKS", "Live", "answer", "attention", "model_facts", "predictions", "validate"]
