"""A spaCy component that knows a few words, so that tests of grammar need no trained pipeline."""

from spacy.language import Language
from spacy.tokens import Doc

POS = {
    **dict.fromkeys(("the", "a"), "DET"),
    **dict.fromkeys(("big", "small", "red", "green", "blue"), "ADJ"),
    **dict.fromkeys(("dog", "cat", "books", "apples", "cars", "houses"), "NOUN"),
    **dict.fromkeys(("read", "reads", "eat", "eats", "see", "sees", "buy", "buys"), "VERB"),
}


@Language.component("toy_parser")
def toy_parser(doc: Doc) -> Doc:
    """Every determiner and adjective belongs to the next noun, every noun to the verb."""
    for word in doc:
        word.pos_ = POS.get(word.text, "X")
    for word in doc:
        later = [other for other in doc if other.i > word.i and other.pos_ == "NOUN"]
        verbs = [other for other in doc if other.pos_ == "VERB"]
        if word.pos_ in ("DET", "ADJ") and later:
            word.head, word.dep_ = later[0], {"DET": "det", "ADJ": "amod"}[word.pos_]
        elif word.pos_ == "NOUN" and verbs:
            word.head, word.dep_ = verbs[0], "nsubj" if word.i < verbs[0].i else "obj"
        else:
            word.dep_ = "ROOT"
    return doc
