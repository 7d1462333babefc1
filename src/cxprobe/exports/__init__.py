"""Exports: the project's data, tasks and results in the forms that other tools read.

`read_configurations` gives the data of a finished run as configurations; `parquet_files`, `card_text` and
`croissant_text` make a data set of the Hugging Face hub of them. `pair_tasks`, `choice_tasks` and `harness_files` make
tasks for lm-evaluation-harness, `inspect_files` tasks for inspect_ai. `read_results` and `results_parquet` give every
answer of every model as one table.

What is exported is the project's own: sentences that were mined and items that were read from other people's files stay
out. All functions return tables, texts and bytes; `write_files` alone writes.
"""
