"""The section pairs of params.yaml: minimal pairs, the project's own and those of others."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import AfterValidator, Field, PositiveInt

from cxprobe.files.schema import Closed, Distinct, Slug, SomeDistinct, named_elsewhere
from cxprobe.models import SchemeName
from cxprobe.models.params import RuleOfPairs, members_of
from cxprobe.results.params import Everything, TaskParams, TaskSection

ScoreName = Literal["per_token", "sum", "per_character", "given_context"]
TAKEN = ("own", "real", "pseudo", "form", "meaning", "words", "used", "control", "n")
"""What no benchmark may be called: sources of the project's pairs, questions, and metrics beside those of questions."""
FORM = "-form"
"""Ends the name of the pairs of form of a construction that has pairs of meaning too."""


def called_pairs(name: str) -> str:
    """Return the name of pairs beside other items of their construction."""
    return "minimal pairs of form" if name.endswith(FORM) else "minimal pairs"


def _in_the_folder(files: str) -> str:
    if ".." in Path(files).parts or Path(files).is_absolute():
        raise ValueError(f"'{files}' leaves the benchmark's folder, where DVC sees changes; write it as *.jsonl.gz")
    return files


class Benchmark(Closed):
    """Minimal pairs of others, in the files of data/benchmarks/<slug>, which `dvc import` brings."""

    format: Literal["blimp", "pairs"]
    """BLiMP's <UID>.jsonl, or the generic .tsv or .jsonl; each may end in .gz."""
    files: Annotated[str, AfterValidator(_in_the_folder)]
    """Which files of the folder, such as "*.jsonl.gz"."""
    by: Annotated[list[str], Field(min_length=1)]
    """Columns that accuracies are reported by, such as phenomenon; their values are slugs."""
    score: ScoreName
    """The score that decides."""


class PerCell(Closed):
    """Pairs of a cell: one variant, of one noun type, in one order."""

    meaning: PositiveInt
    """For pairs that test what a construction means."""
    form: PositiveInt
    """For pairs that test how something is formed."""
    control: PositiveInt
    """For controls, whose answer the text says in plain words."""


class AskedPairs(Closed):
    """How many items of each cell a model is asked about, from the first on; all of those that are not named.

    For masked models, which read a text once for each of its tokens.
    """

    meaning: PositiveInt | None = None
    form: PositiveInt | None = None
    control: PositiveInt | None = None


class MakePairs(Closed):
    """Minimal pairs from a construction's pairs.yaml."""

    pairs_per_condition: PerCell
    pseudowords: PositiveInt | None
    """How many pairs of each cell also come with pseudowords, random syllables, in the place of content words, where
    pairs.yaml declares these; null for none."""


class ScorePairs(Closed):
    """How the tokens of minimal pairs are scored."""

    schemes: SomeDistinct[SchemeName]
    """How masked models are asked: each token masked alone, or with what follows in its own word."""
    token_budget: PositiveInt
    """The most tokens in one batch."""


class EvaluatePairs(Closed):
    """How decisions follow from the tokens' scores."""

    scheme: SchemeName
    """For masked models, the scheme that decides; one of pairs.score.schemes."""
    score: ScoreName
    """The score that decides in tables and figures: of the whole text (the papers' is per_token), or of the
    continuation after the context. For benchmarks, their own decides."""


class AskPairs(Closed):
    """How instructed models are asked which text of a pair is the likelier."""

    prompt: str
    """A name of prompts/preferences.yaml."""
    pairs_per_construction: PositiveInt | None
    """How many pairs of each construction are drawn, and as many with pseudowords, or of each group of a benchmark;
    each is asked about twice. null for all."""


class PairsParams(TaskSection):
    """Minimal pairs: of which constructions and benchmarks, which models are asked, and how."""

    models: dict[Slug, AskedPairs]
    """Scored by the likelihood of the two texts: entry of models -> the items that it is asked about."""
    llms: dict[Slug, Everything]
    """Asked in words which text is the likelier: entries of llms."""
    constructions: Distinct[Slug]
    """Those with a pairs.yaml, and <construction>-form for those with a form_pairs.yaml."""
    make: MakePairs
    score: ScorePairs
    evaluate: EvaluatePairs
    ask: AskPairs | None
    """null where pairs.llms is empty."""
    benchmarks: dict[Slug, Benchmark]
    """Slug -> minimal pairs of others, which the same models are asked about; {} for none."""


class PairsStage(TaskParams):
    """What the stages of pairs read of params.yaml."""

    task: ClassVar[str] = "pairs"
    experiments_file = Path(__file__).with_name("experiments.yaml")
    baseline_kinds = ("unigrams", "ngrams", "continuation_alone", "pair_classifier", *get_args(RuleOfPairs))
    kinds_of_answers = ("scores", "judgements")

    pairs: PairsParams
    """Minimal pairs, the project's own and those of others."""

    @staticmethod
    def construction_of(name: str) -> str:
        """Return the folder of pairs: that of "x" and of "x-form" is "x"."""
        return name.removesuffix(FORM)

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield the values of the section that do not go together."""
        yield from super().faults_between(constructions)
        section, models = self.pairs, self.models
        if section.llms and section.ask is None:
            yield "pairs.ask: is null, and pairs.llms names models; say how, or empty that"
        how, schemes = section.evaluate, section.score.schemes
        yield from named_elsewhere("pairs.evaluate.scheme", [how.scheme], "pairs.score.schemes", schemes)
        for name in section.benchmarks:
            if name in TAKEN:
                yield f"pairs.benchmarks.{name}: results call something else so; give the benchmark another name"
        slugs = [slug for slug in section.models if slug in models]
        taken = {*slugs, *(member.slug for member in members_of(models, slugs))}
        for slug in section.llms:
            if slug in taken:
                yield (
                    f"pairs.llms: '{slug}' is a model in pairs.models too, and tables tell models by their "
                    "names; give the entry of llms another"
                )
