"""Owners: which module a parameter or buffer belongs to, where modules hold modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dual_object.program.calls import Call, op_name
from dual_object.program.program import Program
from dual_object.program.values import Ref, Tree

#: Modules that are nothing but those that they are given.
_CONTAINERS = ("Sequential", "ModuleList", "ModuleDict")


def owner(program: Program, key: str) -> Call | None:
    """The construction of the innermost module that the Program makes and a leaf belongs to: of `5.0.1.weight` that of
    `m1` where `m5 = Sequential(m2)` and `m2 = ModuleList([m0, m1])`; None where the Program makes none.

    What a layer makes itself, such as the attention of a Transformer, is the layer's. It does not know of a part that
    has been added or exchanged since (`m2[0] = m3`), whose leaf is then the container's.
    """
    made = {call.out.id: call for call in program.modules() if type(call.out) is Ref}
    number, *names = key.split(".")
    call = made.get(int(number))
    for name in names:
        part = None if call is None else dict(_parts(call, made)).get(name)
        if part is None:
            break
        call = part
    return call


def _parts(container: Call, made: Mapping[int, Call]) -> Iterator[tuple[str, Call]]:
    """The constructions of the modules that a container is given, by the names that it has for them."""
    if op_name(container) not in _CONTAINERS:
        return
    arguments = [*container.args, *container.kwargs.values()]
    # A Ref is a tuple itself.
    one: Tree = arguments[0] if len(arguments) == 1 and type(arguments[0]) is not Ref else arguments
    for name, part in one.items() if isinstance(one, dict) else enumerate(one):
        if type(part) is Ref and part.id in made:
            yield str(name), made[part.id]


__all__ = ["owner"]
