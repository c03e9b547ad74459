"""Four small data sets such as a person might bring, made by rules: the same pairs on every machine."""

import datetime
import random
from collections.abc import Callable
from pathlib import Path

from model.data.number_words import number_words

Pairs = list[tuple[str, str]]


def _list(words: str) -> list[str]:
    return words.split()


_ONSETS = _list("b c ch d f g gr h l m n p pr r s st t tr v w")
_VOWELS = _list("a e i o u ea ou")
_CODAS = ["", "", "n", "r", "s", "t", "ld", "ck"]
_MONTHS = _list("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")


def word_reversal(n: int = 300) -> Pairs:
    """Words of one to three syllables, and the same words backwards."""
    rng = random.Random("words")

    def syllable() -> str:
        return rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)

    words: dict[str, None] = {}
    while len(words) < n:
        words["".join(syllable() for _ in range(rng.randint(1, 3)))] = None
    return [(word, word[::-1]) for word in words]


def own_dates(n: int = 500) -> Pairs:
    """Dates as a diary has them ("Tue 4 Mar 97"), and as a program wants them ("1997-03-04")."""
    first = datetime.date(1960, 1, 1).toordinal()
    days = [datetime.date.fromordinal(first + i) for i in random.Random("dates").sample(range(50 * 365), n)]
    return [(f"{day:%a} {day.day} {_MONTHS[day.month - 1]} {day:%y}", day.isoformat()) for day in days]


_NOUNS = {  # English, Spanish with its gender
    "dog": "perro m", "cat": "gato m", "house": "casa f", "table": "mesa f", "book": "libro m", "letter": "carta f",
    "boy": "niño m", "girl": "niña f", "teacher": "maestra f", "farmer": "campesino m", "car": "coche m",
    "street": "calle f", "garden": "jardín m", "flower": "flor f", "tree": "árbol m", "apple": "manzana f",
    "door": "puerta f", "window": "ventana f", "horse": "caballo m", "cow": "vaca f", "doctor": "médico m",
    "queen": "reina f", "king": "rey m", "river": "río m", "boat": "barco m", "chair": "silla f", "friend": "amigo m",
    "village": "pueblo m", "church": "iglesia f", "shop": "tienda f",
}  # fmt: skip
_ADJECTIVES = {
    "red": "rojo", "white": "blanco", "small": "pequeño", "tall": "alto", "new": "nuevo", "old": "viejo",
    "pretty": "bonito", "dirty": "sucio", "black": "negro", "strange": "extraño", "expensive": "caro",
    "clean": "limpio",
}  # fmt: skip
_VERBS = {
    "see": "ver ve ven", "buy": "comprar compra compran", "look for": "buscar busca buscan",
    "draw": "dibujar dibuja dibujan",
    "find": "encontrar encuentra encuentran", "sell": "vender vende venden", "paint": "pintar pinta pintan",
    "love": "amar ama aman", "need": "necesitar necesita necesitan", "know": "conocer conoce conocen",
}  # fmt: skip
_TIMES = {"today": "hoy", "every day": "cada día", "in the morning": "por la mañana", "at night": "por la noche"}


def _noun_phrase(rng: random.Random) -> tuple[str, str, bool]:
    plural = rng.random() < 0.4
    english, spanish = rng.choice(list(_NOUNS.items()))
    spanish, gender = spanish.split()
    if plural:
        english += "es" if english.endswith("ch") else "s"
        spanish = _plural(spanish)
    articles = {"m": ("el", "los"), "f": ("la", "las")}[gender] if rng.random() < 0.6 else None
    given = ("some" if plural else "a") if articles is None else "the"
    article = articles[plural] if articles else {"m": ("un", "unos"), "f": ("una", "unas")}[gender][plural]
    if given == "a" and english[0] in "aeiou":
        given = "an"
    if rng.random() < 0.5:
        adjective, form = rng.choice(list(_ADJECTIVES.items()))
        form = form[:-1] + {"m": "o", "f": "a"}[gender] + ("s" if plural else "")
        given = "an" if given in ("a", "an") and adjective[0] in "aeiou" else "a" if given == "an" else given
        return f"{given} {adjective} {english}", f"{article} {spanish} {form}", plural
    return f"{given} {english}", f"{article} {spanish}", plural


def _plural(spanish: str) -> str:
    plain = {"jardín": "jardines", "árbol": "árboles", "flor": "flores", "rey": "reyes"}
    return plain.get(spanish, spanish + "s")


def sentence_pairs(n: int = 2000) -> Pairs:
    """English sentences and their Spanish translations, with agreement in number and gender and another word order."""
    rng = random.Random("sentences")
    pairs: dict[str, str] = {}
    while len(pairs) < n:
        (subject, sujeto, plural), (thing, cosa, _) = _noun_phrase(rng), _noun_phrase(rng)
        verb, forms = rng.choice(list(_VERBS.items()))
        _, singular, several = forms.split()
        if not plural:
            first, *rest = verb.split()
            verb = " ".join([first + "s", *rest])
        time, tiempo = rng.choice([("", ""), *((f" {t}", f" {s}") for t, s in _TIMES.items())])
        pairs[f"{subject.capitalize()} {verb} {thing}{time}."] = (
            f"{sujeto.capitalize()} {several if plural else singular} {cosa}{tiempo}."
        )
    return list(pairs.items())


DATA_SETS: dict[str, Callable[[], Pairs]] = {
    "number words": number_words,
    "word reversal": word_reversal,
    "dates of one's own": own_dates,
    "sentences": sentence_pairs,
}


def write_tsv(pairs: Pairs, path: Path) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path
