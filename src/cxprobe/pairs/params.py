"""The sections of params.yaml for minimal pairs, the project's own and those of others."""

from typing import Annotated, Literal

from pydantic import Field

from cxprobe.files.schema import Closed, SchemeName, ScoreName, Slug, SomeDistinct
from cxprobe.lm.params import Placement
from cxprobe.lm.texts import Bos


class Benchmark(Closed):
    """Minimal pairs of others, in the files of data/raw/<slug>, which `dvc import` brings."""

    format: Literal["blimp", "paired_focus", "aann", "pairs"]
    """BLiMP's <UID>.jsonl, the paired-focus .tsv, AANN's .csv, or the generic .tsv or .jsonl; each may end in .gz."""
    files: str
    """Which files, such as "*.jsonl.gz"; the name is taken to match the folder's own files."""
    by: Annotated[list[str], Field(min_length=1)]
    """Columns that accuracies are reported by, such as phenomenon."""
    score: ScoreName
    """The score that decides."""
    pairs_per_file: Annotated[int, Field(ge=1)] | None
    """How many items of each file are drawn; null for all."""


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


class AskPairs(Closed):
    """How instructed models are asked which text of a pair is the likelier, in ask_pairs and ask_benchmarks."""

    prompt: str
    """A name of prompts/preferences.yaml."""
    pairs_per_construction: Annotated[int, Field(ge=1)] | None
    """How many pairs of each construction are drawn, and as many with pseudowords, or of each group of a benchmark;
    each is asked about twice. null for all."""


class ScorePairs(Placement):
    """How the tokens of minimal pairs are scored, in score_pairs and score_benchmarks."""

    schemes: SomeDistinct[SchemeName]
    """How masked models are asked: each token masked alone, or with what follows in its own word."""
    bos: Bos
    """What causal models read before a text: what their tokenizer puts there, the model's first token, or nothing."""
    token_budget: Annotated[int, Field(ge=1)]
    """The most tokens in one batch."""


class JudgePairs(Closed):
    """How decisions follow from the tokens' scores."""

    scheme: SchemeName
    """For masked models, the scheme that decides; one of score_pairs.schemes."""
    score: ScoreName
    """The score that decides in tables and figures; one of scores. For benchmarks, their own decides."""
    scores: SomeDistinct[ScoreName]
    """The scores that are judged beside it: of the whole text (the papers' is per_token), or of the continuation after
    the context."""


class FitPairProbes(Closed):
    """Probes that tell the right text of a pair from the wrong one; the vectors are those of extract_features."""

    C: Annotated[float, Field(gt=0)]
    """Inverse strength of the regularisation."""
    folds: Annotated[int, Field(ge=2)]
    """Into how many parts the frames are divided; each is predicted by probes that were trained on the others."""
    max_iter: Annotated[int, Field(ge=1)]
    """The most iterations of the solver; if it has not converged then, that is an error."""
    jobs: Annotated[int, Field(ge=1)]
    """Layers at the same time; the numbers do not depend on it."""


class JudgeWays(Closed):
    """The verdicts of a model on the same pairs, side by side."""

    asked: dict[Slug, Slug]
    """Model of grid.ways -> the entry of grid.pairs.llms that is the same model, asked in words; {} for none."""
