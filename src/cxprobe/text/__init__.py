"""The text of items: the one language of their templates, English spelling, and what is wrong with a finished text."""
