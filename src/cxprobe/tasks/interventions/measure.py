"""All layers of one model: divided among processes, kept, and found again when a stage runs anew."""

import pandas as pd

from cxprobe.files.code import computing_code
from cxprobe.files.tables import keep_table, kept_table, read_table, write_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder, scratch_folder
from cxprobe.models.causal import CausalLM
from cxprobe.models.intervening import blocks_of
from cxprobe.models.language_models import write_model_facts
from cxprobe.models.masked import MaskedLM
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.params import Member
from cxprobe.models.scoring import load_language_model
from cxprobe.probing import Fitting
from cxprobe.run.progress import progress
from cxprobe.run.stage import Stage
from cxprobe.tasks.interventions.exchanges import measure_layer, prompt_items, spaced_layers
from cxprobe.tasks.interventions.names import EFFECTS_FILE, TRANSFER_FILE, tried_on_itself
from cxprobe.tasks.interventions.params import InterventionsStage

_MOST_ITERATIONS = 1000  # of the fit of a probe


def measure(stage: Stage[InterventionsStage], member: Member) -> dict[str, float] | None:
    """Measure a model on all constructions; write ``effects.parquet``, ``transfer.parquet`` and ``model.json``.

    The files have what `measure_layer` returns: of what was learnt on the construction itself, and of all else.

    Returns:
        The numbers of items that were asked and left out, and see `MeasuredModel.check`. None if this process writes no
        files.
    """
    settings, seed = stage.params.interventions.measure, stage.params.seed
    items = read_table(stage.use(DATA / "make_interventions" / "items.parquet"))
    made = {str(name): table for name, table in items.groupby("construction", sort=False)}
    model: MeasuredModel[MaskedLM | CausalLM]
    model = MeasuredModel.of(stage, member.slug, member.spec, load_language_model)
    kept, folder = project_folder() / SCRATCH / "interventions", stage.data / member.inside
    described, processes = model.described, model.processes
    asked = {name: prompt_items(described, items, seed, f"models.{model.slug}, {name}") for name, items in made.items()}
    numbers = spaced_layers(len(blocks_of(described)), settings.layers)
    code = computing_code(__name__, "cxprobe.models.intervening")
    decisive = (described.fingerprint, described.decisive, code, settings)
    every = pd.concat(made.values()).to_csv()
    work = {
        layer: scratch_folder(kept, *decisive, seed, processes.kind_of_device, every, layer) / "effects.table"
        for layer in numbers
    }

    def effects_of(layer: int) -> pd.DataFrame:
        table = kept_table(work[layer])
        if table is None:
            table = measure_layer(model.loaded, asked, layer, settings, Fitting(_MOST_ITERATIONS, seed, model.what))
            keep_table(table, work[layer])
        return table

    checked = model.check([text for items in made.values() for text in items["base_before"]])
    with progress(len(work), "layers", model.what, kept=f"kept in {kept}") as shown:
        for number, layer in enumerate(work):
            if processes.has(number):
                effects_of(layer)
                shown.update(1)
    processes.wait()
    if processes.number:
        return None
    every_layer = pd.concat([effects_of(layer) for layer in work], ignore_index=True)
    own = tried_on_itself(every_layer)
    write_table(own, folder / EFFECTS_FILE)
    write_table(every_layer.drop(index=own.index, columns="readable"), folder / TRANSFER_FILE)
    write_model_facts(model.facts, folder)
    counts = {"items": sum(len(of.items) for of in asked.values())}
    return counts | {"dropped_items": sum(of.dropped for of in asked.values())} | checked
