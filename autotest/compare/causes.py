"""Causes: what a side says of why it raises, or what else a call gives, as far as that tells one fault of an op from
another.

How a call is written is no cause where the target says the same however it is: what `norm(x, dim=(0, 1, 2))` and
`x.norm(2, dim=(2, 0, 1), keepdim=True)` raise is one fault. Where it takes no keyword of that name it says so, too.
"""

from __future__ import annotations

import re

#: What comes before the words of an exception, in the sentence of a divergence, or before what a call gives.
_SAYS = re.compile(r" raised \w+: | refuses with \w+: | returned (?=\w)")
#: What comes after them: what it should be instead, or what the call is on the target.
_REST = re.compile(r"; but should raise \w+$| \[on .*\]$")
#: Numbers in a row, and then a shape, however many dimensions it has: neither is a cause by itself.
_NUMBERS, _SHAPE = re.compile(r"-?\d+(?:[ ,x.]+-?\d+)*"), re.compile(r"[(\[](?:0,?)?[)\]]")
#: A value of the program, by its name: whichever it is, it is what the call was given.
_VALUE = re.compile(
    r"^\w+(?= itself, but should return )|(?<=another tensor than )\w+(?=, )|(?<=but should return )\w+(?= itself$)"
)
#: A word that says something: no class of exceptions, and no `vs` between two numbers.
_WORD = re.compile(r"(?!\w*(?:Error|Exception)\b)\b[A-Za-z]{3,}")
#: What is said of any call that fits none of an op's signatures, whatever is wrong with it.
_ANY_CALL = "invalid combination of arguments"


def cause(message: str) -> str:
    """The cause in the message of a divergence, without its numbers; empty where none is told: no value is that, and
    of what is raised none that says nothing but numbers, or nothing but that the call is wrong.
    """
    said = _SAYS.search(message)
    if said is None:
        return ""
    words = _SHAPE.sub("()", _NUMBERS.sub("0", _VALUE.sub("an argument", _REST.sub("", message[said.end() :]))))
    return words if _WORD.search(words) and _ANY_CALL not in words else ""
