"""Constructions: everything about them is data in ``constructions/<name>/``, and nothing about any one is Python.

One module reads one file of the folder and has its name: `load_construction`, `load_pattern`, `load_pairs`,
`load_scenarios` and `load_items` take the construction's name and report all its faults at once. ``labels.tsv``,
which a command also writes, is read and written by its path (`read_labels`, `write_labels`). `load_people` reads the
lexicon of people that minimal pairs share. An optional key of a file has its default in the model that describes it.

The texts that a file's content gives are made here too: `fill` for minimal pairs, `spell` for scenarios,
`render_inferences` and `render_reasonings` for items.
"""
