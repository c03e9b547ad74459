"""The training engine: what `python -m model.train` runs, on one processor, one GPU or many."""

import os

# oneDNN generates code for each matmul size and caches that of 1,024 sizes, and PyTorch caches as many of its own
# preparations. In a long run, whose batches differ in size, this takes gigabytes, although an update uses only a few
# dozen sizes. PyTorch reads these settings when it is imported, so they are set here, before that. Settings of the user
# take precedence.
for _cache in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
    os.environ.setdefault(_cache, "64")
