"""What many tests need: a toy construction, tiny models made here, and a whole project to run. Nothing is fetched."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import spacy
import torch
from filelock import FileLock
from hypothesis import settings
from mlflow import MlflowClient
from ruamel.yaml import YAML
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertForMaskedLM, BertLMHeadModel, BertModel, PreTrainedTokenizerFast

from cxprobe.cli.init import preset_text

ROOT = Path(__file__).parent.parent
BUNDLED = preset_text("bundled", ROOT / "presets")
"""The params.yaml of the preset bundled, which has something of everything."""
# How long an example takes says more about the machine than about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A project of a toy construction, with a sound file of every format that the project reads.
TOY_PROJECT = ROOT / "tests" / "support" / "toy_project"
_TOY = TOY_PROJECT / "constructions" / "toy"
TRAIN_CFG, TEST_CFG = ((_TOY / "grammars" / f"{split}.cfg").read_text() for split in ("train", "test"))
CONSTRUCTION, PATTERN, PAIRS, SCENARIOS, ITEMS = (
    (_TOY / f"{name}.yaml").read_text() for name in ("construction", "pattern", "pairs", "scenarios", "items")
)
PEOPLE = (TOY_PROJECT / "lexicon" / "people.yaml").read_text()
# How the toy corpus's sentences begin, by the label of their sequence of tags.
BEGINNINGS = {"Now": "positive", "": "positive", "So now": "negative", "We say that": "negative"}
WORDS = sorted({word.strip("'").lower() for text in (TRAIN_CFG, TEST_CFG) for word in text.split()})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with a file that reads the finished project: one worker makes it while others run what does not need it."""
    reading = (item.path for item in items if "finished_project" in item.fixturenames)
    first = next(reading, None)
    items.sort(key=lambda item: item.path != first)


@pytest.fixture(scope="session")
def toy_constructions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of constructions with one in it, "toy"."""
    folder = tmp_path_factory.mktemp("constructions")
    write_toy_construction(folder)
    return folder


@pytest.fixture(scope="session")
def toy_tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a spaCy pipeline that tags by rules."""
    folder = tmp_path_factory.mktemp("toy-tagger") / "tagger"
    save_toy_tagger(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT of two layers with random weights and a word-piece tokenizer."""
    folder = tmp_path_factory.mktemp("tiny-bert")
    save_tiny_bert(folder, seed=0)
    return folder


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database without runs: making one takes seconds, copying it none."""
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    MlflowClient(tracking_uri=f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory: pytest.TempPathFactory, worker_id: str, empty_store: Path) -> Path:
    """A project in which `dvc repro` has run once, for every worker. Never change it: take `project`, a copy."""
    shared = tmp_path_factory.getbasetemp() if worker_id == "master" else tmp_path_factory.getbasetemp().parent
    folder, finished = shared / "finished" / "project", shared / "finished" / "whole"
    folder.parent.mkdir(exist_ok=True)
    with FileLock(folder.parent / "lock"):
        if not finished.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what another process has failed to make
            make_project(folder)
            shutil.copy(empty_store, folder / "mlruns")
            run(folder, "dvc", "repro")
            finished.touch()
    return folder


@pytest.fixture
def project(finished_project: Path, tmp_path: Path, empty_store: Path) -> Path:
    """A copy of a finished project, to be changed at will, with an empty tracking store."""
    return copy_project(finished_project, tmp_path / "project", empty_store)


def copy_project(finished: Path, folder: Path, store: Path) -> Path:
    """Copy a finished project; its tracking store has absolute paths, so that the copy gets another one."""
    tracking = shutil.ignore_patterns("mlflow.db*", "artifacts", "context")
    shutil.copytree(finished, folder, ignore=tracking, symlinks=True)
    shutil.copy(store, folder / "mlruns")
    return folder


def make_project(folder: Path) -> None:
    """Make a small project of the pipeline's own files, the toy construction and tiny models, under git and DVC."""
    for name in ("src", "pipelines"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    # Of folders that stages depend on before anything has run.
    placeholders = [file for name in ("data", "results") for file in (ROOT / name).glob("*/.gitignore")]
    ignored = [ROOT / folder / ".gitignore" for folder in (".", "data", "results", "mlruns")]
    for file in [*(ROOT / name for name in ("dvc.yaml", ".dvcignore", "constraints.txt")), *ignored, *placeholders]:
        (folder / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / file.relative_to(ROOT))
    write_toy_files(folder)
    shutil.copytree(ROOT / "corpora", folder / "corpora")
    for name in ("tagger", "parser"):  # which parses nothing: no toy pattern asks for it
        save_toy_tagger(folder / "models" / name / "en_ewt_cxprobe")
    write_toy_corpus(folder / "corpus")
    shutil.copytree(ROOT / "published", folder / "published")
    for seed, name in enumerate(("one", "two")):
        save_tiny_bert(folder / "models" / name, seed=seed)
    save_tiny_mlm(folder / "models" / "mlm")
    save_tiny_clm(folder / "models" / "clm")
    init_dvc(folder)
    commit(folder)


def init_dvc(folder: Path) -> None:
    """Make a folder a project of git and DVC."""
    run(folder, "git", "init", "--quiet")
    run(folder, "dvc", "init", "--quiet")
    (folder / ".dvc" / "config").write_text("[core]\nanalytics = false\ncheck_update = false\n")


def toy_params() -> str:
    """Return the params.yaml of the toy project, whose preset is among the others here."""
    with TemporaryDirectory() as folder:
        for preset in [*(ROOT / "presets").glob("*.yaml"), ROOT / "tests" / "support" / "toy.yaml"]:
            (Path(folder) / preset.name).symlink_to(preset)
        return preset_text("toy", Path(folder))


def change_params(folder: Path, source: Path | str, change) -> None:
    """Write params.yaml as ``change`` leaves the content of ``source``, a file or its text."""
    yaml = YAML(typ="safe")
    content = yaml.load(source)
    change(content)
    with (folder / "params.yaml").open("w") as file:
        yaml.dump(content, file)


def commit(folder: Path) -> None:
    """Commit all that git does not ignore."""
    run(folder, "git", "add", "--all")
    run(folder, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "a state")


def run(folder: Path, *command: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a project, with this environment's programs and the project's own copy of the package."""
    own = project_environment(folder) | environment
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)
    if check and done.returncode:
        pytest.fail(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def project_environment(folder: Path) -> dict[str, str]:
    """Return the environment in which a project's commands run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW", "DVC", "GIT"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return kept | {"PATH": path, "PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def write_toy_construction(folder: Path) -> None:
    """Write the toy construction into a folder of constructions, without labels."""
    shutil.copytree(_TOY, folder / "toy", ignore=shutil.ignore_patterns("*.tsv"))


def write_toy_files(folder: Path) -> None:
    """Write what people write in a small project: parameters, a construction with labels, people, prompts."""
    shutil.copytree(TOY_PROJECT, folder, dirs_exist_ok=True)
    shutil.copytree(ROOT / "prompts", folder / "prompts")
    for name in ("tagger", "parser"):
        (folder / "models" / name / "en_ewt_cxprobe").mkdir(parents=True)
    change_params(folder, toy_params(), lambda _: None)


@pytest.fixture
def toy_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project's folder without faults, with all that people write, as the working directory."""
    write_toy_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save_toy_tagger(folder: Path) -> None:
    """Save a spaCy pipeline that tags by rules: it needs no training, and tells comparatives by their ending."""
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler")
    adjectives = ["red", "blue", "green", "old", "young", "small", "fast", "slow", "calm", "careful", "tall"]
    rules = [
        ([{}], "NN"),
        ([{"IS_PUNCT": True}], "."),
        ([{"LOWER": "the"}], "DT"),
        ([{"LOWER": {"IN": adjectives}}], "JJ"),
        ([{"LOWER": {"REGEX": "(?<!oth)er$"}}], "JJR"),
        ([{"LOWER": {"IN": ["more", "less", "worse", "fewer"]}}], "JJR"),
        ([{"LOWER": {"REGEX": "ly$"}}], "RB"),
    ]
    for pattern, tag in rules:
        ruler.add(patterns=[pattern], attrs={"TAG": tag})
    folder.parent.mkdir(parents=True, exist_ok=True)
    nlp.to_disk(folder)


def write_toy_corpus(folder: Path) -> None:
    """Write two shards of JSON lines: sentences with the toy construction, others, and a broken line."""
    folder.mkdir(parents=True)
    adjectives, nouns = ("red", "old", "green", "young"), ("cat", "dog", "horse", "bird", "fox")
    texts = [
        f"Nothing was said. {sentence[0].upper()}{sentence[1:]} The big man reads."
        for first in adjectives
        for second in adjectives
        for noun, beginning in zip(nouns, [*BEGINNINGS, "Now"], strict=True)
        if (sentence := f"{beginning} the {first} {noun} runs, the {second} {noun} sings.".lstrip())
    ]
    for shard in range(2):
        lines = [json.dumps({"text": text, "url": f"toy/{shard}/{n}"}) for n, text in enumerate(texts[shard::2])]
        (folder / f"{shard}.jsonl").write_text("\n".join([*lines, "{broken"]) + "\n")


def save_tiny_bert(folder: Path, seed: int, model: type = BertModel, **config: float) -> None:
    """Save a BERT with random weights, in the shape that from_pretrained reads."""
    torch.manual_seed(seed)
    tokenizer = tiny_tokenizer()
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    made = BertConfig(vocab_size=len(tokenizer), **{"max_position_embeddings": 64} | sizes | config)
    tokenizer.model_max_length = made.max_position_embeddings
    model(made).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def save_tiny_mlm(folder: Path) -> None:
    """Save a masked BERT, head and all, with weights so wide that predictions differ from text to text."""
    save_tiny_bert(folder, 0, BertForMaskedLM, initializer_range=0.3)


def save_tiny_clm(folder: Path) -> None:
    """Save a BERT that reads from left to right, long texts too: it spells most words."""
    save_tiny_bert(folder, 0, BertLMHeadModel, max_position_embeddings=2048, is_decoder=True)


def tiny_tokenizer(words: list[str] = WORDS) -> PreTrainedTokenizerFast:
    """Return a word-piece tokenizer that knows some words; all others fall into letters."""
    letters = [prefix + letter for letter in "abcdefghijklmnopqrstuvwxyz" for prefix in ("", "##")]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", "'", *letters]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys([*pieces, *words]))}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, mask_token="[MASK]", model_max_length=64, **special)
