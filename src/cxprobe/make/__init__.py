"""Make data: sentences, balanced subsets, scenarios, minimal pairs, questions. Nothing here runs a language model."""
