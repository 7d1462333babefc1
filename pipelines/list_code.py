"""list_code: the code of the package -> for each script, the modules that it reaches, so that DVC sees what changed."""

import sys
from pathlib import Path

from cxprobe.errors import CxprobeError
from cxprobe.files.code import write_code
from cxprobe.run.progress import end_on_signals

if __name__ == "__main__":
    end_on_signals()
    try:
        write_code(Path("pipelines"), Path("data/list_code"))
    except CxprobeError as fault:  # such as a full disk
        print(f"list_code: {fault}", file=sys.stderr)
        raise SystemExit(2) from None
