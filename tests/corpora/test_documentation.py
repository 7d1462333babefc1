import ast
import json
from importlib.metadata import version
from pathlib import Path

import networkx
import pytest

from documentation import docstrings, find_packages, prose, write_corpus

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
    beta (int, optional): The beta is kept without its name.
    :param delta: the steeper the slope, the faster it is.

    - Bullets are allowed if they hold sentences.
      They may go on in a second line.

    An example follows::

        This is an Example That is indented code.

    >>> The doctest prompt is no prose at all.
    42

    ===== ===== The table is no prose.
    | The | cells of it are no prose either. |

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
        "The beta is kept without its name.",
        "the steeper the slope, the faster it is.",
        "Bullets are allowed if they hold sentences. They may go on in a second line.",
        "The lower the better.",
    ]


@pytest.mark.parametrize(
    "source",
    [
        '"""Of a module."""\nx = """no docstring"""\n',
        "#!/usr/bin/env python\n# Comment\n\n'''Of a module.'''\n",
        'def f(a: int = 3) -> None:  # why\n    r"""Of a \\d function."""\n',
        'class C:\n\n    """Of a class with "quotes"."""\n',
        'def f():\n    """An \\"escaped\\" quote\\n and a line."""\n    return """no docstring"""\n',
        "def f():\n    pass\n",
    ],
)
def test_docstrings_are_those_that_python_sees(source):
    nodes = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    expected = {text for node in nodes if (text := ast.get_docstring(node, clean=False))}
    assert set(docstrings(source)) == expected


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


def test_only_the_packages_that_are_named_are_read(tmp_path):
    (tmp_path / "names.txt").write_text("# what is read\nJobLib  # with its docstrings\n")
    write_corpus(find_packages(tmp_path / "names.txt"), tmp_path)
    records = [json.loads(line) for path in tmp_path.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(records) > 50
    assert {record["url"].partition("/")[0] for record in records} == {f"joblib=={version('joblib')}"}


def test_a_package_that_is_not_installed_is_named(tmp_path):
    (tmp_path / "names.txt").write_text("joblib\nno-such-package\nnor-this")
    with pytest.raises(SystemExit, match=r"not installed: no-such-package, nor-this\."):
        find_packages(tmp_path / "names.txt")
