"""A Program survives JSON and disk; what is damaged or of another version is refused in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from autotest.conformance.bodies import BODIES, assert_same, tensor
from dual_object import Call, Input, Program, Replay
from dual_object.errors import ProgramError
from dual_object.program.calls import op_name
from dual_object.program.values import Name, Ref


def sample():
    """Return a Program with something in every field."""
    x = Input(0, "x", np.arange(6, dtype=np.float32).reshape(2, 3), "bfloat16", True, (1, 2), "uniform", 1 << 40)
    return Program(
        inputs=[x, Input(1, "", np.array(True), "bool"), Input(5, "", np.ones(2), "float64", offset=3)],
        calls=[
            Call("module", "nn.Linear", (3, 4), {"bias": False}, Ref(2), state={"weight": np.ones((4, 3))}),
            Call("call", "Linear", (Ref(2), Ref(0)), {"dtype": Name("float32")}, Ref(3)),
            Call("function", "no", (Ref(3),), {}, raises=("RuntimeError", "MyError"), refusal="no such"),
            Call("custom", "double", (Ref(3),), {}, (Ref(4), 1.5), custom=("a:b", "c:d.e")),
        ],
        outputs=(Ref(4), {"k": Ref(3)}),
        cotangents={4: np.ones(2), 3: np.zeros(3)},
        leaves=[2],
    )


def fields(program):
    """Return everything of a Program that can be compared."""
    arrays = []
    data = program.to_json(arrays)
    return json.dumps(data), [(array.dtype, array.shape, array.tobytes()) for array in arrays]


def test_round_trip_through_json():
    """Every field comes back, with its types."""
    arrays = []
    data = json.loads(json.dumps(sample().to_json(arrays)))
    back = Program.from_json(data, arrays)
    assert fields(back) == fields(sample())
    assert back.inputs[0].strides == (1, 2)
    assert back.calls[2].raises == ("RuntimeError", "MyError")
    assert back.calls[3].custom == ("a:b", "c:d.e")
    assert list(back.cotangents) == [4, 3]
    assert (back.inputs[0].fill, back.inputs[0].seed) == ("uniform", 1 << 40)


def test_round_trip_through_files(tmp_path):
    """A saved Program is loaded as it was, from JSON and the npz beside it."""
    path = tmp_path / "case.json"
    sample().save(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["case.json", "case.npz"]
    loaded, note = Program.load(path)
    assert fields(loaded) == fields(sample())
    assert note == {}
    assert json.loads(path.read_text())["text"] == str(sample())


@pytest.mark.parametrize("name", BODIES)
def test_recorded_program_through_files(name, recorded, reference, tmp_path):
    """A recorded Program, loaded again, prints the same and shows the same on the reference."""
    case = recorded(BODIES[name])
    case.program.save(tmp_path / "case.json")
    loaded, _ = Program.load(tmp_path / "case.json")
    assert str(loaded) == case.text()
    assert_same(case.seen, Replay(reference, loaded).run())


def test_note_is_kept(tmp_path):
    """JSON data saved with a Program comes back with it; a note of another kind is none."""
    path = tmp_path / "case.json"
    sample().save(path, {"test": "a", "index": 3})
    assert Program.load(path)[1] == {"test": "a", "index": 3}
    path.write_text(json.dumps({**json.loads(path.read_text()), "note": "text"}))
    assert Program.load(path)[1] == {}


def test_more_than_ten_arrays_keep_their_order(tmp_path, recorded):
    """Arrays are found by number, not by the order of their names in the file."""
    case = recorded(lambda: [tensor(size) for size in range(1, 13)])
    case.program.save(tmp_path / "case.json")
    assert [x.data.shape for x in Program.load(tmp_path / "case.json")[0].inputs] == [(size,) for size in range(1, 13)]


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_other_version(tmp_path, version):
    """A Program of another version is refused with what to do."""
    path = tmp_path / "case.json"
    sample().save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": version}))
    with pytest.raises(ProgramError) as caught:
        Program.load(path)
    assert str(caught.value) == f"{path} has version={version!r}, but should have 1: record it again"


def test_json_of_something_else(tmp_path):
    """JSON which is no object has no version."""
    path = tmp_path / "case.json"
    sample().save(path)
    path.write_text("[]")
    with pytest.raises(ProgramError) as caught:
        Program.load(path)
    assert str(caught.value) == f"{path} has version=None, but should have 1: record it again"


def test_missing_file(tmp_path):
    """A file which is not there is named with the system's reason."""
    path = tmp_path / "case.json"
    with pytest.raises(ProgramError) as caught:
        Program.load(path)
    assert str(caught.value) == (
        f"{path} cannot be read as a stored Program: [Errno 2] No such file or directory: '{path}'"
    )


def test_missing_arrays(tmp_path):
    """Arrays which are not there are named with the system's reason."""
    path = tmp_path / "case.json"
    sample().save(path)
    path.with_suffix(".npz").unlink()
    with pytest.raises(ProgramError) as caught:
        Program.load(path)
    assert str(caught.value) == (
        f"{path} cannot be read as a stored Program: [Errno 2] No such file or directory: '{tmp_path}/case.npz'"
    )


def test_cut_json(tmp_path):
    """JSON which ends early is refused with the parser's words."""
    path = tmp_path / "case.json"
    sample().save(path)
    path.write_text('{"version": 1,')
    with pytest.raises(ProgramError) as caught:
        Program.load(path)
    assert str(caught.value) == (
        f"{path} cannot be read as a stored Program: "
        "Expecting property name enclosed in double quotes: line 1 column 15 (char 14)"
    )


@pytest.mark.parametrize("keep", [0, 10, 300])
def test_cut_arrays(tmp_path, keep):
    """An npz file which ends early is refused, and the file is named."""
    path = tmp_path / "case.json"
    sample().save(path)
    arrays = path.with_suffix(".npz")
    arrays.write_bytes(arrays.read_bytes()[:keep])
    with pytest.raises(ProgramError) as caught:
        Program.load(path)
    assert str(caught.value).startswith(f"{path} cannot be read as a stored Program: ")


def test_pickled_arrays_are_refused(tmp_path):
    """An array of Python objects is not unpickled."""
    path = tmp_path / "case.json"
    sample().save(path)
    np.savez(path.with_suffix(".npz"), np.array([{}], dtype=object))
    with pytest.raises(ProgramError) as caught:
        Program.load(path)
    assert str(caught.value) == (
        f"{path} cannot be read as a stored Program: Object arrays cannot be loaded when allow_pickle=False"
    )


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ({"inputs": None}, "TypeError(\"'NoneType' object is not iterable\")"),
        ({"inputs": [[1]]}, "ValueError('not enough values to unpack (expected at least 8, got 1)')"),
        ({"outputs": {"no": 1}}, "ProgramError(\"{'no': 1} is no value of a Program\")"),
        ({"outputs": {"array": 99}}, "IndexError('list index out of range')"),
        ({"calls": [[]]}, "ValueError('not enough values to unpack (expected at least 8, got 0)')"),
    ],
    ids=str,
)
def test_damaged_program(damage, reason):
    """JSON of another shape is refused with what was met."""
    arrays = []
    with pytest.raises(ProgramError) as caught:
        Program.from_json({**sample().to_json(arrays), **damage}, arrays)
    assert str(caught.value) == f"the stored Program is damaged: {reason}"


def test_program_without_a_part():
    """A Program without its outputs is damaged, not one that returned nothing."""
    arrays = []
    data = sample().to_json(arrays)
    del data["outputs"]
    with pytest.raises(ProgramError) as caught:
        Program.from_json(data, arrays)
    assert str(caught.value) == "the stored Program is damaged: KeyError('outputs')"


def test_operands_and_results():
    """A call knows which values it reads and which it gives."""
    call = Call("method", "add", (Ref(1), [Ref(2)]), {"alpha": Ref(3)}, out=(Ref(4), 5))
    assert call.operands() == [1, 2, 3]
    assert call.results() == [4]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (Call("function", "nn.functional.relu", (), {}), "relu"),
        (Call("method", "add_", (), {}), "add_"),
        (Call("operator", "truediv", (), {}), "div"),
        (Call("operator", "iadd", (), {}), "add_"),
        (Call("operator", "getitem", (), {}), "getitem"),
        (Call("operator", "lt", (), {}), "lt"),
        (Call("module", "nn.Conv2d", (), {}), "Conv2d"),
        (Call("call", "Conv2d", (), {}), "Conv2d"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.op,
)
def test_op_names(call, name):
    """An op has the name under which people know it, however it was called."""
    assert op_name(call) == name


def test_ops_of_a_program(recorded):
    """The ops of a body are those it called, without attribute reads and regions."""
    assert recorded(BODIES["host"]).program.ops() == ["sum", "gt", "item", "reshape", "mul", "len", "mul"]
    assert recorded(BODIES["no_grad"]).program.ops() == ["no_grad", "mul", "mul"]


def test_modules_of_a_program(recorded):
    """The constructions of modules are found in order."""
    assert [call.op for call in recorded(BODIES["sequential"]).program.modules()] == [
        "nn.Linear",
        "nn.ReLU",
        "nn.Linear",
        "nn.Sequential",
    ]
