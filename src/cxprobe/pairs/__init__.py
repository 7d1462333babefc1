"""Minimal pairs, the project's own and others': Oba and Sugawara (2026).

The package has the name of a public function, `cxprobe.pairs`, and can be called as it.
"""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from cxprobe.api import pairs

        return pairs(*arguments, **options)


sys.modules[__name__].__class__ = _CallablePackage
