"""What a blind model is, for tables and runs."""

from cxprobe.records import ModelFacts


def blind_facts(kind: str) -> ModelFacts:
    """Return the facts about a blind model: its kind in words, and that it has neither parameters nor weights.

    Args:
        kind: As params.yaml names it, such as "last_rule".
    """
    return ModelFacts(name=kind.replace("_", " "), kind="blind", parameters=None, weights="", state="none")
