"""Counts what a model is given, so that tests can say what is computed and what is not."""

from types import SimpleNamespace


def count_rows(model):
    """Count the calls of a model, and the inputs and tokens that it sees."""
    seen = SimpleNamespace(calls=0, rows=0, tokens=0)

    def count(_module, _args, options):
        seen.calls += 1
        seen.rows += len(options["input_ids"])
        seen.tokens += options["input_ids"].numel()

    seen.hook = model.model.register_forward_pre_hook(count, with_kwargs=True)
    return seen
