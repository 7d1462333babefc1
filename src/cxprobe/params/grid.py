"""The section grid of params.yaml: which models and constructions run. Every part of it may be empty."""

from cxprobe.params.names import Distinct, Everything, Slug, SomeDistinct, Source
from cxprobe.schema import Closed


class Lines(Closed):
    """Which lines of work run: [all] for one that does, all its constructions at once, and [] for one that does not.

    DVC makes a stage for each entry of a list, so that a line with [] has no stages.
    """

    recognition: Distinct[Everything]
    scenarios: Distinct[Everything]
    pairs: Distinct[Everything]
    prompts: Distinct[Everything]
    series: Distinct[Everything]
    """Whether all series of models are drawn side by side too, on the pairs and on the benchmarks of the grid. A series
    is drawn on a benchmark if grid.benchmarks has all of its models, and not if it has none of them."""


class RecognitionGrid(Closed):
    """What the recognition probes run over: every model on every source of every construction."""

    models: Distinct[Slug]
    """Slugs of the section models."""
    constructions: dict[Slug, SomeDistinct[Source]]
    """Construction -> where its sentences come from: "generated" by its grammars, "balanced" by its second pair of
    grammars (grid.sentences must name it too for both), "mined" from a corpus and labelled (grid.labels must name it
    too)."""


class ScenariosGrid(Closed):
    """What the scenarios run over."""

    models: Distinct[Slug]
    """Slugs of the section models: masked language models."""
    constructions: Distinct[Slug]
    """Folders of constructions/ that have a scenarios.yaml."""


class PairsGrid(Closed):
    """What the minimal pairs run over."""

    models: Distinct[Slug]
    """Slugs of the section models: masked or causal language models, whose likelihoods are compared."""
    llms: Distinct[Slug]
    """Slugs of the section llms, which are asked in words which text of a pair is the likelier; may be empty."""
    constructions: Distinct[Slug]
    """Folders of constructions/ that have a pairs.yaml."""


class WaysGrid(Closed):
    """What is asked about the same pairs in three ways: by a probe, by likelihood and, if it is set up, in words."""

    models: Distinct[Slug]
    """Slugs of the section models that grid.pairs names too."""
    constructions: Distinct[Slug]
    """Constructions that grid.pairs names too."""


class PromptsGrid(Closed):
    """What is asked about items: of some models in words, of others by the likelihood of the answers."""

    llms: Distinct[Slug]
    """Slugs of the section llms, which reply in words."""
    models: Distinct[Slug]
    """Slugs of the section models, masked or causal, whose answers are scored."""
    constructions: Distinct[Slug]
    """Folders of constructions/ that have an items.yaml."""


class BenchmarksGrid(Closed):
    """What the minimal pairs of others run over."""

    models: Distinct[Slug]
    """Slugs of the section models: masked or causal language models."""
    llms: Distinct[Slug]
    """Slugs of the section llms, as in grid.pairs; may be empty."""
    benchmarks: Distinct[Slug]
    """Slugs of the section benchmarks."""


class FramesGrid(Closed):
    """What write_frames runs over."""

    llms: Distinct[Slug]
    """Slugs of the section llms."""
    constructions: Distinct[Slug]
    """Folders of constructions/ that have a pairs.yaml."""


class Grid(Closed):
    """Which models and constructions run. How they run is in the section of each stage."""

    sentences: Distinct[Slug]
    """Folders of constructions/ whose grammars make sentences."""
    mining: dict[Slug, Slug]
    """Construction with a pattern.yaml -> slug of the section corpora: the corpus that is searched for it."""
    labels: Distinct[Slug]
    """Constructions of grid.mining whose labels.tsv is ready to be used."""
    recognition: RecognitionGrid
    scenarios: ScenariosGrid
    pairs: PairsGrid
    ways: WaysGrid
    prompts: PromptsGrid
    benchmarks: BenchmarksGrid
    frames: FramesGrid
