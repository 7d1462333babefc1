"""What figures have in common: colours for colour-blind readers (Okabe & Ito 2008), and markers."""

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more than colours, so that the pairs repeat late
