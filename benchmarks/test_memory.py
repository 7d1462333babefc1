"""The memory of a loop over models, as users write it: one model after another, under one name."""

import gc

import psutil
import pytest

import cxprobe

LOADS = 30
SETTLED = 10  # loads after which the allocators of Python and PyTorch have what they need


@pytest.mark.parametrize("name", ["mini-clm", "mini-mlm"])
def test_a_loop_of_loads_keeps_one_model_in_memory(name, capsys):
    process, memory = psutil.Process(), []
    for _ in range(LOADS):
        lm = cxprobe.load(name, device="cpu")
        lm.model.read_by = lm  # a reference cycle, as hooks and callbacks make them
        gc.collect()
        memory.append(process.memory_info().rss)
    size = sum(weights.nbytes for weights in lm.model.parameters())
    growth = memory[-1] - memory[SETTLED - 1]
    with capsys.disabled():
        print(
            f"\nload(), {name}: {growth / 1e6:+.0f} MB from load {SETTLED} to load {LOADS}, each of {size / 1e6:.0f} MB"
        )
    assert growth < size
