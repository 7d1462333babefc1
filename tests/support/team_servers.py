"""What a team shares, on this machine: PostgreSQL and an S3 store, each at a free port of 127.0.0.1.

A program or package that is not installed skips the test.
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
from servers import free_port, running

BUCKET = "bucket"  # as in the documentation
OWNER = {"aws_access_key_id": "TheKeyOfTheStore", "aws_secret_access_key": "TheSecretOfTheStore"}
CREDENTIALS = "[default]\n" + "".join(f"{name} = {value}\n" for name, value in OWNER.items()) + "region = us-east-1\n"


@contextmanager
def running_postgres() -> Iterator[dict[str, str]]:
    """Run PostgreSQL; gives the environment in which its commands reach it as its administrator.

    It refuses to run as root, so its folder is that of another user then.
    """
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    path = os.pathsep.join([*map(str, versions[-1:]), os.environ["PATH"]])
    initdb, server, ready = (shutil.which(name, path=path) for name in ("initdb", "postgres", "pg_isready"))
    if not (initdb and server and ready and shutil.which("openssl")):
        pytest.skip("needs the programs of PostgreSQL and openssl")
    folder, port = Path(tempfile.mkdtemp(prefix="cxprobe-postgres-")), free_port()
    (folder / "password").write_text("of the administrator")
    user = {}
    if os.geteuid() == 0:
        own = pwd.getpwnam("postgres" if "postgres" in {one.pw_name for one in pwd.getpwall()} else "nobody")
        user = {"user": own.pw_name, "group": own.pw_gid, "extra_groups": []}
        for made in (folder, folder / "password"):
            os.chown(made, own.pw_uid, own.pw_gid)
    create = [initdb, "--pgdata=data", "--username=postgres", "--auth=scram-sha-256", "--pwfile=password", "--no-sync"]
    command = [server, "-D", "data", "-h", "127.0.0.1", "-p", str(port), "-k", ""]
    environment = {"PATH": path, "LC_ALL": "C", "PGHOST": "127.0.0.1", "PGPORT": str(port)}

    def answers() -> bool:
        return subprocess.run([ready, "--quiet"], env=environment, check=False).returncode == 0

    place = {"cwd": folder, "env": environment, **user}
    try:
        subprocess.run(create, check=True, capture_output=True, **place)
        with running(command, folder / "log", answers, signal.SIGQUIT, **place):
            yield environment | {"PGUSER": "postgres", "PGPASSWORD": "of the administrator"}
    finally:
        shutil.rmtree(folder)


class Store:
    """A store that speaks S3, in threads of this process, with the documentation's bucket."""

    def __init__(self, port: int) -> None:
        import boto3

        self.address = f"http://127.0.0.1:{port}"
        self.client = boto3.client("s3", endpoint_url=self.address, region_name="us-east-1", **OWNER)

    def contents(self) -> dict[str, bytes]:
        """Return key -> content of all objects."""
        found = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        keys = [one["Key"] for page in found for one in page.get("Contents", [])]
        return {key: self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


@contextmanager
def running_store() -> Iterator[Store]:
    """Run a store."""
    for package in ("moto", "boto3", "flask_cors"):
        pytest.importorskip(package, reason="needs cxprobe's extra develop, for a local S3 server")
    from moto.server import ThreadedMotoServer

    port = free_port()
    server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
    server.start()
    try:
        store = Store(port)
        store.client.create_bucket(Bucket=BUCKET)
        yield store
    finally:
        server.stop()
