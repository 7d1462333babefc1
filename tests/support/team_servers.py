"""What a team shares, on this machine: PostgreSQL and an S3 store, each at a free port of 127.0.0.1.

A program that is not installed skips the test.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from servers import Program, free_ports, running

BUCKET = "bucket"  # as in the documentation


def installed(name: str, *folders: Path) -> str:
    """Return the path of a program, or skip the test."""
    places = [*map(str, folders), os.environ["PATH"], "/usr/sbin"]
    found = shutil.which(name, path=os.pathsep.join(places))
    return found or pytest.skip(f"needs the program {name}")


# PostgreSQL


class Postgres(Program):
    """A server of PostgreSQL, and the environment in which its own commands reach it as its administrator."""

    administrator: dict[str, str]


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Run PostgreSQL; `kill` ends it at once, as a crash does.

    It refuses to run as root, so its folder is that of another user then.
    """
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    initdb, server, ready = (installed(name, *versions[-1:]) for name in ("initdb", "postgres", "pg_isready"))
    folder, (port,) = Path(tempfile.mkdtemp(prefix="cxprobe-postgres-")), free_ports(1)
    (folder / "password").write_text("of the administrator")
    user = {}
    if os.geteuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = {"user": "postgres" if "postgres" in names else "nobody", "extra_groups": []}
        user["group"] = pwd.getpwnam(user["user"]).pw_gid
        for path in (folder, folder / "password"):
            os.chown(path, pwd.getpwnam(user["user"]).pw_uid, user["group"])
    data, own = str(folder / "data"), {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    create = [initdb, "--pgdata", data, "--username=postgres", "--auth=scram-sha-256", "--pwfile=password", "--no-sync"]
    subprocess.run(create, cwd=folder, env=own, check=True, capture_output=True, **user)
    command = [server, "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", ""]
    check = [ready, "--host=127.0.0.1", f"--port={port}", "--quiet"]
    postgres = Postgres(
        command,
        port,
        folder / "log",
        lambda: subprocess.run(check, check=False).returncode == 0,
        signal.SIGQUIT,
        cwd=folder,
        env=own,
        **user,
    )
    postgres.administrator = {
        "PATH": f"{Path(ready).parent}{os.pathsep}{os.environ['PATH']}",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(port),
        "PGUSER": "postgres",
        "PGPASSWORD": "of the administrator",
    }
    try:
        with running(postgres):
            yield postgres
    finally:
        shutil.rmtree(folder)


# S3


class Store:
    """A store that speaks S3, in threads of this process."""

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        (port,) = free_ports(1)
        self.address = f"http://127.0.0.1:{port}"
        self.server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
        self.server.start()
        self.client.create_bucket(Bucket=BUCKET)

    @property
    def client(self):
        """A client with the rights of the store's owner."""
        import boto3

        return boto3.client("s3", endpoint_url=self.address, region_name="us-east-1", **OWNER)

    def contents(self) -> dict[str, bytes]:
        """Return key -> content of all objects."""
        found = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        keys = [one["Key"] for page in found for one in page.get("Contents", [])]
        return {key: self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


OWNER = {"aws_access_key_id": "TheKeyOfTheStore", "aws_secret_access_key": "TheSecretOfTheStore"}
CREDENTIALS = "[default]\n" + "".join(f"{name} = {value}\n" for name, value in OWNER.items()) + "region = us-east-1\n"


@contextmanager
def running_store() -> Iterator[Store]:
    """Run a store with the documentation's bucket."""
    for package in ("moto", "boto3", "flask_cors"):
        pytest.importorskip(package, reason="needs cxprobe's extras team and develop, for a local S3 server")
    store = Store()
    try:
        yield store
    finally:
        from moto.core.models import DEFAULT_ACCOUNT_ID
        from moto.s3.models import s3_backends

        store.server.stop()
        for backend in s3_backends[DEFAULT_ACCOUNT_ID].values():
            backend.reset()
