"""What the data of some parameters amount to, counted without a model: the make stages' own functions, in memory."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from cxprobe.files.schema import Source
from cxprobe.pairs.params import BuildPairs
from cxprobe.planning.facts import BenchmarkSize, Facts
from cxprobe.planning.plan import Counts, Made, Questions
from cxprobe.planning.work import Texts, Training, texts_of
from cxprobe.recognition.params import Subsets
from cxprobe.run.params import Params

if TYPE_CHECKING:
    import pandas as pd

SAMPLE = 10  # sentences per cell that are generated to count those of any number
_FRAME_QUESTIONS = 2  # the filters ask about each frame


def count_data(params: Params, facts: Facts, *, imports: bool = True) -> Counts:
    """Return what the data of some parameters amount to, from the files of the working directory.

    Args:
        params: The parameters.
        facts: Sizes of what is not there.
        imports: Whether files that were imported or mined count where they are there; false to take them as absent.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    made: list[Made] = []
    notes: list[str] = []
    sentences, training = _count_recognition(params, made, notes, imports)
    pairs, ends, choices = _count_pairs(params, made, notes)
    benchmarks, choices_of_others = _count_benchmarks(params, facts, made, notes, imports)
    questions, answers = _count_prompts(params, facts, made, notes, imports)
    counts = Counts(
        sentences=sentences,
        training=training,
        scenarios=_count_scenarios(params, made),
        pairs=pairs,
        ends=ends,
        answers=answers,
        questions=questions | choices | choices_of_others | _count_frames(params),
        benchmarks=benchmarks,
    )
    _note_mining(params, made, notes)
    return Counts(**{**vars(counts), "made": tuple(made), "notes": tuple(dict.fromkeys(notes))})


def _note_mining(params: Params, made: list[Made], notes: list[str]) -> None:
    for construction, corpus in params.grid.mining.items():
        made.append(Made("mine_sentences", f"sentences of {construction}", None, True))
        notes.append(f"mine_sentences: what corpora.{corpus} holds is known only when it has been read")


def _count_recognition(
    params: Params, made: list[Made], notes: list[str], imports: bool
) -> tuple[dict[str, Texts], dict[str, Training]]:
    from cxprobe.constructions.construction import load_construction

    sentences: dict[str, Texts] = {}
    training: dict[str, Training] = {}
    for name in params.grid.sentences:
        for source in _pairs_of_grammars(name):
            few = min(SAMPLE, params.generate_sentences.per_label)
            table, _ = _few_sentences(name, source, few, params.seed)
            number = len(table) * params.generate_sentences.per_label / few
            about = params.generate_sentences.per_label > few
            made.append(Made("generate_sentences", f"sentences of {name}, {source}", round(number), about))
    for name, sources in params.grid.recognition.constructions.items():
        found: list[tuple[Texts, Training]] = []
        for source in sources:
            sizes: Subsets = getattr(params.build_recognition, source)
            if source == "mined":
                features = load_construction(name).for_source(source).features
                mined = _labelled(name, sizes, params.seed, features) if imports else None
                if mined is None:
                    notes.append(f"{name}, mined: not counted, since nothing has been mined and labelled here")
                    continue
                found.append(mined)
            else:
                found.append(_drawn(name, source, sizes, params.seed))
            texts, _ = found[-1]
            made.append(Made("build_recognition", f"sentences of {name}, {source}", texts.number, texts.about))
        if found:
            sentences[name], training[name] = _joined(found)
    return sentences, training


def _pairs_of_grammars(name: str) -> tuple[Source, ...]:
    from cxprobe.constructions.construction import load_construction

    return ("generated", "balanced") if load_construction(name).balanced else ("generated",)


def _joined(found: list[tuple[Texts, Training]]) -> tuple[Texts, Training]:
    """Return the texts and training parts of several sources as one, each as often as its scale says."""
    import numpy as np

    number = sum(texts.number for texts, _ in found)
    characters = np.concatenate([texts.characters for texts, _ in found])
    sizes = tuple(round(size * one.scale * one.draws) for _, one in found for size in one.sentences)
    texts = Texts(characters, number / max(1, len(characters)), any(texts.about for texts, _ in found))
    return texts, Training(sizes)


@cache
def _few_sentences(name: str, source: Source, few: int, seed: int) -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """Return so many sentences for each cell of a construction's grammars, and which were drawn for which feature."""
    from cxprobe.constructions.construction import load_construction
    from cxprobe.recognition.make import draw_table, generate_sentences, load_grammars, sentence_table

    construction = load_construction(name).for_source(source)
    generated = generate_sentences(name, construction, load_grammars(name, construction, source=source), few, seed)
    return sentence_table(generated.sentences), draw_table(generated.draws)


def _drawn(name: str, source: Source, sizes: Subsets, seed: int) -> tuple[Texts, Training]:
    """Draw the subsets of a few sentences for each cell, and return them with the scale to all that are asked for.

    The grammars may have fewer for some cells: the numbers are estimates unless no more than a few are asked for.
    """
    from cxprobe.constructions.construction import load_construction
    from cxprobe.recognition.make import draw_subsets

    few = min(SAMPLE, sizes.train_per_label, sizes.test_per_label)
    table, draws = _few_sentences(name, source, few, seed)
    small = sizes.model_copy(update={"train_per_label": few, "test_per_label": few, "draws": 1})
    features = load_construction(name).for_source(source).features
    rows = draw_subsets(table, draws, features, small, seed=seed, place=f"{name}, {source}").rows
    scale = {"train": sizes.train_per_label / few, "test": sizes.test_per_label / few}
    return _of_subsets(table, rows, scale, sizes.draws, max(scale.values()) > 1)


def _of_subsets(
    table: "pd.DataFrame", rows: "pd.DataFrame", scale: Mapping[str, float], draws: int, about: bool
) -> tuple[Texts, Training]:
    import numpy as np

    distinct = rows.drop_duplicates("id")
    number = sum(scale[str(split)] * len(own) for split, own in distinct.groupby("split"))
    texts = table.loc[table["id"].isin(distinct["id"]), "text"].str.len().to_numpy()
    sizes = rows[(rows["split"] == "train") & (rows["draw"] == 0)].groupby("feature").size()
    training = Training(tuple(sizes.tolist()), draws, scale["train"])
    return Texts(np.asarray(texts, dtype=np.int64), number / max(1, len(texts)), about), training


def _labelled(name: str, sizes: Subsets, seed: int, features: Iterable[str]) -> tuple[Texts, Training] | None:
    """Return the subsets of labelled sentences of a corpus; None where there are none on this machine."""
    from cxprobe.files.tables import read_table
    from cxprobe.files.writing import DATA
    from cxprobe.recognition.make import draw_subsets

    folder = DATA / "label_sentences" / name
    if not (folder / "sentences.parquet").is_file():
        return None
    table = read_table(folder / "sentences.parquet")
    draws, place = read_table(folder / "draws.parquet"), f"{name}, mined"
    rows = draw_subsets(table, draws, list(features), sizes, seed=seed, place=place).rows
    return _of_subsets(table, rows, {"train": 1.0, "test": 1.0}, sizes.draws, about=False)


def _count_scenarios(params: Params, made: list[Made]) -> Texts | None:
    from cxprobe.scenarios.make import enumerate_items, fill_texts
    from cxprobe.scenarios.rules import load_scenarios

    asked: list[str] = []
    for name in params.grid.scenarios.constructions:
        scenarios = load_scenarios(name)
        items = enumerate_items(scenarios, share=params.build_scenarios.share, seed=params.seed)
        texts = fill_texts(scenarios, items, seed=params.seed)
        made.append(Made("build_scenarios", f"items of {name}", len(items), False))
        made.append(Made("build_scenarios", f"texts of {name}", len(texts), False))
        asked += texts["text"].drop_duplicates().tolist()
    return texts_of(asked) if asked else None


def _count_pairs(
    params: Params, made: list[Made], notes: list[str]
) -> tuple[Texts | None, Texts | None, dict[str, Questions]]:
    """Return the texts of all pairs, their second sentences alone, which are scored too, and what is asked in words."""
    from cxprobe.constructions.people import load_people
    from cxprobe.pairs.frames import load_pairs
    from cxprobe.pairs.make import build_pairs

    names = params.grid.pairs.constructions
    if not names:
        return None, None, {}
    settings: BuildPairs = params.build_pairs
    if settings.pseudowords == "wuggy":
        settings = settings.model_copy(update={"pseudowords": "random"})
        notes.append("pairs with pseudowords were counted with random strings in place of Wuggy's words")
    people = load_people()
    whole: dict[str, None] = {}
    ends: dict[str, None] = {}
    asked: list[int] = []
    for name in names:
        pairs = build_pairs(name, load_pairs(name, people), people, settings, params.seed).pairs
        made.append(Made("build_pairs", f"pairs of {name}", len(pairs), False))
        asked += _choices(params, pairs, ["construction", "words"]) if params.grid.pairs.llms else []
        for side in ("good", "bad"):
            whole |= dict.fromkeys(pairs["context"] + pairs[side])
            ends |= dict.fromkeys(pairs.loc[pairs["context"] != "", side].str.lstrip())
    return texts_of(whole | ends), texts_of(ends), _as_questions("ask_pairs", asked)


def _choices(params: Params, pairs: "pd.DataFrame", by: list[str]) -> list[int]:
    """Return the lengths of the questions that show the two texts of pairs."""
    from cxprobe.pairs.asking import draw_pairs, load_preference_prompts, preference_questions

    settings = params.ask_pairs
    drawn = draw_pairs(pairs, by, settings.pairs_per_construction, params.seed)
    questions = preference_questions(drawn, settings.prompt, load_preference_prompts())
    return [len(text) for text in questions["question"]]


def _as_questions(stage: str, lengths: list[int], *, about: bool = False) -> dict[str, Questions]:
    import numpy as np

    return {stage: Questions(Texts(np.array(lengths, dtype=np.int64), about=about), 0.0)} if lengths else {}


def _count_benchmarks(
    params: Params, facts: Facts, made: list[Made], notes: list[str], imports: bool
) -> tuple[dict[str, Texts], dict[str, Questions]]:
    """Return the texts of the pairs of each benchmark, and what is asked about all of them in words."""
    import numpy as np

    from cxprobe.files.writing import DATA
    from cxprobe.pairs.benchmarks import read_benchmark
    from cxprobe.pairs.make import pair_table

    found: dict[str, Texts] = {}
    asked: list[int] = []
    llms = params.grid.benchmarks.llms
    for slug in params.grid.benchmarks.benchmarks:
        folder, known = DATA / "raw" / slug, facts.benchmarks.get(slug)
        if imports and folder.is_dir():
            pairs = read_benchmark(folder, params.benchmarks[slug], params.seed)
            texts = dict.fromkeys(pair.context + end for pair in pairs for end in (pair.good, pair.bad))
            found[slug], number, about = texts_of(texts), len(pairs), False
            asked += _choices(params, pair_table(pairs), params.benchmarks[slug].by) if llms else []
        elif known is not None:
            notes.append(f"{slug}: data/raw/{slug} is not there, so its size is that of docs/plan.yaml")
            found[slug] = Texts(np.full(2 * known.pairs, known.characters, dtype=np.int64), about=True)
            number, about = known.pairs, True
            asked += _choices_of(known, params) if llms else []
            if llms and params.ask_pairs.pairs_per_construction is not None:
                notes.append(f"{slug}: its groups are not known, so the requests are those about all its pairs")
        else:
            notes.append(
                f"{slug}: not counted, since data/raw/{slug} is not there and docs/plan.yaml has no size of it"
            )
            continue
        made.append(Made("build_benchmarks", f"pairs of {slug}", number, about))
    estimated = any(one.about for one in found.values())
    return found, _as_questions("ask_benchmarks", asked, about=estimated)


def _choices_of(known: BenchmarkSize, params: Params) -> list[int]:
    """Return the lengths of the questions about a benchmark that is not there, as if all its pairs were asked about."""
    import pandas as pd

    texts = {"context": "", "good": "x" * known.characters, "bad": "y" * known.characters}
    one = pd.DataFrame([{"id": "", "item": "", "group": "", **texts}])
    return _choices(params, one, ["group"]) * known.pairs


def _count_prompts(
    params: Params, facts: Facts, made: list[Made], notes: list[str], imports: bool
) -> tuple[dict[str, Questions], Texts | None]:
    from cxprobe.cli.counting_questions import count_questions

    if not params.grid.prompts.constructions:
        return {}, None
    counted = count_questions(params, facts, imports=imports)
    made += counted.made
    notes += counted.notes
    return {"ask_llms": counted.questions}, counted.answers


def _count_frames(params: Params) -> dict[str, Questions]:
    """Return the requests for frames: those that ask for some, and about each frame those of the two filters."""
    import numpy as np

    settings = params.write_frames
    constructions = params.grid.frames.constructions
    if not constructions:
        return {}
    number = len(constructions) * settings.requests * (1 + _FRAME_QUESTIONS * settings.per_request)
    return {"write_frames": Questions(Texts(np.full(number, 600, dtype=np.int64), about=True), 0.0)}
