"""Translators from elsewhere: folders as Hugging Face `transformers` writes them, made into model folders of ours."""
