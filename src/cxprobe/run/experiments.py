"""The experiments, with the description that MLflow shows above the table of each."""

_RATES = """\
`accuracy` is a share of right answers in [0, 1], `low` and `high` are the ends of its 95 % interval, which takes into
account that items share words, and `n` is the number of items. A tie of two answers counts as half, and `tie_rate` is
the share of ties."""

_READING = """\
A run is one model on one construction; the construction `all` is all of them together. Every run has the same
parameters, so two runs can be compared line by line, and charts can be grouped by `params.model` or
`params.construction`. The full tables and the figures are artifacts, under the same paths in every run. The data set
column names the items and their MD5 in DVC."""

_BLIND = """\
Not every run is of a trained model. A **blind** model cannot know the construction (`model_kind` is `blind`, and
`model_weights` is `none`): it counts words or letters, or follows a rule. What the best of them reaches is what the
data give away, and only what a model has above it says something about the model. A **twin** is a model whose weights
know nothing: `random` ones are drawn anew, `shuffled` ones are the trained values in another order. The names of such
runs end the model's name with `(blind)`, `(random weights)` or `(shuffled weights)`; search
`params.model_weights = 'trained'` to see the others alone."""


_ASKED = """\
Instructed models are shown both texts of a pair, in either order, and asked which is the likelier (`model_kind` is
`instructed`). A pair is half right where the choice changes with the order; `consistency` is the share of pairs where
it does not, and `position_bias` the share of "A" among the answers (0.5 for a model that does not mind the order). A
pair without a readable reply is left out; `unparsed` and `failed` are the shares of replies without an answer and of
requests without a reply."""


def _description(*paragraphs: str) -> str:
    """Return paragraphs as Markdown; a line break inside of a paragraph has no meaning."""
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)


DESCRIPTIONS = {
    "recognition": _description(
        """\
**Recognition: do a model's vectors tell sentences with a construction from sentences without it?** A linear probe
is fitted for every layer, on one lexical half of the sentences, and tested on the other half.""",
        _RATES,
        """\
The headline `accuracy` is that of the middle layer (`layer`), which is fixed in advance; `accuracy_layer_0` is that of
the embeddings, and `accuracy_best_layer` that of the layer which is best on folds of the training part (`best_layer`).
`control_<name>` is what is reached without any probe (0.5 is chance). `selectivity` is by how much the labels are
learnt better than random labels of words, and `compression` how many times shorter the labels become when they are
coded with the probe's predictions (1 where there is nothing to know), both at the middle layer. A blind model has one
layer.""",
        """\
`by_layer.accuracy`, `by_layer.<feature>`, `by_layer.selectivity` and `by_layer.compression` are series whose step is
the layer. To see curves of several models in one chart, select their runs and open `by_layer.accuracy` with the step
as the x axis.""",
        """\
The parameter `source` says whether the sentences are from the first pair of grammars (`generated`), from a second pair
whose two classes no spelling tells apart (`balanced`), or from a corpus with people's labels (`mined`); compare runs of
one source.""",
        _BLIND,
        _READING,
    ),
    "scenarios": _description(
        """\
**Scenarios: does a masked model draw the conclusion that a construction licenses?** A rule, instances of it and a
sentence with a mask are given, and two candidate words compete for the mask.""",
        _RATES,
        """\
`accuracy` is that of the base test, without calibration. `test.<S>` is the accuracy on a test that differs from the
base test in one respect, such as which word comes last, and `flips.<S>` is the share of items on which the decision is
right in one of the two tests and wrong in the other. `<calibration>.test.<S>` is the accuracy after the candidates'
probabilities have been divided by those that they have without the rule. A model that understands the rule is right in
all tests and never flips; a model that copies a word is right only in those that favour this word.""",
        _BLIND,
        _READING,
    ),
    "ways": _description(
        """\
**The same minimal pairs asked in several ways: does what a model's vectors hold agree with what it expects and says?**
A linear probe is trained on the pairs of some frames and takes one text of the pairs of the others; the model finds one
text more probable; and a model that takes instructions names one, where `pairs.probe.asked` says which entry of `llms`
it is.""",
        _RATES,
        """\
`accuracy` is that of the probe, of the layer that is best on all other frames; `expected.accuracy` that of the
likelihood, `said.accuracy` that of the replies, and `words.accuracy` that of the same probe on counts of words, which
cannot know what words mean together. `kappa.<way>_<way>` is Cohen's kappa of two ways on the same pairs; the table
`agreement` has its interval. `by_layer.accuracy` is a series whose step is the layer.""",
        _READING,
    ),
    "pairs": _description(
        """\
**Minimal pairs: does a model find the right text more probable than the wrong one?** The texts of a pair differ in what
a construction means (`tests: meaning`) or in how it is formed (`tests: form`).""",
        _RATES,
        """\
0.5 is chance. Items of a wording in which one answer is always right are in no accuracy but that of the wording, and
`unbalanced_cells` counts such sets of items. `variant.<A|B>` is the accuracy on one wording, `noun_type.<type>` that
for one type of nouns, and `words.pseudo` that with pseudowords in the place of content words. `score.<name>` is the
accuracy if another score decides, such as the sum over tokens. `bias_order` is how far apart the accuracies are on
pairs that name two people in one order and in the other, `bias_variant` the same for the two wordings, and
`changed_with_order` the share of items on which the decision is right in one order only. All three are 0 for a model
that understands, and exist for pairs of meaning only. `_low` and `_high` end the names of their intervals.""",
        """\
The checkpoints of a training, or the sizes of a family, also have a run together (`model_kind` is `series`):
`by_training_tokens.accuracy` and `by_parameters.accuracy` have the number of tokens or of parameters as the step.""",
        _ASKED,
        _BLIND,
        _READING,
    ),
    "prompts": _description(
        """\
**Prompts: does a model answer questions about a construction rightly?** Instructed models are asked in words
(`model_kind: instructed`), other models by the probability of each answer.""",
        _RATES,
        """\
`accuracy` is over all sets of items together and `set.<name>` over one: `challenge`, for example, has the same surface
and another construction, so that a model cannot be right by the surface alone. `macro_f1` is the mean of the F1 scores
of the answers. `unparsed` is the share of replies that contain no answer; they count as wrong, and `accuracy_parsed`
leaves them out. `failed` tells how many requests a server did not answer; they do not count. `chance` is what the best
constant answer gets. `consistency` is the share of multiple-choice items on which the same option is chosen in whatever
order the options stand.""",
        "`by_shots.<set>` is a series whose step is the number of solved examples in the prompt.",
        _BLIND,
        _READING,
    ),
    "benchmarks": _description(
        """\
**Benchmarks: minimal pairs of others, such as BLiMP.** The parameter `source` is the benchmark and `construction` is a
group of its items, such as a phenomenon; `all` is all of them together.""",
        _RATES,
        "0.5 is chance. `score.<name>` is the accuracy if another score decides, such as the sum over tokens.",
        _ASKED,
        _BLIND,
        _READING,
    ),
}
