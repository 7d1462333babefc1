"""The documentation as a site: it builds without a warning and fetches nothing."""

import re
import subprocess
import sys

import pytest

from conftest import ROOT

pytestmark = pytest.mark.pipeline

pytest.importorskip("mkdocs", reason="needs the extra docs")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


SOURCE = r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//"""
LINK = r"""<link[^>]+rel=["']?(?:stylesheet|preconnect|icon)[^>]+href=["']?https?://"""


def test_nothing_is_fetched_from_elsewhere(site):
    for path in site.rglob("*.html"):
        assert re.findall(f"{SOURCE}|{LINK}", path.read_text()) == [], path


def test_every_picture_has_a_text_alternative(site):
    for path in site.rglob("*.html"):
        for image in re.findall(r"<img[^>]*>", path.read_text()):
            assert re.search(r'alt="[^"]{3,}"', image), (path, image)
