"""Greetings: a toy task, with which a test shows that a line plugs in."""
