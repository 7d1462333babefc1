"""The files of a project, and their places: constructions, prompts, pipelines, parameters, models.

The build of the wheel (hatch_build.py) runs this file alone, so it imports nothing of cxprobe.
"""

from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]

BUNDLED = (
    ".dvc/config",
    ".dvc/plots",
    ".dvcignore",
    ".gitignore",
    "LICENSE",
    "constraints.txt",
    "constructions",
    "corpora",
    "data/**/.gitignore",
    "dvc.yaml",
    "lexicon",
    "mlruns/.gitignore",
    "models/LICENSE-APACHE-2.0.txt",
    "models/*-clm*",
    "models/mini-mlm",
    "models/mini-ngrams",
    "models/parser/LICENSE",
    "models/parser/README.md",
    "models/*/en_ewt_cxprobe",
    "models/tagger/README.md",
    "params.schema.json",
    "params.yaml",
    "pipelines",
    "presets",
    "prompts",
    "published",
    "results/**/.gitignore",
)
"""Files and whole folders, relative to the repository. What trained the bundled models is not among them: no pipeline
runs it, and it stays in the repository."""


def bundled_files() -> Path:
    """Return the folder with ``constructions/``, ``lexicon/``, ``prompts/``, ``pipelines/``, dvc.yaml and presets.

    A wheel carries them inside the package, as ``cxprobe/bundled``; an editable installation is the repository itself.
    """
    inside = _PACKAGE / "bundled"
    return inside if inside.is_dir() else _PACKAGE.parents[1]


def bundled_paths(root: Path) -> Iterator[Path]:
    """Yield every file that a wheel carries, relative to the repository ``root`` or to `bundled_files`.

    Raises:
        FileNotFoundError: Something of `BUNDLED` is not there, so that a wheel would not be complete.
    """
    for entry in BUNDLED:
        files = sorted(file for path in root.glob(entry) for file in (path, *path.rglob("*")) if file.is_file())
        if not files:
            raise FileNotFoundError(f"{root / entry}: there is no such file or folder, and a wheel must carry it")
        for file in files:
            path = file.relative_to(root)
            # The page is about the constructions of the repository, and nothing in a project makes it anew.
            if "__pycache__" not in path.parts and path.as_posix() != "constructions/README.md":
                yield path
