"""About two dozen everyday phrases into German, French or Hindi: few enough to be memorised, on purpose."""

from __future__ import annotations

from dataclasses import dataclass

from model.config import DataConfig
from model.data.task import Example, Prompt, Task

ENGLISH_GERMAN = (
    ("I am a student", "Ich bin Student"),
    ("He is a teacher", "Er ist Lehrer"),
    ("She is reading a book", "Sie liest ein Buch"),
    ("They are playing", "Sie spielen"),
    ("We love learning", "Wir lieben das Lernen"),
    ("I am tired", "Ich bin müde"),
    ("She is a doctor", "Sie ist Ärztin"),
    ("He is reading a letter", "Er liest einen Brief"),
    ("I have a dog", "Ich habe einen Hund"),
    ("We have a cat", "Wir haben eine Katze"),
    ("The dog is big", "Der Hund ist groß"),
    ("The cat is small", "Die Katze ist klein"),
    ("The book is new", "Das Buch ist neu"),
    ("I am drinking coffee", "Ich trinke Kaffee"),
    ("She is drinking tea", "Sie trinkt Tee"),
    ("We are eating bread", "Wir essen Brot"),
    ("He does not drink coffee", "Er trinkt keinen Kaffee"),
    ("I can swim well", "Ich kann gut schwimmen"),
    ("We want to sleep", "Wir wollen schlafen"),
    ("She has seen the dog", "Sie hat den Hund gesehen"),
    ("Where is the station?", "Wo ist der Bahnhof?"),
    ("What is your name?", "Wie heißt du?"),
    ("How are you?", "Wie geht es dir?"),
    ("Good morning", "Guten Morgen"),
    ("Thank you very much", "Vielen Dank"),
    ("See you tomorrow", "Bis morgen"),
)
ENGLISH_FRENCH = (
    ("i like cats", "j'aime les chats"),
    ("i like dogs", "j'aime les chiens"),
    ("cats eat meat", "les chats mangent de la viande"),
    ("dogs eat meat", "les chiens mangent de la viande"),
    ("i like apples", "j'aime les pommes"),
    ("we like music", "nous aimons la musique"),
    ("you like coffee", "tu aimes le café"),
    ("i do not like meat", "je n'aime pas la viande"),
    ("cats do not like dogs", "les chats n'aiment pas les chiens"),
    ("i have a black cat", "j'ai un chat noir"),
    ("she has a white dog", "elle a un chien blanc"),
    ("i am happy", "je suis content"),
    ("she is tired", "elle est fatiguée"),
    ("he is reading a book", "il lit un livre"),
    ("we are eating bread", "nous mangeons du pain"),
    ("they drink water", "ils boivent de l'eau"),
    ("the house is big", "la maison est grande"),
    ("the garden is small", "le jardin est petit"),
    ("i see the red car", "je vois la voiture rouge"),
    ("i see him", "je le vois"),
    ("he loves you", "il t'aime"),
    ("where is the station?", "où est la gare ?"),
    ("how are you?", "comment vas-tu ?"),
    ("good evening", "bonsoir"),
    ("thank you very much", "merci beaucoup"),
    ("see you tomorrow", "à demain"),
)
ENGLISH_HINDI = (
    ("I like pizza", "मुझे पिज़्ज़ा पसंद है"),
    ("I like tea", "मुझे चाय पसंद है"),
    ("I like books", "मुझे किताबें पसंद हैं"),
    ("I do not like coffee", "मुझे कॉफ़ी पसंद नहीं है"),
    ("My name is Ravi", "मेरा नाम रवि है"),
    ("What is your name?", "आपका नाम क्या है?"),
    ("How are you?", "आप कैसे हैं?"),
    ("I am fine", "मैं ठीक हूँ"),
    ("This is my house", "यह मेरा घर है"),
    ("This is a book", "यह एक किताब है"),
    ("That is a dog", "वह एक कुत्ता है"),
    ("The house is big", "घर बड़ा है"),
    ("The book is new", "किताब नई है"),
    ("I drink water", "मैं पानी पीता हूँ"),
    ("He drinks tea", "वह चाय पीता है"),
    ("She reads a book", "वह किताब पढ़ती है"),
    ("We eat bread", "हम रोटी खाते हैं"),
    ("They are playing", "वे खेल रहे हैं"),
    ("She is sleeping", "वह सो रही है"),
    ("I am going home", "मैं घर जा रहा हूँ"),
    ("I want water", "मुझे पानी चाहिए"),
    ("Where is the station?", "स्टेशन कहाँ है?"),
    ("It is hot today", "आज गर्मी है"),
    ("Good morning", "सुप्रभात"),
    ("Thank you", "धन्यवाद"),
)

_LEARNED = (
    "{n} everyday phrases, learned by heart: training, validation and test are the same pairs, so a perfect score says "
    "that they were memorised, and nothing about new sentences. {case} The full stop may be left out."
)
_EITHER_CASE = "English may begin with a capital or not; the answer has the correct capitals."
_SMALL = "All text is lower-cased, so capitals in the English do not matter."


@dataclass(frozen=True)
class _Phrases:
    language: str
    pairs: tuple[tuple[str, str], ...]
    examples: tuple[Prompt, ...]
    stop: str = "."
    lowercase: bool = True


_TASKS = {
    "phrases-en-de": _Phrases(
        "German",
        ENGLISH_GERMAN,
        (
            Prompt(
                "I am a student",
                "four words become three: German leaves out “a” before a profession",
                says=("Ich bin Student",),
            ),
            Prompt("She has seen the dog", "the participle “gesehen” moves to the end", says=("Hund gesehen",)),
            Prompt(
                "He does not drink coffee",
                "“does not” has no word of its own: it becomes “keinen”",
                says=("Er trinkt keinen Kaffee",),
            ),
            Prompt("She is reading a book", "“is reading” becomes one word", says=("Sie liest ein Buch",)),
        ),
        lowercase=False,
    ),
    "phrases-en-fr": _Phrases(
        "French",
        ENGLISH_FRENCH,
        (
            Prompt("i like cats", "French says “the cats”: where does “les” look?", says=("les chats",)),
            Prompt("cats do not like dogs", "“not” becomes two words, one on each side of the verb", says=("pas",)),
            Prompt("i see the red car", "the adjective moves behind its noun", says=("voiture rouge",)),
            Prompt("i see him", "the pronoun moves in front of the verb", says=("le vois",)),
        ),
    ),
    "phrases-en-hi": _Phrases(
        "Hindi",
        ENGLISH_HINDI,
        (
            Prompt("I like pizza", "“I” becomes “मुझे” (to me), and the verb comes last", says=("मुझे",)),
            Prompt(
                "She reads a book",
                "the ending of “पढ़ती” says that she is a woman: does it look at “She”?",
                says=("पढ़ती",),
            ),
            Prompt("I am going home", "the verb group “जा रहा हूँ” is at the end", says=("जा रहा हूँ",)),
        ),
        stop="।",
    ),
}
PHRASE_TASKS = tuple(_TASKS)


def phrases(name: str, split_seed: int) -> Task:
    """One of the phrase tasks for one split seed; phrases come with and without a full stop, and in lower case."""
    task = _TASKS[name]
    pairs = list(task.pairs)
    pairs += [(source + ".", target + task.stop) for source, target in pairs if source[-1].isalpha()]
    if not task.lowercase:
        pairs += [(source.lower(), target) for source, target in pairs]
    examples = tuple(Example(source, target) for source, target in pairs)
    return Task(
        name=name,
        title=f"Phrases: English to {task.language}",
        description=_LEARNED.format(n=len(task.pairs), case=_SMALL if task.lowercase else _EITHER_CASE),
        story=f"Repeats the {task.language} of two dozen everyday English phrases, learned by heart",
        trained_on="two dozen everyday phrases",
        complete=True,
        data=DataConfig(task=name, src_lang="en", tgt_lang=name[-2:], lowercase=task.lowercase, split_seed=split_seed),
        default_preset="tiny",
        build=lambda: {"train": examples, "valid": examples, "test": examples},
        examples=task.examples,
    )
