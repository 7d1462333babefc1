"""Reporting: judged items of all models become tables and figures side by side, next to published values.

Each line of work has a module (`recognition`, `scenarios`, `pairs`, `prompts`), which takes tables of rates as judging
makes them. `dots`, `curves` and `dots_of_run` draw any rates with their intervals; `plots` draws those of probes by
layer, and `series` handles models that differ in one quantity. `cards` says what data sets consist of and what blind
models get on them. Colour-blind readers can tell all colours apart (Okabe & Ito 2008; viridis).
"""
