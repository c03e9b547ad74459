"""Starting Headlight with one command: options, the server process, the records of running servers, the window."""
