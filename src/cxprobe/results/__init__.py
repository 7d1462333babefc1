"""Results of all tasks: responses, rates, comparisons, verdicts, runs of MLflow, and pages.

`evaluate` makes the tables of `schema` from raw answers, and runs of MLflow from these: `rates`, `comparisons` and
`verdict` compute them. `task` is the interface of a task, `findings` are rates with their verdicts for `pages`,
and `plots` draws rates. All readers can tell the colours of figures apart (Okabe & Ito 2008).
"""
