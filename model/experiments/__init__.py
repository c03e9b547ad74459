"""Experiments: small runs that compare design choices; `python -m model.experiments` carries them out."""
