"""Modules are linked into one text of the same meaning, without unused code; minifying changes no meaning."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from explorer.components import bundle, minify

NODE = shutil.which("node")
ENTRIES = {
    "heads": 74_000,
    "stepper": 58_000,
    "tour": 16_000,
    "film": 14_000,
    "walk": 4_000,
    "copy_link": 2_000,
    "arrival": 2_500,
    "glossary": 2_500,
    "top_line": 1_500,
    "carrier": 1_000,
}
# In CI a missing node fails the test instead.
HAS_TO_RUN = NODE is not None or os.environ.get("CI") == "true"
needs_node = pytest.mark.skipif(not HAS_TO_RUN, reason="no node to run JavaScript with")


def _link(**files: str) -> str:
    """`entry` and the files beside it as one text."""
    return bundle.link("entry.js", {f"{name}.js": text for name, text in files.items()}.__getitem__)


def _run(text: str) -> str:
    """What the default export of a module returns, as text."""
    assert NODE is not None, "CI runs without node, so that the linked JavaScript is not run."
    code = text.replace("export default function", "const main = function", 1) + "\nconsole.log(String(main()));"
    done = subprocess.run([NODE, "--input-type=module"], input=code, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_node
def test_modules_may_use_the_same_names() -> None:
    one = "const shared = 1;\nexport const value = () => shared;\nexport function name() {\n  return 'one';\n}\n"
    two = "const shared = 2;\nexport const value = () => shared;\nexport function other() {\n  return 'two';\n}\n"
    entry = (
        'import { value, name } from "./one.js";\nimport { value as second, other } from "./two.js";\n'
        "const shared = 3;\n"
        "export default function () {\n  return [value(), second(), shared, name(), other()].join();\n}\n"
    )
    assert _run(_link(entry=entry, one=one, two=two)) == "1,2,3,one,two"


@needs_node
def test_a_module_is_linked_once_and_after_those_that_it_imports() -> None:
    base = "export const LIST = [];\n"
    left = 'import { LIST } from "./base.js";\nexport const add = (x) => LIST.push(x);\n'
    right = 'import {\n  LIST,\n} from "./base.js";\nexport const read = () => LIST.join("+");\n'
    entry = (
        'import { add } from "./left.js";\nimport { read } from "./right.js";\n'
        "export default function () {\n  add(1);\n  add(2);\n  return read();\n}\n"
    )
    assert _run(_link(entry=entry, base=base, left=left, right=right)) == "1+2"


def test_unused_code_is_left_out() -> None:
    tools = "const DEAD = 'dead';\nexport const live = () => 'live';\nexport const unused = () => DEAD;\n"
    entry = (
        'import { live } from "./tools.js";\nimport { gone } from "./gone.js";\nconst never = () => gone();\n'
        "export default function () {\n  return live();\n}\n"
    )
    text = _link(entry=entry, tools=tools, gone="export const gone = () => 'gone';\n")
    assert "live" in text
    for word in ("dead", "DEAD", "unused", "gone", "never"):
        assert word not in text


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"entry": "start();\n"}, "something else than declarations"),
        ({"entry": "export const a = 1;\n"}, "no default export"),
        ({"entry": "const { a } = globalThis;\nexport default function () {}\n"}, "without a name of its own"),
        (
            {
                "entry": 'import { a } from "./b.js";\nexport default function () {\n  return a;\n}\n',
                "b": "const a = 1;\n",
            },
            "imports a from b.js, which does not export it",
        ),
        (
            {"entry": 'import { a } from "./b.js";\nexport default function () {}\n', "b": "export let a = 1;\n"},
            "b.js exports a, which can change",
        ),
        (
            {
                "entry": 'import { a } from "./b.js";\nexport default function () {}\n',
                "b": 'import { c } from "./c.js";\nexport const a = () => c;\n',
                "c": 'import { a } from "./b.js";\nexport const c = () => a;\n',
            },
            "in a circle: b.js, c.js, b.js",
        ),
    ],
)
def test_a_file_that_breaks_a_rule_is_named(files: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        _link(**files)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_bundle_is_small_and_ships_no_import_comment_or_spare_space(entry: str) -> None:
    text = bundle.script(f"{entry}.js")
    assert len(text.encode()) < ENTRIES[entry]
    assert text.count("export default") == 1
    assert not re.search(r"^import\b|^export (?!default)|/\*|^\s", text, re.MULTILINE)


@needs_node
@pytest.mark.parametrize("entry", ENTRIES)
def test_a_bundle_is_one_module_that_node_can_read(entry: str, tmp_path: Path) -> None:
    file = tmp_path / "bundle.mjs"
    file.write_text(bundle.script(f"{entry}.js"), encoding="utf-8")
    done = subprocess.run([str(NODE), "--check", file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@needs_node
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_top_level_name_of_a_bundle_is_used(entry: str) -> None:
    text = bundle.script(f"{entry}.js")
    names = re.findall(r"^(?:async )?(?:function|const|let) ?([\w$]+)", text, re.MULTILINE)
    assert len(names) == len(set(names))
    assert [name for name in names if len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text)) < 2] == []


@needs_node
def test_minified_javascript_computes_the_same() -> None:
    source = """
    // a comment with "quotes" and `backticks`
    const text = "a  //  b";  /* and
    another */
    const url = `http://x/${ text  }  ;  }`;
    let i = 1 ;
    const sums = [ i + +i , i - -i , i++ + i , -i % 3 , 6 / 2 / 3 ] ;
    const twice = ( x ) => x * 2 ;
    const adder = ( a ) => { return ( b ) => a + b ; } ;
    const pick = { a : 1 , "b c" : 2 } ;
    export default function ( ) {
      if ( i !== 2 ) return "wrong" ;
      for ( const key in pick ) i += pick [ key ] ;
      return [ text , url , ...sums , twice ( 4 ) , adder ( 3 ) ( 4 ) , i , typeof text ] . join ( "|" ) ;
    }
    """
    small = minify.javascript(source)
    assert len(small) < 0.7 * len(source)
    assert _run(small) == _run(source) == "a  //  b|http://x/a  //  b  ;  }|2|2|3|-2|1|8|7|5|string"


def test_minified_css_and_html_keep_their_meaning() -> None:
    css = '/* gone */\n.a > .b ,\n.c :hover {\n  margin: 0 -1px;\n  width: calc(1px + 2px);\n}\n.d { content: " ↑"; }\n'
    assert minify.css(css) == '.a > .b,.c :hover{margin:0 -1px;width:calc(1px + 2px)}\n.d{content:" ↑"}'
    assert minify.html("<p>\n    <b>a</b>\n    <i> b </i>\n</p>\n") == "<p>\n<b>a</b>\n<i> b </i>\n</p>"
