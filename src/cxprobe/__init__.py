"""cxprobe: do language models know constructions, the pairings of form and meaning?

Data flows one way: a construction (a folder of data) becomes sentences, balanced subsets of them, one vector
per sentence and layer, probes, and finally numbers with their intervals. Each package below is one room:

    sentences/   grammars, sampling, balanced subsets
    mining/      patterns as data, corpora of any size, candidates, labels
    features/    batches by token budget, pooling, extraction with Lightning
    probing/     logistic regression per layer, its controls, the search over regularisation
    pairs/       minimal pairs as data, readers of others' pairs, accuracies and biases
    reporting/   tidy tables, and the figures drawn from them

The single modules are the hallway. Rooms import the hallway, and never each other; the scripts in
``pipelines/`` import everything, and nothing imports them.
"""
