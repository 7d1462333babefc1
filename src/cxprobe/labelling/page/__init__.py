"""Labelling in a browser: one page (label.html), what it shows (`state_of`), and a server on this machine for it.

`LabelServer` is the only part of the project that listens, on 127.0.0.1 alone; SECURITY.md says how it is guarded.
"""

from cxprobe.labelling.page.server import LabelServer
from cxprobe.labelling.page.state import state_of

__all__ = ["LabelServer", "state_of"]
