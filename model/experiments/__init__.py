"""Experiments: small runs that compare design choices, as data; `python -m model.experiments` makes them."""
