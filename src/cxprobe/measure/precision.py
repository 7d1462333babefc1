"""The check of precision: how far a model's raw answers are from those it gives in float32."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import ModelError
from cxprobe.models import LanguageModel
from cxprobe.params import ModelSpec, Precision
from cxprobe.seeding import draw_places

M = TypeVar("M", bound=LanguageModel)
T = TypeVar("T")
Numbers = NDArray[np.float32] | NDArray[np.float64]


def relative_difference(found: Numbers, expected: Numbers) -> float:
    """Return the norm of the difference over the norm of what is expected.

    Args:
        found: Numbers of any shape.
        expected: Numbers of the same shape.
    """
    size = float(np.linalg.norm(expected))
    difference = float(np.linalg.norm(np.asarray(found, dtype=np.float64) - expected))
    return difference / size if size else float(np.inf if difference else 0.0)


def require_agreement(
    slug: str,
    spec: ModelSpec,
    load: Callable[[str, ModelSpec], M],
    precision: Precision,
    seed: int,
    model: M,
    items: Sequence[T],
    answer: Callable[[M, Sequence[T]], Iterable[Numbers]],
) -> dict[str, float]:
    """Refuse a precision in which a model's raw answers to a sample are too far from those in float32.

    Args:
        slug: The model's key in params.yaml.
        spec: Where the model comes from, and the precision that is asked for.
        load: Loads a model by its key and a spec.
        precision: The size of the sample, and the largest relative difference that is accepted.
        seed: The project's seed, by which the sample is drawn.
        model: The model in the precision that is asked for.
        items: Everything that will be measured.
        answer: Computes a model's raw answers to some of the items, in one or more parts, such as one a layer. Parts
            are compared separately, so that large numbers in one do not hide differences in another.

    Returns:
        "difference_from_float32": the `relative_difference` of the part that differs most. Nothing for a model in
        float32.

    Raises:
        ModelError: The difference is larger than accepted, or not a number.
    """
    if spec.dtype == "float32":
        return {}
    reference = load(slug, spec.model_copy(update={"dtype": "float32"}))
    sample = [items[place] for place in draw_places(len(items), precision.items, seed, "precision")]
    parts = zip(answer(model, sample), answer(reference, sample), strict=True)
    difference = float(np.max([relative_difference(found, expected) for found, expected in parts]))
    if not difference <= precision.largest_difference:
        raise ModelError(
            f"models.{slug}: in {spec.dtype} the difference of the raw answers from float32 is {difference:.4f} of "
            f"their size, more than precision.largest_difference ({precision.largest_difference}); set "
            f"models.{slug}.dtype: float32, or raise the limit if you accept the difference"
        )
    return {"difference_from_float32": difference}
