"""The command ``cxprobe plan``."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cxprobe.cli.names import print_table
from cxprobe.errors import DataError

if TYPE_CHECKING:
    from cxprobe.run.params import Params

CHARACTERS_PER_TOKEN = 4  # of English, in the tokenizers of most models
HEADER = ("stage", "model", "texts", "tokens", "tokens back")


class Asked(NamedTuple):
    """What one stage asks of one model.

    Attributes:
        stage: The stage, without its item.
        model: The entry of models or llms.
        texts: How many different texts it reads, or how many requests it gets.
        tokens: Of all texts, about.
        replied: The most tokens of all replies; 0 of models that are not asked in words.
    """

    stage: str
    model: str
    texts: int
    tokens: int
    replied: int = 0


def plan() -> None:
    """Say how many texts and tokens each model of params.yaml has left to read, and how many requests it gets.

    It counts what the making stages have made: run `dvc repro make_recognition make_scenarios make_pairs make_prompts`
    first, which takes no model. Stages that DVC finds up to date have nothing left. Of the others all texts are
    counted; `cxprobe measure --status` says how many of their answers are kept already.
    """
    from cxprobe.files.writing import DATA
    from cxprobe.run.params import LINES, load_params

    params = load_params()
    making = [f"make_{line}" for line in LINES if getattr(params, line).constructions]
    for stage in making:
        if not (DATA / stage).exists():
            raise DataError(f"data/{stage} is missing; `dvc repro {' '.join(making)}` makes what is counted")
    rows = {f"{row.stage}@{row.model}": row for row in count(params)}
    before = ["list_code", *making]
    changed = changed_stages([*before, *rows])
    for stage in before:
        if stage in changed:
            print(f"{stage} is not up to date; run `dvc repro {stage}` to count what is new")
    left = [row for stage, row in rows.items() if stage in changed]
    if len(left) < len(rows):
        print(f"{len(rows) - len(left)} of {len(rows)} stages that ask a model are up to date")
    if not left:
        print("nothing is left to ask")
        return
    cells = [(row.stage, row.model, *(f"{n:,}" if n else "" for n in row[2:])) for row in left]
    print_table([HEADER, *cells], texts=2)
    print(f"Tokens are characters / {CHARACTERS_PER_TOKEN}. A masked model reads a text once for each of its tokens.")
    print("Answers that are kept already are counted too; `cxprobe measure --status` says how many they are.")


def changed_stages(stages: Sequence[str]) -> set[str]:
    """Return those of some stages whose parameters, files or outputs DVC finds changed; all of them outside of DVC."""
    from dvc.exceptions import NotDvcRepoError
    from dvc.repo import Repo

    try:
        with Repo() as repo:
            return set(stages) & set(repo.status(targets=list(stages)))
    except NotDvcRepoError:
        return set(stages)


def count(params: "Params") -> Iterator[Asked]:
    """Yield what the stages of all lines ask of each model that is loaded or served, from what has been made.

    Raises:
        DataError: Something has not been made.
    """
    from cxprobe.exports.project import read_prompts, read_scenarios, read_sentences

    recognition, scenarios, prompts = params.recognition, params.scenarios, params.prompts
    if recognition.models and recognition.constructions:
        sentences = read_sentences(params, mined=True)
        asked = sentences.drop_duplicates(sentences.columns.intersection(["text", "start", "end"]).tolist())
        yield from _read(params, "measure_recognition", recognition.models, asked["text"])
    if scenarios.models and scenarios.constructions:
        yield from _read(params, "score_scenarios", scenarios.models, read_scenarios(params)["text"].unique())
    yield from _pairs(params)
    if prompts.llms and prompts.constructions:
        from cxprobe.prompts.make import questions_for

        questions = read_prompts(params, "questions", others=True)
        for name in prompts.llms:
            yield from _answered(params, "ask_prompts", [name], questions_for(questions, name, prompts)["question"])
    if prompts.models and prompts.constructions:
        choices, answers = (read_prompts(params, table, others=True) for table in ("choices", "answers"))
        both = answers[["id", "text"]].merge(choices[["id", "question", "anywhere"]], on="id")
        texts = [*(both["question"] + both["text"]), *(both["anywhere"] + both["text"])]
        yield from _read(params, "score_prompts", prompts.models, set(texts))


def _pairs(params: "Params") -> Iterator[Asked]:
    from cxprobe.pairs.asking import draw_pairs, load_preference_prompts, preference_questions
    from cxprobe.pairs.sources import OWN_PAIRS, made_files, read_made

    section = params.pairs
    tables = {source: read_made(files) for source, files in made_files(section).items()}
    texts: list[str] = []
    for table in tables.values():
        for side in ("good", "bad"):
            texts += [*(table["context"] + table[side])]
            texts += [*table.loc[table["context"] != "", side].str.lstrip()]  # scored without its context too
    yield from _read(params, "score_pairs", section.models, set(texts))
    if section.ask and section.llms:
        questions: list[str] = []
        for source, table in tables.items():
            by = ["construction", "words"] if source == OWN_PAIRS else section.benchmarks[source].by
            drawn = draw_pairs(table, by, section.ask.pairs_per_construction, params.seed)
            questions += preference_questions(drawn, section.ask.prompt, load_preference_prompts())["question"].tolist()
        yield from _answered(params, "ask_pairs", section.llms, questions)
    if frames := section.frames:
        # Each frame that is written is shown to two filters.
        requests = len(frames.constructions) * frames.requests * (1 + 2 * frames.per_request)
        for name in section.writers:
            yield Asked("write_frames", name, requests, 0, requests * params.llms[name].max_tokens)


def _read(params: "Params", stage: str, entries: Iterable[str], texts: Collection[str]) -> Iterator[Asked]:
    """Yield what each member of a series reads, of different texts; blind models are not counted."""
    from cxprobe.lm.params import members_of

    characters = sum(map(len, texts))
    for entry in entries:
        members = sum(not member.is_blind for member in members_of(params.models, [entry]))
        if members and len(texts):
            yield Asked(stage, entry, members * len(texts), members * characters // CHARACTERS_PER_TOKEN)


def _answered(params: "Params", stage: str, llms: Iterable[str], questions: Iterable[str]) -> Iterator[Asked]:
    lengths = [len(question) for question in questions]
    for name in llms:
        replied = len(lengths) * params.llms[name].max_tokens
        yield Asked(stage, name, len(lengths), sum(lengths) // CHARACTERS_PER_TOKEN, replied)
