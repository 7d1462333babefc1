"""Greetings: a toy line of work, with which a test shows that a line plugs in."""
