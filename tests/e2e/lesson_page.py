"""A page of the site's lessons with a stand-in for the desk, with modules and style in the page."""

import dataclasses
import functools
import json

from explorer.browser import assets
from explorer.browser.lesson_structs import LessonOnSite
from explorer.files.standalone_page import theme_style
from explorer.lessons.folder_models import models_in
from explorer.lessons.lesson_file import read_lesson
from explorer.lessons.library import FOLDER
from explorer.lessons.site_lessons import site_lessons
from explorer.locale.glossary import GLOSSARY, address_of
from tests.paths import CHECKPOINTS

NAMES = ("attention", "machine", "translate", "train", "masks")

# The desk notes what it was asked to open; `desk.move(changes)` is what a reader does in it.
_BOOT = """
const read = (id) => JSON.parse(document.getElementById(id).textContent);
await import(URL.createObjectURL(new Blob([read("script")], { type: "text/javascript" })));
const [{ mountLessons }, { connectScorm }, { listenToTerms }] =
  ["lesson", "scorm", "glossary"].map((entry) => globalThis.__headlightModules[`${entry}.js`]);
listenToTerms(document.getElementById("tip"), read("terms"));
const picture = document.getElementById("desk");
const start = Object.fromEntries(new URLSearchParams(location.search));
window.asked = [];
window.told = [];
window.totals = [];
const paint = () => { picture.firstElementChild.textContent = JSON.stringify(desk.at, null, 1); };
window.desk = {
  at: start,
  failure: "",
  open: async (query, page) => {
    asked.push([query, page]);
    await null;
    if (desk.failure) throw new Error(desk.failure);
    desk.at = { ...query };
    paint();
  },
  query: () => desk.at,
  move: (changes) => {
    desk.at = { ...desk.at, ...changes };
    paint();
    lessons.moved(desk.at);
  },
};
paint();
const moved = (query) => {
  told.push(query);
  scorm?.moved(query);
  if (scorm) return;
  history.replaceState(null, "", `?${new URLSearchParams(query)}`);
};
// The model that reverses a word, as far as the lessons ask.
const reversed = async ({ text }) => {
  if (text === "!") throw new Error("Type a sentence.");
  return { predicted: [...text].reverse(), text: [...text].reverse().join("") };
};
const root = document.getElementById("root");
let scorm = null;
if (document.body.dataset.page === "scorm") {
  const notice = document.getElementById("notice");
  scorm = connectScorm(window, (sentence) => { notice.textContent = sentence; });
  notice.textContent = scorm.message;
}
const query = scorm ? { ...start, ...scorm.place() } : start;
const report = (sum) => { totals.push(sum); scorm?.report(sum); };
const address = scorm ? undefined : (query) => `${location.origin}/?${new URLSearchParams(query)}`;
const options = { address, lessons: read("lessons"), desk, query, moved, read: reversed, picture, report };
window.lessons = mountLessons(root, { ...options, storage: scorm?.storage });
window.ready = true;
"""


@functools.cache
def lessons() -> tuple[LessonOnSite, ...]:
    """Some of the shipped lessons, one of which needs the app."""
    models = models_in(CHECKPOINTS)
    read = [read_lesson(FOLDER / f"{name}.md") for name in NAMES]
    return tuple(site_lessons(read, models, [name for name in models.summaries() if name != "reverse-lstm"]))


def _inline(value: object) -> str:
    """JSON that ends no script."""
    return json.dumps(value).replace("<", "\\u003c")


def page(kind: str = "lessons", shown: tuple[LessonOnSite, ...] | None = None) -> bytes:
    """The page: "lessons", or "scorm" (lessons connected with a platform)."""
    data = {
        "script": assets.join("lesson.js", "scorm.js", "glossary.js"),
        "lessons": [dataclasses.asdict(lesson) for lesson in shown or lessons()],
        "terms": {address_of(each.term): (each.term, each.plain, each.explanation) for each in GLOSSARY},
    }
    scripts = "".join(
        f'<script type="application/json" id="{name}">{_inline(value)}</script>' for name, value in data.items()
    )
    style = theme_style() + assets.style("lesson")
    own = (
        "body{margin:0;padding:14px 18px;background:var(--st-background-color);color:var(--st-text-color)}"
        "#desk{box-sizing:border-box;min-height:420px;padding:10px;border-radius:8px;"
        "background:var(--st-secondary-background-color);font:12px ui-monospace,monospace}"
        "#desk pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}"
        "#tip{position:fixed;inset:auto;margin:0;max-width:300px;color:var(--st-text-color);"
        "background:var(--st-background-color);border:1px solid}"
    )
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lessons</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">
<style>{style}{own}</style></head>
<body data-page="{kind}"><p id="notice" role="status"></p><main id="root"></main><div id="desk"><pre></pre></div>
<div id="tip" popover="manual" role="tooltip"><p><b></b> <span></span></p><p></p></div>
{scripts}<script type="module">{_BOOT}</script></body></html>""".encode()
