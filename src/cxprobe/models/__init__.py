"""Language models: loading, scoring, embedding, asking, and the store of their answers."""
