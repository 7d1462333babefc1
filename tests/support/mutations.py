"""Seeded damage to files: of bytes, tokens, lines, structure and encodings.

A mutation is decided by its seed alone, so that one which was found once can be made again by `mutate`.
"""

import gzip
import json
import random
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from ruamel.yaml import YAML

Kind = Literal["yaml", "jsonl", "tsv", "csv", "cfg", "bytes"]  # bytes: no text

LONG = "x" * 200_000
DIGITS = "9" * 5_000
# What a value can turn into: of another type, unreadable, too long, or with a meaning of its own in some format.
TOKENS = (
    *("", " ", "null", "~", "true", "False", "0", "-1", "1.5", "1e999", ".nan", "NaN", "Infinity", ".inf", "1_0"),
    *("0x1F", DIGITS, f"0x{'f' * 5_000}", f"-{DIGITS}.5", f"1e{DIGITS}", LONG, f'"{LONG}"', "7" * 25, "2026-02-31"),
    *("2026-01-31", "2026-01-01T25:00:00Z", "0000-00-00", "99999-01-01", "12:30", "2026-1-1", "[]", "{}", "[1, 2]"),
    *("{a: b}", "[", "]", "{", "}", "'", '"', "''", "|", ">", "-", "- ", ": ", "?", "#", ",", "%", "!!int foo"),
    *("!!bool x", "!!binary x", "!!set {a}", "!!timestamp x", "!!python/object/apply:os.getcwd []", "&a", "*a"),
    *("&a [*a]", "&a {b: *a}", "<<", "<<: *a", "!!float ''", '!!int ""', "._", "0o9", "=", "!x 1", "&a &a 1"),
    *('"\\ud800"', "\\ud800", '"\\u0000"', '"\\0"', "\0", "\ufeff", "\u2028", "\x85", "\x0b", "\x1b[31m", "\r", "\n"),
    *("\t", "é", "e\u0301", "\u202e", "\u200b", "\U0001f600", "\x7f", "\ufffe", "ß", "İ", "ﬁ", "../x", "/"),
    *("/dev/zero", "~/x", "$HOME", "$(id)", "cuda:1", "{X}", "{0}", "{", "{{", "{X!r}", "{X:>9999999999}", "<MASK>"),
    *("[MASK]", "{SBJ:they}", "[X y]", "POS", "->", "-> |", "'a", "[0.5]", "%start X", "(?i:", "(a*)*$", "\\p{"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 10**25, -(10**400), 1.5, 1e308, float("inf"), float("nan"), "", " ", "x", "é", LONG),
    *("\0", "\ud800", "a\nb", "null", "1", "all", "../x", "{X}", "[MASK]", [], {}, [None], [[]], {"": None}),
    *({"a": {"b": []}}, [1, "a"]),
)


class Mutation(NamedTuple):
    """A damaged file.

    Attributes:
        name: What was done, in words.
        content: The file.
        is_harmless: Whether it means the same as the sound file, so that it must be read as that is.
    """

    name: str
    content: bytes
    is_harmless: bool = False


def mutate(sound: bytes, kind: Kind, seed: str, *, compressed: bool = False) -> Mutation:
    """Return a sound file with one to three mutations, which the seed decides."""
    rng = random.Random(seed)
    content, names = sound, []
    if kind != "bytes" and rng.random() < 0.03:
        name = rng.choice(list(HARMLESS))
        mutation = Mutation(name, HARMLESS[name](sound), is_harmless=True)
    else:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            name = rng.choice(("bytes", "tokens", "tokens", "lines", "structure", "structure", "encodings"))
            name = "bytes" if kind == "bytes" else name
            how, content = MUTATORS[name](content, kind, rng)
            names.append(f"{name}: {how}")
        mutation = Mutation(" + ".join(names), content)
    return _compress(mutation, rng) if compressed else mutation


def _compress(mutation: Mutation, rng: random.Random) -> Mutation:
    packed = gzip.compress(mutation.content, mtime=0)
    if rng.random() < 0.5:
        return mutation._replace(content=packed)
    how, damaged = _of_bytes(packed, "jsonl", rng)
    return Mutation(f"{mutation.name} + compressed, bytes: {how}", damaged)


def _of_bytes(content: bytes, kind: Kind, rng: random.Random) -> tuple[str, bytes]:
    """Delete, repeat, overwrite or insert some bytes, or keep those before or after a place."""
    start = rng.randrange(len(content) + 1)
    end = min(len(content), start + rng.choice((1, 1, 2, 10, 100)))
    new = rng.choice((b"", content[start:end] * 2, rng.randbytes(end - start), rng.randbytes(8) + content[start:end]))
    before, after = rng.choice(((content[:start], content[end:]),) * 4 + ((content[:start], b""), (b"", content[end:])))
    return f"{new[:20]!r} over {start}:{end}, {len(before)} before and {len(after)} after", before + new + after


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode(
        "utf-8", "surrogatepass" if re.search("[\ud800-\udb7f\udc00-\udc7f]", text) else "surrogateescape"
    )


def _of_tokens(content: bytes, kind: Kind, rng: random.Random) -> tuple[str, bytes]:
    parts = re.split(r"([\s,:\[\]{}\"'|>-]+)", _text(content))
    place, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    match rng.choice(("nasty", "nasty", "nasty", "beside", "another", "delete", "swap", "nest")):
        case "nasty":
            new = rng.choice(TOKENS)
            how, parts[place] = f"{new[:20]!r} for {parts[place][:20]!r}", new
        case "beside":
            new = rng.choice(TOKENS)
            how, parts[place] = f"{new[:20]!r} after {parts[place][:20]!r}", parts[place] + new
        case "another":
            how, parts[place] = f"{parts[other][:20]!r} for {parts[place][:20]!r}", parts[other]
        case "delete":
            how, parts[place] = f"without {parts[place][:20]!r}", ""
        case "swap":
            how = f"{parts[place][:20]!r} and {parts[other][:20]!r} exchanged"
            parts[place], parts[other] = parts[other], parts[place]
        case _:
            depth, (left, right) = (
                rng.choice((3, 90, 2_000, 50_000)),
                rng.choice(("[]", "{}", ("{a: ", "}"), ('{"a": ', "}"))),
            )
            how, parts[place] = f"{depth} {left} for {parts[place][:20]!r}", left * depth + "1" + right * depth
    return how, _bytes("".join(parts))


def _of_lines(content: bytes, kind: Kind, rng: random.Random) -> tuple[str, bytes]:
    lines = content.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    line, cut = lines[one], rng.randrange(len(lines[one]) + 1)
    instead = {
        "delete": [],
        "repeat": [line] * rng.choice((2, 300)),
        "replace": [lines[other]],
        "indent": [rng.choice((b" ", b"  ", b"\t", b"- ")) + line],
        "outdent": [line.lstrip()],
        "cut": [line[:cut]],
        "divide": [line[:cut], line[cut:]],
        "blank": [b""],
        "conflict": [b"<<<<<<< HEAD", line, b"=======", lines[other], b">>>>>>> theirs"],
    }
    how = rng.choice(list(instead))
    lines[one : one + rng.choice((1, 1, 2))] = instead[how]
    return f"{how} {one} ({other})", b"\n".join(lines)


def _of_structure(content: bytes, kind: Kind, rng: random.Random) -> tuple[str, bytes]:
    """Change what the file holds, and write it so that the format itself is sound."""
    try:
        match kind:
            case "yaml":
                if content.count(b"[") + content.count(b"{") > 1000:  # ruamel could break this process, as it is
                    return _of_bytes(content, kind, rng)
                held = YAML(typ="safe").load(content)
                how = _change(held, rng)
                return how, _json(held).encode("utf-8", "surrogatepass")
            case "jsonl":
                lines = content.split(b"\n")
                place = rng.randrange(len(lines))
                held = json.loads(lines[place])
                how = _change(held, rng)
                text = json.dumps(held, ensure_ascii=rng.random() < 0.5)
                if rng.random() < 0.2:
                    how, text = how + ", a key twice", text[:-1] + ", " + text[1:]
                lines[place] = text.encode("utf-8", "surrogatepass")
                return f"line {place}: {how}", b"\n".join(lines)
            case "tsv" | "csv":
                return _of_cells(content, "\t" if kind == "tsv" else ",", rng)
    except Exception:  # an earlier mutation has left no structure
        return _of_bytes(content, kind, rng)
    return _of_tokens(content, kind, rng)


def _json(held: Any) -> str:
    """Return content as JSON, which is YAML, with long integers too."""
    return json.dumps(held, ensure_ascii=False).replace("Infinity", ".inf").replace("NaN", ".nan")


def _change(held: Any, rng: random.Random) -> str:
    """Change one thing somewhere inside a mapping or list, in place, and return what."""
    place = ""
    while True:
        keys = list(held) if isinstance(held, dict) else list(range(len(held)))
        if not keys:
            return f"nothing at {place}"
        key = rng.choice(keys)
        place += f"/{str(key)[:20]}"
        if isinstance(held[key], dict | list) and held[key] and rng.random() < 0.85:
            held = held[key]
            continue
        how = rng.choice(("value", "value", "value", "delete", "beside", "wrap", "key"))
        value = rng.choice((*VALUES, held[rng.choice(keys)]))
        if how == "wrap":
            value = held[key]
            for _ in range(rng.choice((1, 2, 150))):
                value = [value] if rng.random() < 0.5 else {"a": value}
        if how in ("delete", "key"):
            value = held.pop(key)
        if how in ("value", "wrap"):
            held[key] = value
        elif how != "delete":
            name = rng.choice(("", "unknown", "1", "../x", "a\nb", LONG, f"{key}x"))
            if isinstance(held, dict):
                held[name] = value
            else:
                held.append(value)
        return f"{how} at {place}"


def _of_cells(content: bytes, delimiter: str, rng: random.Random) -> tuple[str, bytes]:
    """Change a cell, a row by a cell, or a column."""
    rows = [line.split(delimiter) for line in _text(content).split("\n")]
    row, column = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
    how = rng.choice(("cell", "cell", "header", "row", "column"))
    new = rng.choice((*TOKENS, " ", "\u00a0", '""', rows[0][column - 1], rows[0][column].upper(), "cluster_", "good"))
    match how:
        case "cell" | "header":
            cells = rows[row if how == "cell" else 0]
            cells[min(column, len(cells) - 1)] = rng.choice((new, rng.choice(rows[rng.randrange(len(rows))])))
        case "row":
            rows[row][column : column + 1] = rng.choice(([], [new, new]))
        case _:
            times = rng.choice((0, 2))
            for one in rows:
                one[column : column + 1] = one[column : column + 1] * times
    return f"{how} at {row}, {column}", _bytes("\n".join(delimiter.join(one) for one in rows))


def _of_encodings(content: bytes, kind: Kind, rng: random.Random) -> tuple[str, bytes]:
    name = rng.choice(list(ENCODINGS))
    return name, ENCODINGS[name](content)


def _lenient(content: bytes, encoding: str) -> bytes:
    return content.decode("utf-8", "replace").encode(encoding, "replace")


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "UTF-16 with a mark": lambda content: _lenient(content, "utf-16"),
    "UTF-16 without a mark": lambda content: _lenient(content, "utf-16-le"),
    "UTF-32": lambda content: _lenient(content, "utf-32"),
    "Latin-1": lambda content: _lenient(content.replace(b"e", "é".encode(), 1), "latin-1"),
    "half of it in Latin-1": lambda content: content + "é\n".encode("latin-1"),
    "two marks": lambda content: b"\xef\xbb\xbf" * 2 + content,
    "a mark in the middle": lambda content: (
        content[: len(content) // 2] + b"\xef\xbb\xbf" + content[len(content) // 2 :]
    ),
    "old Mac's line ends": lambda content: content.replace(b"\n", b"\r"),
    "line separators": lambda content: content.replace(b"\n", "\u2028".encode()),
    "a NUL at the end": lambda content: content + b"\0",
    "NULs alone": lambda content: b"\0" * len(content),
    "gzip within": lambda content: gzip.compress(content, mtime=0),
    "nothing": lambda content: b"",
    "one line end": lambda content: b"\n",
    "spaces alone": lambda content: b" \t \n" * 10,
    "overlong UTF-8": lambda content: content.replace(b"a", b"\xc1\xa1", 1),
    "a surrogate in UTF-8": lambda content: content.replace(b"a", b"\xed\xa0\x80", 1),
    "an LFS pointer": lambda content: b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    "a page of HTML": lambda content: b"<!DOCTYPE html>\n<html><body>404: not found</body></html>\n",
}
HARMLESS: dict[str, Callable[[bytes], bytes]] = {
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "line ends of Windows": lambda content: content.replace(b"\n", b"\r\n"),
}
MUTATORS: dict[str, Callable[[bytes, Kind, random.Random], tuple[str, bytes]]] = {
    "bytes": _of_bytes,
    "tokens": _of_tokens,
    "lines": _of_lines,
    "structure": _of_structure,
    "encodings": _of_encodings,
}
