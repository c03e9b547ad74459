"""Views drawn in the browser: their Python side, JavaScript modules in js/, style sheets in css/, markup in html/."""
