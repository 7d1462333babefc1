import pytest

from cxprobe.files.schema import faults_of
from cxprobe.report.params import Report


@pytest.mark.parametrize(("limit", "bound"), [(0.5, "greater than 0.5"), (1.01, "less than or equal to 1")])
def test_a_limit_is_above_chance_and_an_accuracy(limit, bound):
    content = {
        "limit": limit,
        "tested": {"twins": True, "best_blind": True, "neighbours": False, "models": []},
        "mlflow": "http://127.0.0.1:5000",
    }
    assert faults_of(Report, content) == [f"limit: {limit} is not allowed: input should be {bound}"]
