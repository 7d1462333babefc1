"""Whether an MLflow server that a test has started works."""

import http.client


def is_healthy(port: int) -> bool:
    """Return whether an MLflow server works at a port of this machine."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
