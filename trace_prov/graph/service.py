"""Whether a SPARQL query calls a service elsewhere: such a query is refused, since no evidence may leave the machine.

Oxigraph fetches what `SERVICE` names and cannot be told not to, so the keyword is looked for before it gets the query.
What is code, and what is a string, an IRI or a comment, cannot always be told without the grammar: `?a<b#>` is a
comparison and a comment, or an IRI. Both readings are followed, and a query is taken for a call if one of them is.
"""

from __future__ import annotations

import re

_GAP = r"(?:[ \t\r\n]++|#[^\r\n]*+)*+"
_CALL = re.compile(
    rf"SERVICE{_GAP}(?:SILENT{_GAP})?(?:<[^<>\s]*+>|[?$]\w++|[\w.\-]*+:(?:\\.|[^\s{{}}<>#\\])*+){_GAP}\{{",
    re.IGNORECASE,
)
_LONG = re.compile(r"'''(?:[^'\\]|\\.|'(?!''))*+'''|\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*+\"\"\"", re.DOTALL)
_SHORT = re.compile(r"'(?:[^'\\\r\n]|\\.)*+'|\"(?:[^\"\\\r\n]|\\.)*+\"")
_IRI = re.compile(r'<[^<>"{}|^`\x00-\x20]*+>')
_COMMENT = re.compile(r"#[^\r\n]*+")
_VARIABLE = re.compile(r"[?$]\w*+")
_ESCAPE = re.compile(r"\\.?", re.DOTALL)
_NAME = re.compile(r"(?![\w.\-]*service:)[\w.\-]*+:[\w\-:%]*+", re.IGNORECASE)
_ANY = re.compile(".", re.DOTALL)

#: What may begin with a character, all readings of it; anything else is a name or one character of code.
_READINGS = {
    "'": (_LONG, _SHORT),
    '"': (_LONG, _SHORT),
    "<": (_IRI, _ANY),
    "#": (_COMMENT,),
    "?": (_VARIABLE,),
    "$": (_VARIABLE,),
    "\\": (_ESCAPE,),
}


def calls_a_service(query: str) -> bool:
    """Whether the engine would call a SPARQL service elsewhere to answer this query."""
    if "service" not in query.lower():
        return False
    is_code = bytearray(len(query) + 1)
    is_code[0] = 1
    for start, char in enumerate(query):
        if not is_code[start]:
            continue
        if _CALL.match(query, start):
            return True
        readings = _READINGS.get(char)
        if readings is None:
            name = _NAME.match(query, start)
            is_code[start + 1 if name is None else name.end()] = 1
        else:
            for reading in readings:
                found = reading.match(query, start)
                if found is not None:
                    is_code[found.end()] = 1
    return False
