"""The documentation as a site: it builds without a warning, and the reference has all that there is."""

import re
import subprocess
import sys

import pytest
from typer.main import get_command

import cxprobe
from conftest import ROOT
from cxprobe.cli import app
from cxprobe.project.params import whole_params

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


def page(site, name) -> str:
    return (site / f"{name}.html").read_text()


def headings(html: str) -> set[str]:
    return {re.sub(r"<[^>]+>|&para;|¶", "", text).strip() for text in re.findall(r"<h[1-6][^>]*>(.*?)</h", html, re.S)}


def commands_below(group, before=""):
    for name, command in group.commands.items():
        yield f"{before}{name}"
        if hasattr(command, "commands"):
            yield from commands_below(command, f"{before}{name} ")


def test_every_model_and_key_of_the_parameters_every_command_package_and_public_name_is_on_its_page(site):
    params, api = page(site, "reference/params"), page(site, "reference/api")
    models = whole_params().model_json_schema()["$defs"]
    assert [name for name in models if len(re.findall(rf'<h[23] id="{name.lower()}">', params)) != 1] == []
    keys = {key for model in models.values() for key in model.get("properties", ())}
    assert [key for key in keys if f"<code>{key}</code>" not in params] == []
    commands = {f"cxprobe {name}" for name in commands_below(get_command(app))}
    assert commands <= headings(page(site, "reference/commands"))
    packages = {".".join(init.parent.relative_to(ROOT / "src").parts) for init in (ROOT / "src").rglob("__init__.py")}
    assert packages <= headings(page(site, "reference/packages"))
    names = [f"{getattr(cxprobe, name).__module__}.{name}" for name in cxprobe.__all__]
    assert [name for name in names if f'id="{name}"' not in api] == []


def test_nothing_is_fetched_from_elsewhere(site):
    for path in site.rglob("*.html"):
        fetched = re.findall(r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//""", path.read_text())
        linked = re.findall(
            r"""<link[^>]+rel=["']?(?:stylesheet|preconnect|icon)[^>]+href=["']?https?://""", path.read_text()
        )
        assert (fetched, linked) == ([], []), path


def test_every_picture_has_a_text_alternative(site):
    for path in site.rglob("*.html"):
        for image in re.findall(r"<img[^>]*>", path.read_text()):
            assert re.search(r'alt="[^"]{3,}"', image), (path, image)
