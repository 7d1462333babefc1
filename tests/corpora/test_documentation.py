import ast
import json
from importlib.metadata import version
from pathlib import Path

import networkx
import pytest
from small_corpora import settings_of

from cxprobe.errors import DataError
from cxprobe.run.mining import CorporaParams
from cxprobe.run.stage import Stage
from documentation import docstrings, prose, write_corpora

DOCSTRING = """
    The larger the matrix, the longer the *decomposition* takes; see :class:`~numpy.ndarray`
    and `the guide <https://example.org>`_ for ``more`` [1]_
    on :math:`\\alpha`.

    .. note:: A note is prose as well, even here.

    .. code-block:: python

        The code = is_no(prose)

    Parameters
    ----------
    alpha : float, default=1.0
        The higher the value, the smoother the curve.
    gamma : float, int or None, optional, default is the value 3
    :param delta: the steeper the slope, the faster it is.

    - Bullets are allowed if they hold sentences.

    An example follows::

        This is an Example That is indented code.

    >>> The doctest prompt is no prose at all.
    42

    | The | cells of it are no prose. |

    ```
    The fence hides what is in it from us.
    ```
    > The lower the better.

    Too short.
"""


def test_only_running_english_is_kept():
    assert list(prose(DOCSTRING)) == [
        "The larger the matrix, the longer the decomposition takes; see numpy.ndarray and the guide for more on alpha.",
        "A note is prose as well, even here.",
        "The higher the value, the smoother the curve.",
        "the steeper the slope, the faster it is.",
        "Bullets are allowed if they hold sentences.",
        "The lower the better.",
    ]


def test_docstrings_of_a_real_package_are_those_that_python_sees():
    found, expected = set(), set()
    for path in sorted(Path(networkx.__file__).parent.joinpath("algorithms").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        found |= set(docstrings(source))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
                text := ast.get_docstring(node, False)
            ):
                expected.add(text)
    assert len(expected) > 300
    assert len(found & expected) / len(expected) > 0.98
    assert len(found - expected) / len(found) < 0.02


def test_the_corpora_that_are_mined_are_written_with_the_versions_of_their_packages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "mined.txt").write_text("# what is read\nJobLib  # with its docstrings\n")
    (tmp_path / "corpora" / "other.txt").write_text("joblib\nno-such-package\nnor-this")
    mining = settings_of(tmp_path).model_copy(update={"constructions": {"way": "mined"}})
    stage = Stage("write_corpora", "", CorporaParams.model_construct(mining=mining))
    packages = write_corpora(stage).tables["packages"]
    assert packages.to_dict("records") == [{"corpus": "mined", "package": "joblib", "version": version("joblib")}]
    files = sorted(tmp_path.glob("data/write_corpora/*/*.jsonl"))
    records = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert len(records) > 50
    assert {record["url"].partition("/")[0] for record in records} == {f"joblib=={version('joblib')}"}
    mining.constructions["way"] = "other"
    with pytest.raises(DataError, match=r"^corpora/other\.txt names .*: no-such-package, nor-this\."):
        write_corpora(stage)
