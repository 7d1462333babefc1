"""What changes while a model is trained: the learning rate and the share of masked tokens."""


def learning_rate_factor(step: int, steps: int, warm_up: int) -> float:
    """Return the factor in [0, 1] of the peak learning rate: up linearly in ``warm_up`` steps, then down to 0."""
    if step < warm_up:
        return (step + 1) / warm_up
    return max(0.0, (steps - step) / max(1, steps - warm_up))


def masked_share(step: int, steps: int, first: float, last: float) -> float:
    """Return the share of tokens that is masked at a step, falling linearly from ``first`` to ``last``.

    A share that falls while a model learns gave better syntax than any constant one (Ankner et al. 2024, "Dynamic
    Masking Rate Schedules for MLM Pretraining", section 4).
    """
    return first + (last - first) * step / max(1, steps - 1)
