"""Options that have a fixed set of values, checked when they are given; a type annotation alone refuses nothing."""

from operator import index
from typing import Any, Literal, get_args

from cxprobe.errors import DataError
from cxprobe.files.schema import suggest


def require_option(name: str, value: object, allowed: Any) -> None:
    """Refuse a value that an option does not have.

    Args:
        name: The option.
        value: What was given.
        allowed: Its values, as a ``Literal`` of strings.

    Raises:
        DataError: The message has the option, the value, a near match and all values.
    """
    values = list(get_args(allowed))
    if not isinstance(value, str) or value not in values:
        raise DataError(f"{name} is {value!r}{suggest(str(value), values)}")


def require_layers(layers: object) -> None:
    """Refuse what is neither "all" nor a sequence of whole numbers; whether a model has these layers is seen later.

    Raises:
        DataError: The message has the value, and how layers are given.
    """
    if isinstance(layers, str):
        require_option("layers", layers, Literal["all"])
        return
    try:
        for layer in layers:  # type: ignore[attr-defined]
            index(layer)
    except TypeError:
        raise DataError(f'layers is {layers!r}; give "all", or a list of whole numbers such as [0, -1]') from None
