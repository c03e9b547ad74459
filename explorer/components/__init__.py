"""Custom views drawn in the browser; each is a Python file with its html, css and js files beside it."""
