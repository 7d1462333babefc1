"""Exports: the project's data, tasks and results in the forms that other tools read."""
