"""list_code: the code of the package -> for each script, the modules that it reaches, so that DVC sees what changed."""

from pathlib import Path

from cxprobe.run.code import write_code

if __name__ == "__main__":
    write_code(Path("pipelines"), Path("data/list_code"))
