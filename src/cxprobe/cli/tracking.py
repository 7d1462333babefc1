"""The commands about MLflow: ``cxprobe sync`` and ``cxprobe ui``."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cxprobe.run.record import RunRecord


def sync() -> None:
    """Write every run that MLflow lacks into it, from the records under results/; damaged ones are left out."""
    from cxprobe.errors import DataError

    if faults := _sync()[1]:
        raise DataError("\n".join(faults))


def _sync() -> tuple["list[RunRecord]", list[str]]:
    """Write every run that MLflow lacks; return the records, and what is wrong with others."""
    from cxprobe.lines import all_experiments
    from cxprobe.run import tracking
    from cxprobe.run.results import read_records

    records, faults = read_records()
    added = tracking.sync(records, all_experiments())
    print(f"{len(records)} runs have a record under results/; {added} of them were new to MLflow")
    return records, faults


def ui(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Where MLflow listens, on this machine; else as report.mlflow.")
    ] = None,
) -> None:
    """Open MLflow on this machine: write every run that it lacks, print its addresses, and serve until Ctrl-C."""
    import errno
    import os
    import sys
    from urllib.parse import urlsplit

    from cxprobe.errors import DataError
    from cxprobe.lines import all_experiments
    from cxprobe.project.params import load_params
    from cxprobe.run import tracking

    linked = load_params().report.mlflow
    port = port or urlsplit(linked).port or 5000
    shared = os.environ.get("MLFLOW_TRACKING_URI", "")
    server = shared if shared.startswith("http") else f"http://127.0.0.1:{port}"
    if server != shared and _is_taken(port):
        what = os.strerror(errno.EADDRINUSE)
        raise DataError(f"port {port}: {what}; end what listens there, or take another --port")
    records, faults = _sync()
    print("\n".join(faults), file=sys.stderr, end="\n" * bool(faults))
    for experiment, address in tracking.experiment_links(records, server, all_experiments()):
        print(f"{experiment}: {address}")
    if server == shared:
        print("MLFLOW_TRACKING_URI names this server, so none is started here")
        return
    if server != linked:
        print(f"the report's links lead to {linked}; with report.mlflow: {server}, `dvc repro` lets them lead here")
    print(f"MLflow is at {server}; Ctrl-C ends it", flush=True)
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"  # nothing here uses MLflow's jobs
    options = [f"--backend-store-uri={tracking.tracking_uri()}", "--host=127.0.0.1", f"--port={port}", "--workers=1"]
    # MLflow replaces this process, so that signals reach it.
    os.execv(sys.executable, [sys.executable, "-m", "mlflow", "ui", *options])  # noqa: S606


def _is_taken(port: int) -> bool:
    """Return whether something listens at a port of this machine."""
    from http.client import HTTPConnection

    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.connect()
    except OSError:
        return False
    connection.close()
    return True
