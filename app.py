"""Headlight: the frame that all pages share. Run it with `streamlit run app.py`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

LOGO = Path(__file__).parent / "explorer" / "images" / "headlight.svg"
ABOUT = "Headlight: see what an encoder-decoder Transformer looks at, token by token, head by head."


def frame() -> None:
    """Draw the frame that all pages share, then run the page; called on every script run."""
    from explorer.browser.frame import glossary, history
    from explorer.locale.messages import t
    from explorer.screens.lessons import sidebar as lesson_sidebar
    from explorer.web import address, language, security, session, sidebar, warm_up
    from explorer.web import frame as shell
    from explorer.web.faults import contained, remember
    from explorer.web.streamlit_private import contain_callbacks, end_after_leaving, through_history

    st.set_page_config(
        page_title="Headlight",
        page_icon="🔦",
        layout="wide",
        # With an entry of our own, the "minimal" toolbar shows the menu, which has the light and dark switch.
        menu_items={"About": ABOUT},
    )

    contain_callbacks(remember)
    end_after_leaving()
    languages = language.settle()
    continues = sidebar.continues()
    first, icon = (t("Continue"), "edit_note") if continues else (t("Translate"), "translate")
    look = [
        st.Page("pages/translate.py", title=first, icon=f":material/{icon}:", url_path="start", default=True),
        # Streamlit serves the default page only at "/"; links to it by name must work too.
        st.Page("pages/translate.py", title=first, url_path="translate", visibility="hidden"),
        st.Page("pages/attention.py", title=t("Attention"), icon=":material/grid_view:", url_path="attention"),
        st.Page("pages/inside.py", title=t("Inside"), icon=":material/account_tree:", url_path="inside"),
        # Another task; links on Attention and Runs lead to it.
        st.Page("pages/own.py", title=t("Attention of another model"), url_path="own", visibility="hidden"),
    ]
    understand = [
        st.Page("pages/lessons.py", title=t("Lessons"), icon=":material/school:", url_path="lessons"),
        st.Page("pages/positions.py", title=t("Positions"), icon=":material/pin:", url_path="positions"),
        st.Page("pages/masks.py", title=t("Masks"), icon=":material/visibility_off:", url_path="masks"),
        st.Page("pages/probe.py", title=t("Probe"), icon=":material/labs:", url_path="probe"),
    ]
    train = [
        st.Page("pages/train.py", title=t("Train"), icon=":material/model_training:", url_path="train"),
        st.Page("pages/runs.py", title=t("Runs"), icon=":material/list:", url_path="runs"),
        st.Page("pages/experiments.py", title=t("Experiments"), icon=":material/science:", url_path="experiments"),
    ]
    pages = {t("Look"): look, t("Understand"): understand, t("Train and compare"): train}
    in_frame = shell.is_embedded()
    if not in_frame:
        st.logo(LOGO, size="large")
    page = st.navigation(pages, position="hidden" if in_frame else "sidebar")
    shell.style(page.url_path)
    if not security.let_in():
        return

    with address.page_run(page.url_path or "translate", moved=through_history()):
        session.adopt_address()
        language.write_address()
        if in_frame:
            sidebar.select()
        else:
            if page.url_path != "lessons":  # which folds it; an open lesson then stands in it
                st.set_page_config(initial_sidebar_state="auto")
            with contained("lesson_sidebar"):
                lesson_sidebar.draw(page.url_path)
            opening = page.url_path in ("", "translate")
            with contained("sidebar"):
                # These pages have no use for the model and the sentence.
                if page.url_path in ("train", "runs", "experiments", "own") or lesson_sidebar.lists(page.url_path):
                    sidebar.draw_link()
                else:
                    sidebar.draw(sentence_on_page=opening or page.url_path == "attention", welcome=opening)
            with st.sidebar:
                language.draw_menu(languages)
        shell.enter_shell()
        with warm_up.page_run(), contained("page"):
            page.run()
    with st.container(gap=None):  # neither shows anything or takes up room
        history()
        glossary()


if __name__ == "__main__":  # Streamlit executes this file for every page run
    frame()
else:  # at start-up, the server looks up `app`
    import os

    from starlette.middleware import Middleware

    from explorer.browser import assets
    from explorer.web.security import FramesError, Hosts, SecurityHeaders, frame_sites
    from explorer.web.streamlit_private import RootAddress
    from explorer.web.warm_up import WarmUp

    if os.environ.get("HEADLIGHT_STARTER"):
        from explorer.launch.server import end_with_the_starter

        end_with_the_starter()

    try:
        sites = frame_sites()
    except FramesError as unusable:
        raise SystemExit(str(unusable)) from None

    def shared() -> None:
        """Import what every page needs, and no more: the rest imports numpy, 11 MB that an idle server can spare."""
        import explorer.browser.frame
        import explorer.web.runtime  # noqa: F401

    def libraries() -> None:
        """Import the libraries that draw figures, each as a whole, because its modules import one another.

        Altair is left out: it takes longer than all others, and few tabs draw with it.
        """
        import plotly.graph_objects  # noqa: F401
        import pyarrow  # noqa: F401

    def attention() -> None:
        """Import the page that most visitors open next."""
        import explorer.screens.attention.page  # noqa: F401

    def probe() -> None:
        """Import the page that takes longest to open, and read the results that it opens with."""
        from explorer.screens.probe.page import prepare

        prepare()

    warm_up = Middleware(WarmUp, frame=shared, later=(libraries, attention, probe))
    security = Middleware(SecurityHeaders, frames=sites)
    middleware = [Middleware(Hosts), security, warm_up, Middleware(RootAddress)]
    app = st.App(__file__, routes=assets.routes(), middleware=middleware)
