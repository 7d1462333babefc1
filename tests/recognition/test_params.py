import pytest
from pydantic import ValidationError

from cxprobe.recognition.params import Controls, Subsets


def test_a_control_task_needs_folds():
    with pytest.raises(ValidationError, match=r"control_task: true needs folds; give a number of 2 or more, or set"):
        Controls(folds=None, control_task=True, code_length=False)
    assert Controls(folds=None, control_task=False, code_length=True).folds is None
    assert Controls(folds=2, control_task=True, code_length=True).folds == 2


@pytest.mark.parametrize("folds", [0, 1])
def test_one_fold_is_no_division(folds):
    with pytest.raises(ValidationError, match="greater than or equal to 2"):
        Controls(folds=folds, control_task=False, code_length=False)


def test_the_training_part_is_drawn_at_least_once():
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        Subsets(train_per_label=1, test_per_label=1, draws=0, all_sentences=False)
