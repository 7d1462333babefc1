"""A file of multiple choice in the shape of the CxNLI release, in words of this project."""

COLUMNS = ["Ex Num", "Type", "Text", "Output", "Original Text", "Option A", "Option B", "Option C", "Target"]
HEADER = "\t".join(COLUMNS)


def frame(number, rule, swapped, facts, asked, options, right):
    """Return the eight rows of a frame, in the shape of the release; facts and asked have {0} and {1}."""
    days, others = ("May", "June"), ("July", "August")
    a, b = "AB" if right == 0 else "BA"
    question = asked.format(*days)
    texts = {
        "Base": (f"{rule} {facts.format(*days)} {question}", a),
        "Recency Bias": (f"{facts.format(*days)} {rule} {question}", a),
        "Vocabulary Bias": (f"{swapped} {facts.format(*days)} {question}", b),
        "Name Bias": (f"{rule} {facts.format(*reversed(days))} {question}", b),
        "Short Calibration": (f"{facts.format(*days)} {question}", "C"),
        "Name Calibration": (f"{rule} {facts.format(*days)} {asked.format(*others)}", "C"),
        "Adjective Calibration": (f"{rule} They sang more in May than in June. {question}", "C"),
        "Nonce Calibration": (f"{rule} They blicked more in May than in June. {question}", "C"),
    }
    return [
        "\t".join([number, test, f'"{text}"', "a note", "", *options, "not enough information", target])
        for test, (text, target) in texts.items()
    ]


FIRST = frame(
    "1",
    "The warmer the sea, the later they left.",
    "The colder the sea, the later they left.",
    "The sea was warmer in {0} than in {1}.",
    "Did they leave later in {0} or in {1}?",
    ("in May", "in June"),
    0,
)
SECOND = frame(
    "3",
    "The more guests there were, the worse he cooked.",
    "The fewer guests there were, the worse he cooked.",
    "There were more guests in {0} than in {1}.",
    "How did he cook in {0}, compared to {1}?",
    ("better", "worse"),
    1,
)
PLAIN = "\r\n".join([HEADER, *FIRST, *SECOND])

FOREIGN = ["Recency Bias", "Vocabulary Bias", "Name Bias", "Short Calibration", "Name Calibration"]


def with_options_of_the_first(rows):
    """Return rows of which five tests have the options of the first frame, and its targets."""
    cells = [row.split("\t") for row in rows]
    return ["\t".join([*own[:5], "happier", "sadder", *own[7:]] if own[1] in FOREIGN else own) for own in cells]
