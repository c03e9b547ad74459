"""Import translators: convert folders that Hugging Face `transformers` writes to model folders of ours."""
