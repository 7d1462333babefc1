"""People's labels: how mined sentences are labelled, how far people agree, and what becomes data.

People label mined sentences by their sequence of tags, one sequence after another (`group_sentences`, `Session`,
`answer`). How far they agree is measured (`conflicts`, `kappas`), and what they agree on becomes labelled sentences in
a training and a test part (`apply_labels`, `split_sequences`). The labels themselves are kept in git;
`cxprobe.constructions` reads and writes them.
"""

from cxprobe.labelling.agreement import Kappa, conflicts, kappas
from cxprobe.labelling.labelled import Labelled, apply_labels, split_sequences
from cxprobe.labelling.sessions import HELP, Session, answer, group_sentences

__all__ = [
    "HELP",
    "Kappa",
    "Labelled",
    "Session",
    "answer",
    "apply_labels",
    "conflicts",
    "group_sentences",
    "kappas",
    "split_sequences",
]
