"""Experiments: small runs that answer "why this way?", as data; `python -m model.experiments` makes them."""
