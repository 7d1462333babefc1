"""The command ``cxprobe describe``."""


def describe() -> None:
    """Write constructions/README.md: each construction, examples of its items, and the accuracies of blind models."""
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
    from cxprobe.files.writing import write_bytes
    from cxprobe.site.constructions import make_page

    path = CONSTRUCTIONS_FOLDER / "README.md"
    write_bytes(make_page().encode(), path)
    print(f"{path} says what the data say")
