"""The text of items: the language of templates, English spelling, and the faults of a finished text."""
