"""The Lessons page: the list of lessons with the reader's progress, or one step of a lesson."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.browser import progress_keeper
from explorer.lessons.handout import OUTCOMES
from explorer.lessons.lesson import CONTROLS, OF_HEADS, Lesson, Step
from explorer.lessons.library import Library
from explorer.lessons.progress import Outcome
from explorer.locale.messages import t, translated
from explorer.locale.text import listed, plain
from explorer.screens.lessons import lesson_session, sidebar
from explorer.screens.lessons.downloads import draw_downloads
from explorer.screens.lessons.running_models import library, start_of
from explorer.screens.lessons.step import draw_exercise, draw_question, draw_text, draw_view, shows_view
from explorer.web.page_parts import TabsOf, heading

# Presentation mode: larger type for the projector, and nothing but the lesson. Streamlit's elements are sized in rem
# and grow with the type; our own components are sized in pixels, so they are magnified by the same factor (23 / 16).
_PRESENTING = """<style>
html { font-size: 23px !important; }
[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"], [data-testid="stHeader"] { display: none !important; }
.stMainBlockContainer { padding: 0.75rem 2rem 1rem; }
[data-testid="stBidiComponentIsolated"] { zoom: 1.44; }
</style>"""


# Each lesson has its button below its picture and its text beside them; wide screens have two lessons in a row.
_LIST = """<style>
.st-key-lesson_list {
  display: grid !important; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1.2rem 2rem; }
[class*="st-key-lesson_entry_"] {
  display: grid !important; grid-template: auto 1fr / 6rem minmax(0, 1fr); gap: 0.3rem 0.9rem; align-items: start; }
[class*="st-key-lesson_entry_"] > :last-child { grid-area: 1 / 2 / 3; width: 100% !important; }
[class*="st-key-lesson_entry_"] p { font-size: 0.93rem; line-height: 1.45; }
[class*="st-key-lesson_entry_"] em {
  font-style: normal; font-size: 0.875rem; color: color-mix(in srgb, currentcolor 72%, transparent); }
[class*="st-key-lesson_entry_"] button { min-width: 6rem; padding: 0 0.4rem; }
@media (max-width: 640px) {
  [class*="st-key-lesson_entry_"] { grid-template-columns: 4.2rem minmax(0, 1fr); gap: 0.3rem 0.7rem; }
  [class*="st-key-lesson_entry_"] img { width: 4.2rem !important; }
  [class*="st-key-lesson_entry_"] button { min-width: 4.2rem; }
}
</style>"""


# Hides the controls of the views that a step does not request (explorer/browser/css), and always the maps of Translate,
# the tools of the machine and its account of the whole, which the lesson gives, and Streamlit's hint in a text field.
# On wide screens, the bars are as low as on the page Translate, so that the figure fits on one screen.
_LEAN = """<style>
[data-testid="stBidiComponentIsolated"] {
  --settings: none; --maps: none; --machine-tools: none; --machine-story: none; %s }
[data-testid="InputInstructions"] { display: none; }
@media (min-width: 769px) { [data-testid="stBidiComponentIsolated"] { --option: 20px; } }
</style>"""


# What to do, the question and the verdict on an answer stay in sight beside a long picture: of a step that is too long,
# only the text scrolls, and fades where it goes on. On a phone all of this is a sheet over the picture's lower part,
# which a switch folds; what is open in the machine is told right above it, or below the picture once it is folded.
_BESIDE = """<style>
@keyframes lesson_more { from, 99% { mask-image: linear-gradient(#000 calc(100% - 2rem), transparent); } }
.st-key-lesson_sheet { gap: 0.6rem; overflow: auto; scrollbar-width: thin; }
.st-key-lesson_sheet :is(p, :is(.stRadio, .stTextInput) > label p) { font-size: 0.95rem; line-height: 1.4; }
.st-key-lesson_sheet [data-testid="stMarkdownContainer"]:has(h4),
.st-key-lesson_prose [data-testid="stMarkdownContainer"], .st-key-lesson_prose p:last-child { margin-bottom: 0; }
.st-key-lesson_sheet > * { flex: none; }
.st-key-lesson_sheet > :has(.st-key-lesson_prose) { flex: 0 1 auto; min-height: 3.4rem; overflow: auto;
  scrollbar-width: thin; animation: lesson_more linear; animation-timeline: scroll(self); }
.st-key-lesson_sheet > :is(:has(h4), :has(.st-key-lesson_fold)) { position: sticky; top: 0; z-index: 2; }
.st-key-lesson_sheet > :has(h4) { background: light-dark(#ffffff, #0f151b); }
.st-key-lesson_sheet h4 { padding: 0; font-size: 1.1rem; }
.st-key-lesson_sheet :is(.st-key-lesson_question, .st-key-lesson_feedback) { gap: 0.5rem; }
.st-key-lesson_sheet .st-key-lesson_do { gap: 0.3rem; }
.st-key-lesson_sheet [data-testid="stAlertContainer"] { padding: 0.5rem 0.75rem; }
/* A field and its button stand in one row. */
.st-key-lesson_sheet [data-testid="stForm"] > [data-testid="stVerticalBlock"] { position: relative; }
.st-key-lesson_sheet :has(> * > .stTextInput) > :has([data-testid="stFormSubmitButton"]) {
  position: absolute; right: 0; bottom: 0; width: auto; }
.st-key-lesson_sheet [data-testid="stTextInputRootElement"] { width: auto; margin-right: 10.5rem; }
.st-key-lesson_sheet [data-testid="stTextInputRootElement"] * { background: light-dark(#ffffff, #0f151b); }
[data-testid="stBidiComponentIsolated"] { --readout: 76px; }
@media (min-width: 769px) {
  .st-key-lesson_sheet > :has(.st-key-lesson_fold) { display: none; }
  .stColumn:has(> div .st-key-lesson_sheet) { position: sticky; top: 3.75rem; align-self: flex-start; }
  .st-key-lesson_sheet { max-height: calc(100dvh - 6.5rem); }
}
@media (max-width: 768px) {
  .stMainBlockContainer:has(.st-key-lesson_sheet) { padding-bottom: 56dvh; }
  .stMainBlockContainer:has(.st-key-lesson_fold input:checked) { padding-bottom: 4rem; }
  [data-testid="stBidiComponentIsolated"] {
    --machine-panel: static; --machine-controls: static; --machine-height: none; --lead: none; }
  body:not(:has(.st-key-lesson_fold input:checked)) [data-testid="stBidiComponentIsolated"] {
    --machine-shown: none; --machine-folded: block; --machine-panel: sticky; --machine-bottom: 40dvh;
    --machine-height: 17dvh; }
  body:not(:has(.st-key-lesson_fold input:checked)):has(.st-key-lesson_feedback [data-testid="stAlert"])
    [data-testid="stBidiComponentIsolated"] {
    --machine-bottom: 42.5dvh; --machine-height: 14.5dvh; }
  .st-key-lesson_bar {
    position: fixed; z-index: 89; top: 3.75rem; left: 0; width: 100% !important; padding: 0.2rem 0.9rem;
    background: light-dark(#ffffff, #0f151b); gap: 0.4rem; flex-wrap: nowrap; }
  .st-key-lesson_bar > :first-child { flex: 1; min-width: 0; }
  .st-key-lesson_bar p { font-size: 0.875rem; line-height: 1.2; }
  .stMainBlockContainer { padding-top: 3.6rem; }
  .st-key-lesson_bar :is(.st-key-lesson_present, .st-key-lesson_leave) { display: none; }
  .st-key-lesson_bar button { min-height: 2rem; padding: 0 0.6rem; }
  .st-key-lesson_bar kbd { display: none; }
  .st-key-lesson_bar button p { display: block; }
  .st-key-lesson_sheet {
    position: fixed; z-index: 90; inset: auto 0 0 0; max-height: 40dvh; overscroll-behavior: contain; gap: 0.4rem;
    padding: 0 0.9rem 0.6rem; border-top: 2px solid var(--st-primary-color, #0f5e7d); border-radius: 12px 12px 0 0;
    background: light-dark(#ffffff, #0f151b); box-shadow: 0 -4px 18px rgb(0 0 0 / 18%); }
  .st-key-lesson_sheet:has(.st-key-lesson_feedback [data-testid="stAlert"]) { max-height: 54dvh; }
  .st-key-lesson_sheet:has(.st-key-lesson_feedback [data-testid="stAlert"]) > :has(.st-key-lesson_prose) {
    flex: 1 1 3.4rem; }
  /* It reaches what is told in the machine. */
  .stMain:has(.st-key-machine) .st-key-lesson_sheet { min-height: 40dvh; }
  .stMain:has(.st-key-machine) .st-key-lesson_sheet:has([data-testid="stAlert"]) { min-height: 42.5dvh; }
  .stMain .st-key-lesson_sheet.st-key-lesson_sheet:has(.st-key-lesson_fold input:checked) { min-height: 0; }
  .st-key-lesson_sheet :is(p, :is(.stRadio, .stTextInput) > label p) { font-size: 0.9rem; line-height: 1.35; }
  .st-key-lesson_sheet [role="radiogroup"] { flex-flow: row wrap; gap: 0.3rem 1.1rem; margin-right: 10.5rem; }
  .st-key-lesson_sheet :has(> * > .stRadio) > :has([data-testid="stFormSubmitButton"]) {
    position: absolute; right: 0; bottom: 0; width: auto; }
  .st-key-lesson_sheet h4 { padding: 0.6rem 6.5rem 0 0; font-size: 1rem; }
  .st-key-lesson_sheet > :has(.st-key-lesson_fold) { order: -1; height: 0; margin-bottom: -0.4rem; z-index: 3; }
  .st-key-lesson_fold { position: absolute; top: 0.4rem; right: 0; width: auto; }
  .st-key-lesson_sheet:has(.st-key-lesson_fold input:checked) { max-height: 2.8rem; overflow: hidden; }
}
</style>"""


def draw(tabs: Callable[[str], TabsOf]) -> None:
    """Draw the whole page; `tabs` are those of another page, of which a step shows one."""
    for problem in lesson_session.problems():
        st.warning(plain(problem))
    lessons = library()
    lesson = lessons.find(lesson_session.position().lesson)
    if lesson is None:
        _draw_list(lessons)
    else:
        _draw_step(lesson, lesson_session.position().step, tabs)
    lesson_session.keep()


def _draw_list(lessons: Library) -> None:
    heading(
        t("What would you like to understand?"),
        t("Tours of 15 to 30 minutes: look at a model, say what you expect, and check it."),
    )
    for problem in lessons.problems:
        st.warning(plain(t("A lesson cannot be read. {problem}", problem=problem)))
    if not lessons.lessons:
        st.info(t("There is no lesson here yet. The documentation (docs/lessons.md) explains how to write one."))
    st.html(_LIST)
    with st.container(key="lesson_list"):
        numbers = {lesson.name: number for number, lesson in enumerate(lessons.lessons, start=1)}
        for lesson in lessons.lessons:
            _draw_entry(lesson, numbers)
    if lessons.lessons:
        _draw_where_progress_is()


def _draw_where_progress_is() -> None:
    """Say where the progress is stored; offer to undo what a link added, and to clear everything."""
    if lesson_session.link_added():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(t("The link that you opened added progress to yours."))
            st.button(t("Leave it out"), key="lesson_leave_out", on_click=lesson_session.leave_out_link)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        if progress_keeper.last_report().blocked:
            where = t(
                "This browser lets pages keep nothing (private browsing, or storage is blocked), so your progress is "
                "only in the address of this page. Copy the link before you close the tab."
            )
        else:
            where = t("Your progress is kept in this browser, and in the link to this page.")
        st.caption(where, width="content")
        if lesson_session.position().progress.codes:
            with st.popover(t("Clear my progress")):
                st.markdown(t("All answers and exercises in this browser will count as not done."))
                st.button(t("Clear it"), key="lesson_clear", type="primary", on_click=lesson_session.clear)


def _draw_entry(lesson: Lesson, numbers: dict[str, int]) -> None:
    """Draw the picture, the button and a short description of one lesson; `numbers` are those of all lessons."""
    progress = lesson_session.position().progress
    complete, begun = progress.steps_complete(lesson), progress.has_begun(lesson.name)
    again = t("Again") if complete == len(lesson.steps) else t("Continue")
    row = st.container(key=f"lesson_entry_{lesson.name}", horizontal=True, vertical_alignment="center", gap="medium")
    with row:
        if lesson.picture:
            st.image(lesson.picture, width=96, alt=t("Picture of the lesson: {title}", title=lesson.title))
        st.button(
            again if begun else t("Start"),
            key=f"lesson_start_{lesson.name}",
            on_click=lesson_session.go,
            args=(lesson.name, progress.first_open_step(lesson) if begun else 1),
        )
        facts = [t("{n} min", n=lesson.minutes)]
        if lesson.after in numbers:
            facts.append(t("after {number}", number=numbers[lesson.after]))
        if lesson.age:
            facts.append(t("from age {age}", age=lesson.age))
        if begun:
            n = len(lesson.steps)
            done = t("{complete} of {n} page done", "{complete} of {n} pages done", complete=complete, n=n)
            facts.append(f"**{done}**")
        title = f"{numbers[lesson.name]}. {plain(lesson.title)}"
        st.markdown(f"**{title}**  \n{plain(lesson.about)}  \n*{' · '.join(facts)}*")


def _draw_step(lesson: Lesson, at: int, tabs: Callable[[str], TabsOf]) -> None:
    step, presenting = lesson.step(at), lesson_session.position().presenting
    if presenting:
        st.html(_PRESENTING)
    _draw_bar(lesson, at, presenting)
    # Text and picture need the width; the sentence field is in the sidebar, for the steps that ask for one.
    own = step.done is not None and step.done.left.name == "own_sentence"
    st.set_page_config(initial_sidebar_state="auto" if own else "collapsed")
    start = start_of(step)
    if step.link is not None and step.link.page:
        text, view = st.columns(_widths(step, presenting), gap="medium")
    else:
        text, view = st.container(), st.container()
    beside = shows_view(lesson, at)
    if beside:
        st.html(_BESIDE)
    with text, st.container(key="lesson_sheet" if beside else "lesson_text"):
        st.markdown(f"#### {plain(step.title)}")
        if beside:
            _draw_fold()
        with st.container(key="lesson_prose"):
            draw_text(step, start)
        if not step.asks_first:
            with st.container(key="lesson_do"):
                draw_exercise(lesson, at, start)
        with st.container(key="lesson_question"):
            draw_question(lesson, at, start)
        asked = step.asks_first and not lesson_session.has_answered(lesson.name, at)
        if step.asks_first and not asked:
            draw_exercise(lesson, at, start)
    with view:
        left_out: list[str] = [name for name in CONTROLS if name not in step.controls]
        # Without the choice of view, only this line above the pictures of all heads says what the step reads.
        says = "--reads: block; " if "views" in left_out else ""
        left_out += [] if step.steps and not asked else ["player"]
        left_out += ["guess"] if asked else []
        near = f"--machine-near: {step.named_block};" if step.named_block else ""
        st.html(_LEAN % (says + near + " ".join(f"--{name}: none;" for name in left_out)))
        draw_view(lesson, at, tabs)
    if at == len(lesson.steps):
        _draw_ending(lesson)
        if not presenting:
            draw_downloads(lesson)


def _widths(step: Step, presenting: bool) -> list[int]:
    """The widths of text and view: the machine and the tabs of other pages need most of the page."""
    if step.link is not None and step.link.page not in OF_HEADS:
        return [1, 3]
    return [1, 2] if presenting else [2, 3]


@st.fragment
def _draw_fold() -> None:
    st.toggle(t("Fold"), key="lesson_fold")


def _draw_bar(lesson: Lesson, at: int, presenting: bool) -> None:
    """Draw lesson, step, and buttons to change the step, which Page Up, Page Down and presenter remotes press."""
    st.html(
        # Streamlit's paler keys have too little contrast, and look like words of the button.
        "<style>.st-key-lesson_bar kbd { opacity: 1 !important; padding: 0 0.3rem; border: 1px solid;"
        " border-radius: 4px; font-size: 0.7rem; }"
        + sidebar.key_names()
        + "@media (pointer: coarse) { .st-key-lesson_bar kbd { display: none; } }"
        # Beside the name of the app, which stands there while the sidebar is folded.
        "@media (min-width: 769px) { body:has([data-testid=stExpandSidebarButton]) .st-key-lesson_bar"
        " { padding-left: 12rem; } }</style>"
    )
    with st.container(key="lesson_bar", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(t("**{lesson}** · page {at} of {n}", lesson=plain(lesson.title), at=at, n=len(lesson.steps)))
        _draw_turn_button(t("Back"), "lesson_previous", "PageUp", lesson, at - 1)
        _draw_turn_button(t("Next"), "lesson_next", "PageDown", lesson, at + 1)
        st.button(
            t("End presentation") if presenting else t("Present"),
            key="lesson_present",
            shortcut="p",
            on_click=lesson_session.present,
            args=(not presenting,),
            help=t("Large type for the projector. Page Up and Page Down turn the pages."),
        )
        if not presenting:
            st.button(t("All lessons"), key="lesson_leave", on_click=lesson_session.leave)


def _draw_turn_button(label: str, key: str, shortcut: str, lesson: Lesson, at: int) -> None:
    st.button(
        label,
        key=key,
        shortcut=shortcut,
        type="primary" if key == "lesson_next" else "secondary",
        disabled=not 1 <= at <= len(lesson.steps),
        on_click=lesson_session.go,
        args=(lesson.name, at),
    )


def _draw_ending(lesson: Lesson) -> None:
    """Draw what there was to learn, the score, and a button to the next lesson."""
    with st.container(border=True, key="lesson_ending"):
        st.markdown(t("**That was “{lesson}”.**", lesson=plain(lesson.title)))
        last = len(lesson.steps)
        if lesson.step(last).question is None or lesson_session.has_answered(lesson.name, last):
            st.markdown("\n".join(f"- {sentence}" for sentence in lesson.recap))
        else:
            st.caption(t("What there was to learn is summed up here once you have answered the last question."))
        st.markdown(_score(lesson))
        st.markdown(_still_open(lesson))
        following = library().after(lesson.name)
        if following is None:
            st.markdown(t("This was the last lesson. Every page of the app is now yours to explore."))
            return
        st.button(
            plain(t("Next lesson: {lesson}", lesson=following.title)),
            key="lesson_following",
            type="primary",
            on_click=lesson_session.go,
            args=(following.name,),
        )
        st.caption(plain(following.about))


def _still_open(lesson: Lesson) -> str:
    """Name each question without an answer and each exercise that the app has not seen done."""
    progress = lesson_session.position().progress
    parts = []
    for at, step in enumerate(lesson.steps, start=1):
        if step.question is not None and progress.outcome(lesson.name, at) == Outcome.UNANSWERED:
            parts.append(t("the question of page {at}", at=at))
        if step.done is not None and not progress.is_done(lesson.name, at):
            parts.append(t("the exercise of page {at}", at=at))
    if not parts:
        return t("Nothing is open: every question is answered, and every exercise that the app can check is done.")
    return t("Still open: {parts}.", parts=listed(parts))


def _score(lesson: Lesson) -> str:
    progress = lesson_session.position().progress
    outcomes = [progress.outcome(lesson.name, at) for at, step in enumerate(lesson.steps, start=1) if step.question]
    counts = [
        f"{outcomes.count(outcome)} {translated(name)}" for outcome, name in OUTCOMES.items() if outcome in outcomes
    ]
    score = listed(counts) if counts else t("none answered yet")
    return t("{n} question: {score}.", "{n} questions: {score}.", n=len(outcomes), score=score)
