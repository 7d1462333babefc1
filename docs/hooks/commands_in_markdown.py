"""The commands as Markdown, from the typer app itself."""

import re

from typer.cli import get_docs_for_click
from typer.main import get_command

from cxprobe.cli import app


def describe_commands(name: str = "cxprobe") -> str:
    """Return every command with its arguments and options, as typer documents them."""
    command = get_command(app)
    with command.make_context(name, [], resilient_parsing=True) as context:
        text = get_docs_for_click(obj=command, ctx=context, name=name)  # type: ignore[arg-type]  # typer's own context
    _, _, rest = text.partition("\n")
    for one, about in command.commands.items():  # type: ignore[attr-defined]  # whole sentences, which typer shortens
        rest = re.sub(rf"^\* `{one}`:.*$", f"* `{one}`: {str(about.help).splitlines()[0]}", rest, flags=re.M)
    return f"# Commands\n\nThis page is made from the commands' own help.\n{rest}"
