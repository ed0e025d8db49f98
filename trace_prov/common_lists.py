"""Lists in the form in which YAML writers commonly dump them, recognised without reading YAML.

Most list results of agent tools are block sequences of scalars or flat mappings at column 0. Reading them with libyaml
costs about fifty times what searching them costs, and only the places of the dashes are wanted. This module accepts a
subset of YAML in which these places are certain, and nothing else; all other text is left to the YAML parser. A test
compares the two on generated lists.

The subset: each item is `- ` and a scalar, or `- ` and `key: scalar` with further keys at column 2, where a key may
also have a list of scalars at column 2 or a flat mapping at column 4. Scalars are plain, single- or double-quoted;
each may go on over lines that are indented by four blanks at least, so that a dash at column 0 always opens an item.
No anchors, tags, comments, deeper collections or block scalars.
"""

from __future__ import annotations

import re

# Anything but line feeds and printable characters that no YAML rule treats in its own way. Asked once for a text, so
# that the classes below can be small: a large class in many places makes a regular expression slow to compile.
_UNUSUAL = re.compile("[^\n -~\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")

_PLAIN_CHAR = r"[^\n:#]"
_PLAIN_START = r"[A-Za-z0-9_/().+$=<;~^\x80-\U0010ffff]"
_INNER_MARK = r"[:#](?<=[^ ][:#])(?=[^ \n])"
_PLAIN_REST = f"{_PLAIN_CHAR}*+(?:{_INNER_MARK}{_PLAIN_CHAR}*+)*+"
_PLAIN = f"{_PLAIN_START}{_PLAIN_REST}(?:\\n+ {{4,}}(?! ){_PLAIN_CHAR}{_PLAIN_REST})*+"
_NEXT_LINE = r"\n+ {4,}(?=[^ \n])"
_SINGLE = f"'(?:[^\\n']++|''|{_NEXT_LINE})*+'"
_ESCAPE = r"\\(?:[0abtnvfre \"/\\N_LP]|x[0-9A-Fa-f]{2}|u(?![dD][89A-Fa-f])[0-9A-Fa-f]{4}|\n {4,}(?=[^ \n]))"
_DOUBLE = f'"(?:[^\\n"\\\\]++|{_ESCAPE}|{_NEXT_LINE})*+"'
_SCALAR = f"(?:{_SINGLE}|{_DOUBLE}|\\[\\]|\\{{\\}}|{_PLAIN})"
# One line each: at their depth a line with four blanks would be the next key.
_LINE_SCALAR = f"(?:'(?:[^\\n']++|'')*+'|\"[^\\n\"\\\\]*+\"|\\[\\]|\\{{\\}}|{_PLAIN_START}{_PLAIN_REST})"
_INNER_PAIR = f"\\n    [A-Za-z_][A-Za-z0-9_.@]{{0,63}}: {_LINE_SCALAR}(?=\\n|\\Z)"
_PAIR = f"[A-Za-z_][A-Za-z0-9_]{{0,63}}:(?: {_SCALAR}|(?:\\n  - {_SCALAR}(?=\\n|\\Z))++|(?:{_INNER_PAIR})++|)"
_ITEM = f"- (?:{_PAIR}(?:\\n  {_PAIR})*+(?=\\n|\\Z)|{_SCALAR}(?=\\n|\\Z))"
_LIST = re.compile(f"{_ITEM}(?:\\n{_ITEM})*+\\n?")


def common_list(text: str) -> list[str] | None:
    """The slices of a list in the common form, from each dash to before the next; None for any other text."""
    if not text.startswith("- ") or _UNUSUAL.search(text) is not None or _LIST.fullmatch(text) is None:
        return None
    first, *rest = text.split("\n- ")
    lines = [first, *("- " + item for item in rest)]
    return [line + "\n" for line in lines[:-1]] + lines[-1:]
