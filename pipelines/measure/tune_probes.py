"""tune_probes: search each probe's regularisation on its training part, if params.yaml switches it on."""

from collections import Counter

from cxprobe.measure.probing import Fitting, Study, count_searches, read_sources, search_all
from cxprobe.params import Member, members_of
from cxprobe.progress import progress
from cxprobe.seeding import seed_for
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH


def tune_probes(stage: Stage) -> Outcome:
    studies = [_search(stage, member) for member in members_of(stage.params.models, [stage.item["model"]])]
    counts = Counter[str]()
    for study in studies:
        study.write(stage.data / study.model.inside)
        counts.update(study.counts)
    return Outcome(
        counts=counts,
        tables={stem: table for study in studies for stem, table in study.tables().items()},
        figures={stem: figure for study in studies for stem, figure in study.figures().items()},
        trials=[trial for study in studies for trial in study.trials()],
    )


def _search(stage: Stage, member: Member) -> Study:
    """Search for the regularisation of all probes of a model; of none if params.yaml has it switched off."""
    name, settings, seed = stage.item["construction"], stage.params.tune_probes, stage.params.seed
    if not settings.enabled:
        return Study(member, name, {}, {}, seed)
    sentences = stage.use(DATA / "build_recognition" / name)
    features = stage.use(DATA / "extract_features" / member.entry / name) / member.inside
    sources = read_sources(stage.params.grid.recognition.constructions[name], sentences, features)
    scratch, place = SCRATCH / stage.name / member.slug / name, f"{member.slug}, {name}"
    fitting = Fitting(stage.params.fit_probes.max_iter, seed_for(seed, stage.name, name), place)
    total, kept = settings.trials * count_searches(sources), f"finished trials are in {scratch}"
    with progress(total, "trials", f"{stage.name} {member.slug} {name}", kept=kept) as shown:
        searches = search_all(sources, settings, fitting, scratch=scratch, progress=shown.update)
    return Study(member, name, sources, searches, seed)


if __name__ == "__main__":
    run_stage(tune_probes, "model", "construction")
