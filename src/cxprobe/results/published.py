"""Tables that are already made for reading, such as those beside published values."""

import pandas as pd

from cxprobe.results.findings import ReportModels
from cxprobe.results.tables import with_blanks
from cxprobe.results.task import PageTable


def published_table(table: pd.DataFrame, title: str, path: str, models: ReportModels) -> PageTable:
    """Return a table for a page, without mock models and earlier checkpoints; without rows if nothing was published.

    Args:
        table: The table, with the columns model and source; it may be empty.
        title: What it shows.
        path: Its file, relative to results/, without suffix.
        models: The models of the report.
    """
    kept = table if table.empty else table[~table["model"].isin([*models.mocks, *models.earlier])]
    if len(kept) and (kept["source"] == "this run").all():
        kept = kept.head(0)
    rows = with_blanks(kept).astype(str).to_numpy().tolist()
    return PageTable(title, path, [str(name).replace("_", " ") for name in kept.columns], rows)
