"""The command ``cxprobe schema``."""


def schema() -> None:
    """Print the JSON Schema of params.yaml, by which editors complete and check it; params.schema.json keeps it."""
    from cxprobe.run.params import schema_text

    print(schema_text(), end="")
