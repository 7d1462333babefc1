"""The check of precision: how far a model's raw answers are from those of the same model in float32, not quantised."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import ModelError
from cxprobe.lm.language_models import LanguageModel
from cxprobe.lm.params import ModelSpec, Precision, ServedModel
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
    spec: ModelSpec | ServedModel,
    load: Callable[[str, ModelSpec], M],
    precision: Precision,
    seed: int,
    model: M,
    items: Sequence[T],
    answer: Callable[[M, Sequence[T]], Iterable[Numbers]],
) -> dict[str, float]:
    """Refuse a precision in which a model's raw answers to a sample are too far from those in float32.

    ``spec.compared`` says with which precision of the same model, not quantised, they are compared, and may have a
    limit of its own. Where it is None, the model says so in its `precision`, which every record has.

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
        "difference_from_float32" (or from what it was compared with): the `relative_difference` of the part that
        differs most. Nothing for a model in float32, one that is compared with nothing, and one on a server.

    Raises:
        ModelError: The difference is larger than accepted, or not a number.
    """
    if isinstance(spec, ServedModel) or spec.compared is None or (spec.dtype == "float32" and not spec.quantisation):
        return {}
    other, limit = spec.compared.dtype, spec.compared.largest_difference or precision.largest_difference
    reference = load(slug, spec.model_copy(update={"dtype": other, "quantisation": None}))
    sample = [items[place] for place in draw_places(len(items), precision.items, seed, "precision")]
    parts = zip(answer(model, sample), answer(reference, sample), strict=True)
    difference = float(np.max([relative_difference(found, expected) for found, expected in parts]))
    if not difference <= limit:
        own = spec.compared.largest_difference is not None
        place = f"models.{slug}.compared.largest_difference" if own else "precision.largest_difference"
        other_option = (
            f"leave out models.{slug}.quantisation" if spec.quantisation else f"set models.{slug}.dtype: {other}"
        )
        raise ModelError(
            f"models.{slug}: in {spec.precision} the difference of the raw answers from {other} is {difference:.4f} of "
            f"their size, more than {place} ({limit}); {other_option}, or raise the limit if you accept the difference"
        )
    return {f"difference_from_{other}": difference}
