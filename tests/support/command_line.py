"""The command line of cxprobe, called in this process."""

from typer.testing import CliRunner

from cxprobe.cli import app


def call(*words: object) -> tuple[int, str]:
    """Return the exit code of a command and what it prints; an error that it does not report is raised."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output
