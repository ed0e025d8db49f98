"""Files for Neo4j Browser, made of the query files and the palette: style, guide, and saved queries.

`python -m trace_prov.neo4j.browser docker/browser` writes them. The classic Browser takes the style (`:style`) and the
guide (`:play`); the new one takes neither, but the saved queries as they are.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from trace_prov.neo4j.mapping import BASE, HIDDEN, PACKAGE_PREFIX
from trace_prov.neo4j.palette import LINE, LINES, LOOKS, Look

STYLE, GUIDE, SAVED = "trace.grass", "guide.html", "saved"
#: the words in the guide that say what a colour stands for, in the order of an investigation
_LEGEND = {
    "RequestTurn": "what the user asked",
    "Action": "a tool call",
    "Argument": "a value that the call used",
    "ListElement": "a record: what a tool gave back",
    "Citation": "an id that the agent cites",
    "Binding": "a table row: which record an id names",
    HIDDEN: "withheld, redacted, cut or unreadable",
    "Finding": "an answer that was attached",
}


@dataclass(frozen=True, slots=True)
class SavedQuestion:
    """A question of queries/cypher/explore: `title` and `text` are its comment, `parameter` what Browser sets once."""

    name: str
    title: str
    text: str
    parameter: str
    query: str
    file: str


def saved_questions() -> tuple[SavedQuestion, ...]:
    """The questions in the order of their numbers."""
    folder = files("trace_prov.queries") / "cypher" / "explore"
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".cypher"))
    return tuple(_question(name, (folder / name).read_text("utf-8")) for name in names)


def _question(name: str, file: str) -> SavedQuestion:
    lines = file.splitlines()
    comment = [line.removeprefix("// ") for line in lines if line.startswith("//")]
    query = "\n".join(lines[len(comment) :])
    place = comment.index("Parameter, once:")
    title = comment[0].partition(" ")[2]
    parameter = comment[place + 1].removeprefix("//").strip()
    return SavedQuestion(name.removesuffix(".cypher"), title, " ".join(comment[1:place]), parameter, query, file)


def style() -> str:
    """The style as GraSS. The base labels come first: Browser lets a rule that it must invent win over ours."""
    return "\n".join(_rules()) + "\n"


def _rules() -> Iterator[str]:
    yield _rule("node", LOOKS[BASE])
    hidden = LOOKS[HIDDEN]
    for label, look in LOOKS.items():
        if label != HIDDEN:
            yield _rule(f"node.{label}", look)
    for label, look in LOOKS.items():
        if label in _IN_PACKAGES:
            yield _rule(f"node.{PACKAGE_PREFIX}{label}", look)
    yield _rule(f"node.{HIDDEN}", hidden)
    yield f"relationship {{\n  color: {LINE};\n  shaft-width: 1px;\n  font-size: 8px;\n}}"
    for type_, colour in LINES.items():
        yield f"relationship.{type_} {{\n  color: {colour};\n  shaft-width: 3px;\n}}"


#: labels that a package has with its prefix
_IN_PACKAGES = frozenset(LOOKS) - {
    BASE,
    HIDDEN,
    "Annotation",
    "Import",
    "EvidencePackage",
    "PackageTarget",
    "PackageWithheld",
    "Finding",
    "WatermarkVerdict",
    "WatermarkDecision",
}


def _rule(selector: str, look: Look) -> str:
    return (
        f"{selector} {{\n"
        f"  diameter: {look.diameter}px;\n"
        f"  color: {look.fill};\n"
        f"  border-color: {look.border};\n"
        "  border-width: 2px;\n"
        f"  text-color-internal: {look.text};\n"
        f"  font-size: {8 if look.caption == 'locator' else 10}px;\n"
        f'  caption: "{{{look.caption}}}";\n'
        "}"
    )


def guide() -> str:
    """The guide as the HTML that `:play` shows: what there is to see, one text to start from, a slide a question."""
    questions = saved_questions()
    slides = [_first_slide(questions[0].parameter), *(_slide(question) for question in questions), _last_slide()]
    return (
        '<article class="guide">\n<carousel class="deck container-fluid">\n'
        + "\n".join(slides)
        + "\n</carousel>\n</article>\n"
    )


def _first_slide(parameter: str) -> str:
    legend = "".join(
        f'<tr><td style="background:{LOOKS[label].fill};border:2px solid {LOOKS[label].border};width:2em"></td>'
        f'<td style="padding:2px 8px"><b>{html.escape(label)}</b></td><td>{html.escape(words)}</td></tr>'
        for label, words in _LEGEND.items()
    )
    return _framed(
        "From a value to a finding",
        "<p>Start with a text that matters: an account number, an address, a password. Set it once, then go through "
        "the questions. Change the text in quotes before you run this.</p>"
        + _runnable(parameter)
        + f"<table>{legend}</table>",
    )


def _slide(question: SavedQuestion) -> str:
    return _framed(question.title, f"<p>{html.escape(question.text)}</p>" + _runnable(question.query))


def _last_slide() -> str:
    return _framed(
        "Go on from here",
        "<p>The questions that return a table are in <code>queries/cypher</code> and run with "
        "<code>trace-prov neo4j query</code>. Findings are attached with <code>trace-prov neo4j annotate</code> and "
        "taken out again with <code>trace-prov neo4j unannotate</code>.</p>",
    )


def _framed(title: str, body: str) -> str:
    return (
        f'<slide class="row-fluid">\n<div class="col-sm-12">\n<h3>{html.escape(title)}</h3>\n{body}\n</div>\n</slide>'
    )


def _runnable(query: str) -> str:
    return (
        '<pre mode="cypher" class="prettyprint lang-cypher code runnable standalone-example" data-lang="cypher">'
        f"{html.escape(query)}</pre>"
    )


def write(folder: Path) -> list[Path]:
    """Write all files below `folder`; return them."""
    texts = {STYLE: style(), GUIDE: guide()}
    texts |= {f"{SAVED}/{question.name}.cypher": question.file for question in saved_questions()}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


if __name__ == "__main__":
    for written in write(Path(sys.argv[1])):
        print(written)
