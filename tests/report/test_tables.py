from cxprobe.report.tables import cell


def test_a_rate_is_written_in_percent_with_its_interval():
    assert cell(0.6149, 0.58, 1.0) == "61.5 (58.0 to 100.0)"
