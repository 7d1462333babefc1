"""The commands that keep the tracking store and the files in order: ``cxprobe sync`` and ``cxprobe prune``."""

from typing import Annotated

import typer

from cxprobe.cli.names import shown_size


def sync() -> None:
    """Write every run that MLflow lacks into it, from the records under results/."""
    from cxprobe.run import tracking
    from cxprobe.run.results import read_records

    records = read_records()
    added = tracking.sync(records)
    print(f"{len(records)} runs have a record under results/; {added} of them were new to MLflow")


def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where MLflow listens, on this machine.")] = 5000,
) -> None:
    """Open MLflow on this machine: write every run that it lacks, name its ready views, and serve until Ctrl-C."""
    import os
    import sys

    from cxprobe.run import tracking
    from cxprobe.run.results import read_records

    sync()
    shared = os.environ.get("MLFLOW_TRACKING_URI", "")
    server = shared if shared.startswith("http") else f"http://127.0.0.1:{port}"
    for experiment, name, address in tracking.view_links(read_records(), server):
        print(f"{experiment}, {name}: {address}")
    if server == shared:
        print("MLFLOW_TRACKING_URI names this server, so none is started here")
        return
    print(f"MLflow is at {server}; Ctrl-C ends it", flush=True)
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"  # nothing here uses MLflow's jobs
    options = [f"--backend-store-uri={tracking.tracking_uri()}", "--host=127.0.0.1", f"--port={port}", "--workers=1"]
    # MLflow takes the place of this process, so that signals reach it.
    os.execv(sys.executable, [sys.executable, "-m", "mlflow", "ui", *options])  # noqa: S606


def prune(
    yes: Annotated[bool, typer.Option("--yes", help="Remove what is listed; without it nothing is changed.")] = False,
) -> None:
    """List what no stage has any more: entries of dvc.lock, data, results and answers; with --yes, remove it."""
    from cxprobe.run.leftovers import find_leftovers, remove_leftovers, size_of

    leftovers = find_leftovers()
    if leftovers.entries:
        print(f"dvc.lock: {len(leftovers.entries)} entries of stages that dvc.yaml does not have")
        print("".join(f"  {name}\n" for name in leftovers.entries), end="")
    sizes = {path: size_of(path) for path in leftovers.paths}
    for path, size in sizes.items():
        print(f"{path}  {shown_size(size)}")
    if not (leftovers.entries or sizes):
        print("nothing is left over")
    elif yes:
        remove_leftovers(leftovers)
        print(f"removed, {shown_size(sum(sizes.values()))}; `dvc gc --workspace` frees DVC's cache of it too")
    else:
        print(f"nothing was removed; `cxprobe prune --yes` removes all of this, {shown_size(sum(sizes.values()))}")
