import pytest
from pydantic import ValidationError

from cxprobe.recognition.params import Controls


def test_a_control_task_needs_folds():
    with pytest.raises(ValidationError, match=r"control_task: true needs folds; give a number of 2 or more, or set"):
        Controls(folds=None, control_task=True, code_length=False)
    assert Controls(folds=None, control_task=False, code_length=True).folds is None
    assert Controls(folds=2, control_task=True, code_length=True).folds == 2
