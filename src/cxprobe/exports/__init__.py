"""Exports: the project's data, tasks and results in the forms that other tools read.

Only the data of this project are exported, without mined sentences and items that were read from other people's files.
`project` reads what has been made; `hub`, `harness`, `inspection` and `results` return files, and the commands of
`cxprobe export` write them.
"""
