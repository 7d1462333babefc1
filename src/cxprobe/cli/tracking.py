"""The commands about MLflow: ``cxprobe sync`` and ``cxprobe ui``."""

from typing import Annotated

import typer


def sync() -> None:
    """Write every run that MLflow lacks into it, from the records under results/; damaged ones are left out."""
    from cxprobe.errors import DataError

    if faults := _sync():
        raise DataError("\n".join(faults))


def _sync() -> list[str]:
    """Write every run that MLflow lacks, and return what is wrong with records."""
    from cxprobe.run import tracking
    from cxprobe.run.results import read_runs
    from cxprobe.tasks.registry import all_experiments

    runs, faults = read_runs()
    added = tracking.sync(runs, all_experiments())
    print(f"{len(runs)} runs have a record under results/; {added} of them were new to MLflow")
    return faults


def ui(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Where MLflow listens, on this machine; else as report.mlflow.")
    ] = None,
) -> None:
    """Open MLflow on this machine: write every run that it lacks, and serve until Ctrl-C."""
    import os
    import sys
    from contextlib import closing, suppress
    from http.client import HTTPConnection
    from urllib.parse import urlsplit

    from cxprobe.errors import DataError
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
    with suppress(ConnectionRefusedError), closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.connect()
        raise DataError(f"--port {port}: another program listens there; end it, or name another port")
    print(f"MLflow is at {server} in some seconds; Ctrl-C ends it", flush=True)
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"  # nothing here uses MLflow's jobs
    options = [f"--backend-store-uri={tracking.tracking_uri()}", "--host=127.0.0.1", f"--port={port}", "--workers=1"]
    # MLflow replaces this process, so that signals reach it.
    os.execv(sys.executable, [sys.executable, "-m", "mlflow", "ui", *options])  # noqa: S606
