"""The training engine: what `python -m model.train` runs, on one processor, one GPU or many."""
