"""tune_probes: search each probe's regularisation on its training part, if params.yaml switches it on."""

from collections.abc import Mapping

from cxprobe.measure.probing import (
    Fitting,
    ProbedSource,
    Searches,
    count_searches,
    parameter_importances,
    read_sources,
    search_all,
    search_figures,
    settings_table,
    trial_records,
    trials_table,
    write_study,
)
from cxprobe.params import Source
from cxprobe.progress import progress
from cxprobe.seeding import seed_for
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, write_table


def tune_probes(stage: Stage) -> Outcome:
    sources = {}
    if stage.params.tune_probes.enabled:
        (model, name), names = stage.item.values(), stage.params.grid.recognition.constructions
        sentences = stage.use(DATA / "build_recognition" / name)
        sources = read_sources(names[name], sentences, stage.use(DATA / "extract_features" / model / name))
    searches = _search(stage, sources) if sources else {}
    settings, trials = settings_table(searches), trials_table(searches)
    write_table(settings, stage.data / "settings.parquet")
    untuned = sum(source.probes for source in sources.values()) - len(settings)
    if not searches:
        return Outcome(counts={"tuned_probes": 0, "not_tuned_for_lack_of_data": untuned})
    write_table(trials, stage.data / "trials.parquet")
    write_study(searches, stage.data / "study.db")
    importances = parameter_importances(searches, stage.params.seed)
    not_converged = int(settings["not_converged"].sum())
    return Outcome(
        counts={"tuned_probes": len(settings), "not_tuned_for_lack_of_data": untuned, "not_converged": not_converged},
        tables={"settings": settings, "parameter_importance": importances},
        figures=search_figures(trials, importances, ", ".join(stage.item.values())),
        trials=trial_records(trials),
    )


def _search(stage: Stage, sources: Mapping[Source, ProbedSource]) -> Searches:
    (model, name), settings = stage.item.values(), stage.params.tune_probes
    scratch, place = SCRATCH / stage.name / model / name, f"{model}, {name}"
    fitting = Fitting(stage.params.fit_probes.max_iter, seed_for(stage.params.seed, stage.name, name), place)
    total = settings.trials * count_searches(sources, settings.folds)
    with progress(total, "trials", f"tune_probes {model} {name}", kept=f"finished trials are in {scratch}") as shown:
        return search_all(sources, settings, fitting, scratch=scratch, progress=shown.update)


if __name__ == "__main__":
    run_stage(tune_probes, "model", "construction")
