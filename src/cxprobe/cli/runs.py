"""The commands about what has run: ``cxprobe sync`` and ``cxprobe ui`` for MLflow, ``cxprobe export`` for others."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cxprobe.errors import DataError, raise_faults


def sync() -> None:
    """Write every run that MLflow lacks into it, from the records under results/; damaged ones are left out."""
    raise_faults(DataError, _sync())


def _sync() -> list[str]:
    """Write every run that MLflow lacks, and return what is wrong with records."""
    from cxprobe.run import tracking
    from cxprobe.run.results import read_runs
    from cxprobe.secrets import redact
    from cxprobe.tasks.registry import all_experiments

    runs, faults = read_runs()
    added = tracking.sync(runs, all_experiments())
    store = redact(tracking.tracking_uri())
    print(f"{len(runs)} runs have a record under results/; {added} of them were new to MLflow at {store}")
    return faults


def ui(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Where MLflow listens, on this machine; else as report.mlflow.")
    ] = None,
) -> None:
    """Open MLflow on this machine: write every run that it lacks, and serve until Ctrl-C."""
    import os
    import sys
    from urllib.parse import urlsplit

    from cxprobe.project.params import load_params
    from cxprobe.run import tracking

    print("\n".join(_sync()), file=sys.stderr)
    if tracking.tracking_uri().startswith("http"):
        print("MLFLOW_TRACKING_URI names a server, so none is started here")
        return
    linked = load_params().report.mlflow
    port = port or urlsplit(linked).port or 5000
    server = f"http://127.0.0.1:{port}"
    if server != linked:
        print(f"the report's links lead to {linked}; with report.mlflow: {server}, `dvc repro` lets them lead here")
    print(f"MLflow is at {server} in some seconds; Ctrl-C ends it", flush=True)
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"  # nothing here uses MLflow's jobs
    options = [f"--backend-store-uri={tracking.tracking_uri()}", "--host=127.0.0.1", f"--port={port}", "--workers=1"]
    # MLflow replaces this process, so that signals reach it.
    os.execv(sys.executable, [sys.executable, "-m", "mlflow", "ui", *options])  # noqa: S606


def export(
    format_name: Annotated[
        Literal["hf", "csv", "items"],
        typer.Argument(
            metavar="FORMAT", help="hf: a data set of the hub. csv: every answer. items: a spreadsheet for people."
        ),
    ],
    target: Annotated[
        Path, typer.Argument(help="The folder (hf), which must be new or empty, or the file, which is replaced.")
    ],
    task: Annotated[str, typer.Option(help="Of items: the task that they are of.")] = "contrasts",
    n: Annotated[int, typer.Option(min=1, help="Of items: how many are drawn.")] = 60,
) -> None:
    """Give data and results to other tools.

    The data set leaves out mined sentences and items of other people; the command prints what it leaves out.
    """
    from cxprobe.exports import EXPORTS
    from cxprobe.files.writing import write_bytes
    from cxprobe.project.params import load_params

    if format_name == "items":
        from cxprobe.exports import export_items
        from cxprobe.files.texts import refuse_unwritable, write_table_as

        key = target.with_suffix(f".key{target.suffix}")
        for path in (target, key):
            refuse_unwritable(str(path))
            if path.exists():
                raise DataError(f"{path}: is there already, and somebody may have filled it in; name another file")
        for path, table in zip((target, key), export_items(load_params(), task, n), strict=True):
            write_table_as(table, str(path))
        print(f"{target}: {n} items; write the number of an option into chosen. {key} has the right ones")
        return
    if format_name == "hf" and target.exists() and (target.is_file() or any(target.iterdir())):
        raise DataError(f"{target}: is there already; name a folder that does not exist or is empty")
    files, said = EXPORTS[format_name](load_params())
    if not files:
        raise DataError("\n".join(["there is nothing to export; run `dvc repro` in the project's folder", *said]))
    for name, content in files.items():
        write_bytes(content, target / name)
    print(f"{target}:", *said, sep="\n")
