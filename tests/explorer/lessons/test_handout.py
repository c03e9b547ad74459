"""Handouts and summaries on paper, and Markdown as HTML."""

from explorer.lessons.handout import Figure, Paper, handout, html_of, inline_html
from explorer.lessons.lesson import Lesson, Step
from tests.explorer.lessons.examples import HOSTILE, asked


def test_paper_holds_words_figures_and_answers_as_text() -> None:
    question = asked("x", "h", "o")
    step = Step(HOSTILE, "t", 1, question=question, do="d")
    lesson = Lesson("one", HOSTILE, HOSTILE, 5, 1, (step, step))
    svg = b'<?xml version="1.0"?><svg><text>fig</text></svg>'
    papers = (Paper(step, "text", "do it", "which?", "because", "o", "page X", 1), Paper(step, "text", figure=1))
    figures = (Figure(svg, HOSTILE),)
    page = handout(lesson, papers, figures, answers=True).decode()
    assert "<img" not in page
    assert page.count("</script>") == 0
    assert "<svg><text>fig</text></svg>" in page
    assert "<strong>o</strong>. because" in page
    assert page.count("<svg>") == 1
    assert page.count("Look at figure 1.") == 2
    assert page.index("2. ") < page.index("<svg>") < page.index("because")
    assert "because" not in handout(lesson, papers, figures, answers=False).decode()


def test_markdown_on_paper_is_escaped() -> None:
    made = html_of("A **b** and *c*, `<eos>` and [d](https://e.org/x).\n\n- one\n- two\n  more\n\n```\n<p>\n```\n1. z")
    made = " ".join(made.split())
    assert "<strong>b</strong>" in made
    assert "<em>c</em>" in made
    assert "<code>&lt;eos&gt;</code>" in made
    assert '<a href="https://e.org/x">d</a>' in made
    assert "<ul> <li>one</li> <li>two more</li> </ul>" in made
    assert "<pre><code>&lt;p&gt; </code></pre>" in made
    assert "<ol> <li>z</li> </ol>" in made
    for link in ("[x](javascript:alert(1))", "[x](data:text/html,a)", "[x](/train)", "![i](https://e.org/x)"):
        assert "href" not in html_of(link).replace('href="https://e.org/x"', "")
        assert "<img" not in html_of(link)
    assert inline_html(r"0\.5 \*x\* \<b\>") == "0.5 *x* &lt;b&gt;"
