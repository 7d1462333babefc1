"""An S3 store such as a team shares, at a free port of 127.0.0.1."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from servers import free_ports

BUCKET = "bucket"  # as in the documentation


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
