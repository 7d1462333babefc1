"""Exports: the project's data, tasks and results in the forms that other tools read.

What is exported is the project's own: sentences that were mined and items that were read from other people's files stay
out. `project` reads what has been made; `hub`, `harness`, `inspection` and `results` return files, and the commands of
`cxprobe export` write them.
"""
