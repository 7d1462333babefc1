"""The server of the labelling page, asked by HTTP as browsers and others ask it."""

import http.client
import json
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from labelling_desk import serving

from cxprobe.people.labels import read_labels


def ask(server, path="state", method="GET", body=None, **headers):
    """Return the status, the headers and the text of a reply."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    link.putrequest(method, path if path.startswith("/") else f"/{server.secret}/{path}", skip_host=True)
    known = {"Host": f"127.0.0.1:{server.port}"} | ({} if body is None else {"Content_Length": str(len(body))})
    for name, value in (known | headers).items():
        link.putheader(name.replace("_", "-"), value)
    link.endheaders(body)
    reply = link.getresponse()
    text = reply.read().decode()
    link.close()
    return reply.status, reply.headers, text


def send(server, body, **headers):
    return ask(server, "answer", "POST", body, **({"Content_Type": "application/json"} | headers))


def say(server, text, shown, **headers):
    return send(server, json.dumps({"text": text, "shown": shown}).encode(), **headers)


def state(server):
    return json.loads(ask(server)[2])


def test_a_session_is_labelled_undone_and_survives_a_reload(tmp_path):
    with serving(tmp_path) as server:
        first = state(server)
        assert (first["shown"], first["total"], first["left"], first["undo"]) == (1, 4, 4, False)
        assert first["positive"] == "each half is a clause"
        after = json.loads(say(server, "p", 1)[2])
        assert (after["shown"], after["left"], after["said"]) == (2, 3, "number 1 is positive")
        assert [one.label for one in read_labels(tmp_path / "labels.tsv")] == ["positive"]
        reloaded = state(server)
        assert reloaded | {"said": after["said"]} == after
        undone = json.loads(say(server, "z", 2)[2])
        assert (undone["shown"], undone["left"]) == (1, 4)
        assert read_labels(tmp_path / "labels.tsv") == []


def test_of_answers_to_the_same_sentences_at_the_same_time_one_counts(tmp_path):
    with serving(tmp_path) as server, ThreadPoolExecutor(5) as threads:
        replies = [json.loads(reply[2]) for reply in threads.map(lambda _: say(server, "p", 1), range(5))]
    assert sorted(reply["refused"] for reply in replies) == [False, True, True, True, True]
    assert len(read_labels(tmp_path / "labels.tsv")) == 1


def test_it_listens_on_this_machine_alone(tmp_path):
    with serving(tmp_path) as server:
        assert server.address.startswith("http://127.0.0.1:")
        listening = [one.laddr for one in psutil.Process().net_connections("tcp") if one.status == "LISTEN"]
        assert [address.ip for address in listening if address.port == server.port] == ["127.0.0.1"]


@pytest.mark.parametrize("path", ["/", "/state", "/wrong/", "/wrong/state", "//", "/%C3%A9/state", "/%2e%2e/state"])
def test_without_the_secret_there_is_nothing(tmp_path, path):
    with serving(tmp_path) as server:
        status, _, text = ask(server, path)
        assert status == 404
        assert server.secret not in text
        assert "DT" not in text


@pytest.mark.parametrize("host", ["example.org", "example.org:{port}", "127.0.0.1", "127.0.0.1:1", "", "[::1]:{port}"])
def test_a_request_for_another_host_is_refused(tmp_path, host):
    with serving(tmp_path) as server:
        for path in ("", "state"):
            assert ask(server, path, Host=host.format(port=server.port))[0] == 403
            assert ask(server, path, Host=f"localhost:{server.port}")[0] == 200


@pytest.mark.parametrize("origin", ["https://example.org", "null", "http://127.0.0.1:1", "http://localhost"])
def test_an_answer_from_another_page_is_refused(tmp_path, origin):
    with serving(tmp_path) as server:
        assert say(server, "p", 1, Origin=origin)[0] == 403
        assert say(server, "p", 1, Content_Type="text/plain")[0] == 415
        assert say(server, "p", 1, Content_Type="application/x-www-form-urlencoded")[0] == 415
        assert not (tmp_path / "labels.tsv").exists()
        assert say(server, "p", 1, Origin=server.address.rsplit("/", 2)[0])[0] == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{}", 400),
        (b"[1]", 400),
        (b"\xff\xfe", 400),
        (b'{"text": "p", "shown": "1"}', 400),
        (b'{"text": "p", "shown": -1}', 400),
        (b'{"text": "p", "shown": 1, "more": 2}', 400),
        (b'{"text": "' + b"p" * 400 + b'", "shown": 1}', 400),
        (b" " * 20_000, 413),
    ],
)
def test_what_is_no_answer_is_refused(tmp_path, body, status):
    with serving(tmp_path) as server:
        assert send(server, body)[0] == status
        assert state(server)["left"] == 4


@pytest.mark.parametrize("length", ["x", "-1", "1e3", "\xb2", "9" * 19, "9" * 5_000])
def test_a_wrong_length_is_refused(tmp_path, length):
    with serving(tmp_path) as server:
        assert send(server, None, Content_Length=length)[0] in (400, 413)


def test_labels_that_cannot_be_written_are_told_and_the_session_goes_on(tmp_path):
    with serving(tmp_path) as server:
        (tmp_path / "labels.tsv").write_text("broken\n")
        status, _, text = say(server, "p", 1)
        assert status == 500
        assert "not saved" in text
        assert "labels.tsv, line 1" in text
        (tmp_path / "labels.tsv").unlink()
        assert json.loads(say(server, "p", 1)[2])["left"] == 3


def test_nothing_of_a_reply_is_kept_by_the_browser_or_sent_to_others(tmp_path):
    with serving(tmp_path) as server:
        for path in ("", "state"):
            headers = ask(server, path)[1]
            assert headers["Cache-Control"] == "no-store"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert "Access-Control-Allow-Origin" not in headers
        policy = ask(server, "")[1]["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
