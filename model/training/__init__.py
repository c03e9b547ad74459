"""The training engine: what `python -m model.train` runs, on one processor, one GPU or many."""

import os

# oneDNN writes code for each size of a product and keeps that of 1,024 sizes, and PyTorch keeps as many of its own
# preparations: gigabytes in a long run, whose batches differ in size. Within an update a few dozen sizes recur. PyTorch
# reads these settings when it is loaded, so they stand here, before it is; a user's own settings stay.
for _cache in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
    os.environ.setdefault(_cache, "64")
