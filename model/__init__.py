"""An encoder-decoder Transformer that says what it attended to: PyTorch and numbers only, no screen."""
