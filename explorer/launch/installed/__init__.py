"""Headlight: see what an encoder-decoder Transformer looks at. Start it with `headlight` or `python -m headlight`.

The program itself lies in the folder `_app` of this package, so that its packages `model` and `explorer` do not stand
in the way of anybody's own.
"""
