"""Custom views drawn in the browser: Python here, JavaScript modules in js/, style sheets in css/, markup in html/."""
