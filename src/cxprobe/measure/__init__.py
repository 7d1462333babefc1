"""Measuring: the raw answers of one model to what was made, and nothing derived from them.

Vectors of sentences (`measure.features`), the predictions of probes on them (`measure.probing`), the log-probabilities
of tokens and candidate words (`measure.likelihood`), and replies in words (`measure.asking`). Measuring is expensive,
so every stage keeps finished work at once and never repeats it because of how answers are judged or reported; all of
them check precision in the same way (`measure.precision`).
"""
