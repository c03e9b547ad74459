"""JavaScript, CSS and HTML as the browser gets them: without comments and spare white space.

Streamlit sends a component's text again whenever its data change, so it is kept small. (`rjsmin` and `rcssmin` do the
same, but have no wheels for Windows and macOS.) The files in js/ keep to what minifying
needs, which ESLint checks: statements end in semicolons, none is empty, no regular expression is literal, and no
template literal stands inside another.
"""

from __future__ import annotations

import re

_MARKS = re.escape("{}()[];,:<>=?&|*!")  # white space beside these means nothing
_SPACE = re.compile(rf"[ \n]+(?=[{_MARKS}])|(?<=[{_MARKS}])[ \n]+")
_STRING_OR_COMMENT = re.compile(r"""("(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)|//[^\n]*|/\*.*?\*/""", re.DOTALL)
_STAND_IN = re.compile(r'"(\d+)"')
_LINE_BREAK = re.compile(r"\n\s*")
_OPERATOR = re.compile(r" ([-+/%]) (?![-+])")  # "a - -b" keeps its spaces
_ONE_PARAMETER = re.compile(r"(?<![\w$])\(([A-Za-z_$][\w$]*)\)=>")  # after a word, the bracket keeps both apart


def javascript(text: str) -> str:
    """A script in the style described at the top of this module."""
    strings: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        if match[1] is None:
            return ""
        strings.append(match[1])
        return f'"{len(strings) - 1}"'

    code = _LINE_BREAK.sub("\n", _STRING_OR_COMMENT.sub(stand_in, text))
    code = _OPERATOR.sub(r"\1", _SPACE.sub("", code)).replace(";}", "}")
    code = _ONE_PARAMETER.sub(r"\1=>", code)
    return _STAND_IN.sub(lambda match: strings[int(match[1])], code).strip()


def css(text: str) -> str:
    """A style sheet whose strings hold none of the marks; the last declaration of a rule loses its semicolon."""
    code = _LINE_BREAK.sub("\n", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
    for mark in "{};,":
        for space in " \n":
            code = code.replace(space + mark, mark).replace(mark + space, mark)
    # Streamlit takes a text without any line break for the path of a file.
    return code.replace(": ", ":").replace(";}", "}").strip().replace("}", "}\n", 1)


def html(text: str) -> str:
    """Markup without indents: a line break keeps elements as far apart as the white space did."""
    return "\n".join(line.strip() for line in text.splitlines())
