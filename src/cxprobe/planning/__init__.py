"""What a run would do and cost, before it is run; and the atlas: where each result of the papers is in this project.

Pure functions of parameters, counts and stated rates, and the readers of docs/plan.yaml and docs/papers.yaml. What the
data amount to is counted by the command that asks for a plan.
"""
