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
    for found in re.findall(r"^\* `([\w-]+)`.*$", rest, flags=re.M):
        rest = re.sub(rf"^\* `{found}`.*$", f"* `{found}`: {_first_sentence(command, found)}", rest, flags=re.M)
    return f"# Commands\n\nThis page is made from the commands' own help.\n{rest}"


def _first_sentence(group: Any, name: str) -> str:
    """Return the first line of a command's help, of a group's own commands or those below it; typer shortens it."""
    below = [one for one in group.commands.values() if hasattr(one, "commands")]
    for one in (group, *below):
        if name in one.commands:
            return str(one.commands[name].help).split("\n")[0]
    return ""
