"""People's labels: how mined sentences are labelled, how far people agree, and what becomes data.

People label mined sentences by their sequence of tags, one sequence after another (`group_sentences`, `start_session`,
`answer`), in a terminal (`cxprobe.labelling.screen`), a browser (`cxprobe.labelling.page`) or Label Studio
(`cxprobe.labelling.label_studio`). How far they agree is measured (`conflicts`, `disputes`, `kappas`), a third person
may decide what they label differently (`DECIDES`), and what they agree on becomes labelled sentences in a training and
a test part (`apply_labels`, `split_sequences`). The labels themselves are kept in git; `cxprobe.constructions` reads
and writes them.
"""

from cxprobe.labelling.agreement import Conflict, Kappa, conflicts, disputes, kappas
from cxprobe.labelling.labelled import DECIDES, Labelled, apply_labels, is_decision, split_sequences
from cxprobe.labelling.sessions import HELP, Group, Reply, Session, answer, group_sentences, start_session

__all__ = [
    "DECIDES",
    "HELP",
    "Conflict",
    "Group",
    "Kappa",
    "Labelled",
    "Reply",
    "Session",
    "answer",
    "apply_labels",
    "conflicts",
    "disputes",
    "group_sentences",
    "is_decision",
    "kappas",
    "split_sequences",
    "start_session",
]
