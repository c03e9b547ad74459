"""The texts of the browser's code and markup.

That each text passes through `t` with its fields is a rule of tests/js/eslint.config.js.
"""

from explorer.browser import words
from explorer.locale import catalogue


def test_messages_of_a_call_within_another_one_and_of_markup_are_found():
    script = 't("{a} of {b}", { a: t("one \\"head\\""), b: pieces("{n} key", "{n} keys", { n }) })'
    assert list(words.in_script(script)) == [("{a} of {b}", None), ('one "head"', None), ("{n} key", "{n} keys")]
    markup = '<p title="Keys (?)">Beam size <input placeholder="Type"> <b>+</b></p>'
    assert words.in_markup(markup) == ["Keys (?)", "Beam size", "Type"]
    found = words.messages()
    assert ("Copy link", None) in found["html/copy_link.html"]
    assert len({message for each in found.values() for message, _ in each}) > 700
    forms = [(one, several) for each in found.values() for one, several in each if several]
    assert forms
    assert [pair for pair in forms if catalogue.fault_of(*pair, pair[0])] == [], "the forms have the same fields"
