"""The commands as Markdown, from the typer app itself."""

import re
from typing import Any

from typer.cli import get_docs_for_click
from typer.main import get_command

from cxprobe.cli import app


def describe_commands(name: str = "cxprobe") -> str:
    """Return every command with its arguments and options, as typer documents them."""
    command = get_command(app)
    with command.make_context(name, [], resilient_parsing=True) as context:
        text = get_docs_for_click(obj=command, ctx=context, name=name)  # type: ignore[arg-type]  # typer's own context
    _, _, rest = text.partition("\n")
    sections = re.split(rf"^(?=## `{name} )", rest, flags=re.M)
    whole = "".join(_in_full(command, section) for section in sections)
    return f"# Commands\n\nThis page is made from the commands' own help.\n{whole}"


def _in_full(group: Any, section: str) -> str:
    """Return the section of a group of commands with whole sentences, which typer shortens."""
    heading = re.match(r"#+ `\S+ (\S+)`", section)
    group = group.commands[heading[1]] if heading else group

    def line(found: re.Match[str]) -> str:
        return f"* `{found[1]}`: {str(group.commands[found[1]].help).splitlines()[0]}"

    names = "|".join(getattr(group, "commands", {}))
    return re.sub(rf"^\* `({names})`.*$", line, section, flags=re.M) if names else section
