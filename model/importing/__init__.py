"""Import translators: convert folders that Hugging Face `transformers` writes to model folders of ours.

Whatever is wrong with a folder or not supported raises a :class:`model.user_error.UserError` of one sentence.
"""
