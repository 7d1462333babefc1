"""Grammars as data: context-free rules in NLTK's notation, read and checked."""

import re
from collections.abc import Collection
from pathlib import Path

from nltk import CFG, Nonterminal

from cxprobe.errors import ConstructionError
from cxprobe.reading import read_text

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def read_grammar(path: Path, required: Collection[str] = ()) -> CFG:
    """Read a grammar in NLTK's notation; repeated alternatives weight a choice.

    Args:
        path: The ``.cfg`` file, UTF-8.
        required: Non-terminals that the construction names and the grammar must therefore define.

    Raises:
        ConstructionError: The file is absent, is no UTF-8 text or does not parse, a non-terminal has no rule, or a
            required one is missing. The message says which file, line and symbol.
    """
    if not path.exists():
        raise ConstructionError(
            f"{path} does not exist; construction.yaml describes this grammar, so write it, or take that section out"
        )
    text = read_text(path, ConstructionError)
    try:
        grammar = CFG.fromstring(text)
    except ValueError as error:
        raise ConstructionError(f"{path}: the grammar does not parse: {_one_line(error)}") from error
    defined = {str(production.lhs()) for production in grammar.productions()}
    faults = [
        f"{path}, line {_line_of(text, symbol)}: {symbol} is used and has no rule; add one, or quote it if it is a word"
        for symbol in sorted(_used_symbols(grammar) - defined)
    ]
    faults += [
        f"{path}: construction.yaml names {symbol}, which has no rule here; the grammar defines "
        f"{', '.join(sorted(defined))}"
        for symbol in sorted(set(required) - defined)
    ]
    if faults:
        raise ConstructionError("\n".join(faults))
    return grammar


def content_words(grammar: CFG, categories: Collection[str]) -> dict[str, str]:
    """Return lower-cased word -> category for every word that a content category can expand to."""
    return {
        word.lower(): category
        for category in categories
        for terminal in _terminals_below(grammar, Nonterminal(category))
        for word in terminal.split()
    }


def check_lexical_halves(train: Path, test: Path, categories: Collection[str]) -> None:
    """Refuse two grammars that share a content word, since a probe could then recognise the word.

    Raises:
        ConstructionError: A word is in a content category of both; the message names both lines.
    """
    halves = {path: content_words(read_grammar(path, categories), categories) for path in (train, test)}
    faults = [
        f"{test}, line {_line_of_word(test, word)}: '{word}' ({halves[test][word]}) is also in {train}, line "
        f"{_line_of_word(train, word)} ({halves[train][word]}); the halves must share no content word"
        for word in sorted(halves[train].keys() & halves[test].keys())
    ]
    if faults:
        raise ConstructionError("\n".join(faults))


def _terminals_below(grammar: CFG, symbol: Nonterminal) -> set[str]:
    terminals: set[str] = set()
    seen, pending = {symbol}, [symbol]
    while pending:
        for production in grammar.productions(lhs=pending.pop()):
            for part in production.rhs():
                if isinstance(part, str):
                    terminals.add(part)
                elif part not in seen:
                    seen.add(part)
                    pending.append(part)
    return terminals


def _used_symbols(grammar: CFG) -> set[str]:
    return {
        str(symbol)
        for production in grammar.productions()
        for symbol in production.rhs()
        if isinstance(symbol, Nonterminal)
    }


def _line_of(text: str, symbol: str) -> int:
    """Return the number of the first line whose right-hand side uses a symbol outside quotes."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(symbol)}(?![\w-])")
    for number, line in enumerate(text.splitlines(), start=1):
        right = _QUOTED.sub(" ", line).rpartition("->")[2]
        if not line.lstrip().startswith("#") and pattern.search(right):
            return number
    return _line_with(text, symbol)


def _line_of_word(path: Path, word: str) -> int:
    """Return the number of the first line that quotes a word, whatever its case."""
    text = read_text(path, ConstructionError)
    for number, line in enumerate(text.splitlines(), start=1):
        words = {part.lower() for quoted in _QUOTED.findall(line) for part in quoted[1:-1].split()}
        if not line.lstrip().startswith("#") and word in words:
            return number
    return _line_with(text.lower(), word)


def _line_with(text: str, part: str) -> int:
    """Return the number of the first line with a part, for where NLTK reads quotes otherwise than they are meant."""
    return next((number for number, line in enumerate(text.splitlines(), start=1) if part in line), 1)


def _one_line(error: ValueError) -> str:
    return " ".join(str(error).split())
