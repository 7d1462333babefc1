"""Results of all tasks: responses, rates, comparisons, verdicts, runs of MLflow, and pages.

`evaluate` makes the tables of `schema` from raw answers: `rates`, `comparisons` and `verdict` compute them, and `runs`
turns them into runs of MLflow. `task` is the interface of a task, `findings` are rates with their verdicts for `pages`,
and `plots` draws rates. All readers can tell the colours of figures apart (Okabe & Ito 2008).
"""
