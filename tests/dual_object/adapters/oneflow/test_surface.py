"""OneFlow's registry is read without trust, and what ran is told by graphs and by the backward of results."""

from __future__ import annotations

import ctypes
import struct
from types import SimpleNamespace
from typing import Any

import pytest

from dual_object.adapters.oneflow.graph import Adapter
from dual_object.adapters.oneflow.surface import RegistryError, backward_op_types, graph_op_types, registered, walk

MANAGER, NODES, TEXT = 0x1000, 0x2000, 0x4000


class Memory:
    """A registry of these names as libstdc++ lays it out, in memory that ends and can be spoilt."""

    def __init__(self, *names: str) -> None:
        self.bytes = bytearray(0x6000)
        for index, name in enumerate(names):
            following = self.node(index + 1) if index + 1 < len(names) else 0
            self.put(self.node(index), following, self.text(index))
            self.put(self.text(index) - 24, len(name), len(name), 0)
            self.bytes[self.text(index) : self.text(index) + len(name)] = name.encode("latin-1")
        self.put(MANAGER, 0x3000, 7, self.node(0), len(names))

    def node(self, index: int) -> int:
        """Where a node lies."""
        return NODES + 0x100 * index

    def text(self, index: int) -> int:
        """Where the characters of a name lie."""
        return TEXT + 0x100 * index

    def put(self, address: int, *words: int) -> None:
        """Write words."""
        struct.pack_into(f"<{len(words)}Q", self.bytes, address, *words)

    def read(self, address: int, count: int) -> bytes:
        """Give bytes, fewer at the end."""
        return bytes(self.bytes[address : address + count])

    def walk(self) -> list[str]:
        """Read the registry; the library's lookup agrees."""
        return walk(MANAGER, self.read, lambda name: name + 8)


def test_registry_is_read_in_full() -> None:
    """Every name of the map is read, as long or as odd as names are."""
    assert Memory("relu", "_nccl_logical_s2s", "x" * 200).walk() == ["relu", "_nccl_logical_s2s", "x" * 200]


@pytest.mark.parametrize(
    ("address", "word", "message"),
    [
        (MANAGER + 24, 0, "registry.count=0, but should be from 1 to 10000 [7 buckets]"),
        (MANAGER + 24, 10_001, "registry.count=10001, but should be from 1 to 10000 [7 buckets]"),
        (MANAGER + 8, 0, "registry.count=2, but should be from 1 to 10000 [0 buckets]"),
        (MANAGER + 24, 3, "names=2, but should be 3, as the registry counts"),
        (MANAGER + 24, 1, "names=1, but should be 1, as the registry counts, and no more"),
        (MANAGER + 16, 0, "names=0, but should be 2, as the registry counts"),
        (MANAGER + 16, 0x5FF8, "memory at 0x5ff8 ends after 8 of 16 bytes"),
        (NODES, NODES, "names=1, but should be 2, as the registry counts, and no more"),
        (TEXT - 24, 0, "length=0 of name 0, but should be from 1 to 200"),
        (TEXT - 24, 201, "length=201 of name 0, but should be from 1 to 200"),
        (TEXT - 24, 5, r"name=b'relu\x00', but should be 5 characters of an identifier"),
        (TEXT, 0x2D2D, r"name=b'--\x00\x00', but should be 4 characters of an identifier"),
        (TEXT, 0xE9E9E9E9, r"name=b'\xe9\xe9\xe9\xe9', but should be 4 characters of an identifier"),
    ],
)
def test_garbage_is_no_registry(address: int, word: int, message: str) -> None:
    """Whatever is wrong in memory is told in one sentence; nothing half read is given."""
    memory = Memory("relu", "erf")
    memory.put(address, word)
    with pytest.raises(RegistryError) as caught:
        memory.walk()
    assert str(caught.value) == message


def test_name_is_cut_by_the_end_of_memory() -> None:
    """A name that memory ends in is none, even where the rest is an identifier."""
    memory = Memory("relu")
    memory.put(NODES, 0, 0x6000 - 2)
    memory.put(0x6000 - 26, 4)
    memory.bytes[-2:] = b"re"
    with pytest.raises(RegistryError) as caught:
        memory.walk()
    assert str(caught.value) == "name=b're', but should be 4 characters of an identifier"


def test_lookup_must_agree() -> None:
    """An entry that the library itself finds elsewhere, or not, is none: the layout is another one."""
    for found in (None, NODES + 24):
        with pytest.raises(RegistryError) as caught:
            walk(MANAGER, Memory("relu").read, lambda _, found=found: found)
        assert str(caught.value) == "name='relu', but the library's own lookup finds it elsewhere"


@pytest.mark.parametrize(
    ("manager", "reason"),
    [
        (None, "[Errno 5] Input/output error"),
        (8, "[Errno 5] Input/output error"),
        (1 << 63, "Python int too large to convert to C long"),
    ],
)
def test_wrong_address_ends_nothing(manager: int | None, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where no memory is gives an error, no death."""

    def get() -> int | None:
        return manager

    def lookup(*_: Any) -> int | None:
        raise AssertionError("nothing was read that could be looked up")

    names = ["_ZN7oneflow7user_op17UserOpRegistryMgr3GetEv"]
    names += ["_ZN7oneflow7user_op17UserOpRegistryMgr19GetOpRegistryResultERKSs"]
    library = SimpleNamespace(**dict(zip(names, (get, lookup), strict=True)))
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    with pytest.raises(RegistryError) as caught:
        registered("liboneflow.so")
    assert str(caught.value) == f"liboneflow's op registry cannot be read: {reason}"


def test_library_without_a_registry(capsys: pytest.CaptureFixture[str]) -> None:
    """A library without the registry's functions gives an empty registry, and the reason on standard error."""
    flow = SimpleNamespace(_oneflow_internal=SimpleNamespace(__file__="libc.so.6"))
    assert Adapter.registry(SimpleNamespace(flow=flow)) == ()  # type: ignore[arg-type]
    said = capsys.readouterr().err
    assert said.startswith("liboneflow has no op registry of a known kind: ")
    assert said.endswith("undefined symbol: _ZN7oneflow7user_op17UserOpRegistryMgr3GetEv\n")
    with pytest.raises(RegistryError, match=r"^liboneflow has no op registry of a known kind: /no/such\.so: "):
        registered("/no/such.so")


def op(name: str, kind: str = "") -> SimpleNamespace:
    """An op of a graph; without a kind one that is no user op."""
    return SimpleNamespace(name=name, HasField=lambda field: bool(kind), user_conf=SimpleNamespace(op_type_name=kind))


def test_graph_tells_its_op_types() -> None:
    """User ops outside the block that is ours are told, whatever else the graph holds."""
    ops = [op("_input_2"), op("relu-0", "relu"), op("dummy-cast-1", "cast"), op("m0_1-matmul-2", "matmul")]
    graph = SimpleNamespace(_graph_proto=SimpleNamespace(net=SimpleNamespace(op=ops)))
    assert graph_op_types(graph, "dummy") == {"relu", "matmul"}


class Node:
    """A node of a backward."""

    def __init__(self, name: str, *below: Node) -> None:
        self.name = lambda: name
        self.next_functions = below


def test_backward_tells_its_op_types() -> None:
    """The op types behind a result are told; leaves and views are none, and a result without gradient has none."""
    leaf = Node("accumulate_grad")
    outputs = [
        SimpleNamespace(grad_fn=Node("relu_backward", Node("view::slice_backward", Node("erf_backward", leaf)))),
        SimpleNamespace(grad_fn=None),
        SimpleNamespace(grad_fn=Node("exp_backward", leaf)),
    ]
    assert backward_op_types(outputs) == {"relu", "erf", "exp"}


def test_backward_is_walked_once() -> None:
    """A result with 2**100 ways to its leaf is walked by nodes, and a longer one is left after 1000."""
    node = Node("accumulate_grad")
    for _ in range(100):
        node = Node("add_n_backward", node, node)
    assert backward_op_types([SimpleNamespace(grad_fn=node)]) == {"add_n"}
    node = Node("deepest_backward")
    for _ in range(2000):
        node = Node("relu_backward", node)
    assert backward_op_types([SimpleNamespace(grad_fn=node)]) == {"relu"}
