"""What the documentation of sequences of different lengths says: how they are padded, packed, and come back."""

from __future__ import annotations

from functools import partial

import pytest

from autotest import contract

sequences = partial(contract, target="oneflow")


def three(flow):
    """Sequences of lengths 3, 2 and 1."""
    return [flow.tensor(values) for values in ([1.0, 2.0, 3.0], [4.0, 5.0], [6.0])]


@sequences("sequences are padded behind their ends to the longest", of="nn.utils.rnn.pad_sequence")
@pytest.mark.parametrize("value", [0.0, -1.0])
@pytest.mark.parametrize("batch_first", [True, False])
def test_padded(flow, batch_first, value):
    padded = flow.nn.utils.rnn.pad_sequence(three(flow)[::-1], batch_first=batch_first, padding_value=value)
    rows = [[6.0, value, value], [4.0, 5.0, value], [1.0, 2.0, 3.0]]
    assert padded.tolist() == (rows if batch_first else [[*column] for column in zip(*rows, strict=True)])


@sequences("what is padded has the dimensions of its sequences behind", of="nn.utils.rnn.pad_sequence")
def test_padded_rows(flow):
    rows = [flow.ones(2, 4, 5), flow.ones(3, 4, 5)]
    assert tuple(flow.nn.utils.rnn.pad_sequence(rows).shape) == (3, 2, 4, 5)
    assert tuple(flow.nn.utils.rnn.pad_sequence(rows, batch_first=True).shape) == (2, 3, 4, 5)


@sequences("packed are the first steps of all, the second of those that have one", of="nn.utils.rnn.pack_sequence")
def test_packed(flow):
    packed = flow.nn.utils.rnn.pack_sequence(three(flow))
    assert packed.data.tolist() == [1.0, 4.0, 6.0, 2.0, 5.0, 3.0]
    assert packed.batch_sizes.tolist() == [3, 2, 1]


@sequences("sequences in another order are sorted, and come back as they were", of="nn.utils.rnn.pack_sequence")
def test_packed_unsorted(flow):
    rnn = flow.nn.utils.rnn
    packed = rnn.pack_sequence([three(flow)[number] for number in (2, 0, 1)], enforce_sorted=False)
    assert packed.data.tolist() == [1.0, 4.0, 6.0, 2.0, 5.0, 3.0]
    assert packed.sorted_indices.tolist() == [1, 2, 0]
    assert packed.unsorted_indices.tolist() == [2, 0, 1]
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True)
    assert padded.tolist() == [[6.0, 0, 0], [1.0, 2.0, 3.0], [4.0, 5.0, 0]]
    assert lengths.tolist() == [1, 3, 2]


@sequences("sequences in another order are refused unless that is allowed", of="nn.utils.rnn.pack_sequence")
def test_unsorted_is_refused(flow):
    with pytest.raises(RuntimeError):
        flow.nn.utils.rnn.pack_sequence(three(flow)[::-1])


@sequences("a padded batch is packed by its lengths", of="nn.utils.rnn.pack_padded_sequence")
@pytest.mark.parametrize("batch_first", [True, False])
def test_packed_from_padded(flow, batch_first):
    rnn = flow.nn.utils.rnn
    padded = rnn.pad_sequence(three(flow), batch_first=batch_first, padding_value=9.0)
    packed = rnn.pack_padded_sequence(padded, flow.tensor([3, 2, 1]), batch_first=batch_first)
    assert packed.data.tolist() == [1.0, 4.0, 6.0, 2.0, 5.0, 3.0]
    assert packed.batch_sizes.tolist() == [3, 2, 1]


@sequences("what comes back is padded as one asks, and as long as one asks", of="nn.utils.rnn.pad_packed_sequence")
def test_padded_again(flow):
    rnn = flow.nn.utils.rnn
    packed = rnn.pack_sequence(three(flow))
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=4)
    assert padded.tolist() == [[1.0, 2.0, 3.0, -1.0], [4.0, 5.0, -1.0, -1.0], [6.0, -1.0, -1.0, -1.0]]
    assert lengths.tolist() == [3, 2, 1]


@sequences("sequences come back without their padding", of="nn.utils.rnn.unpad_sequence")
def test_unpadded(flow):
    rnn = flow.nn.utils.rnn
    padded = rnn.pad_sequence(three(flow), batch_first=True)
    assert [x.tolist() for x in rnn.unpad_sequence(padded, flow.tensor([3, 2, 1]), batch_first=True)] == [
        x.tolist() for x in three(flow)
    ]
    packed = rnn.pack_sequence(three(flow))
    assert [x.tolist() for x in rnn.unpack_sequence(packed)] == [x.tolist() for x in three(flow)]


@sequences("each entry of a permutation says where its own is", of="nn.utils.rnn.invert_permutation")
def test_inverted(flow):
    assert flow.nn.utils.rnn.invert_permutation(flow.tensor([2, 0, 1])).tolist() == [1, 2, 0]
    assert flow.nn.utils.rnn.invert_permutation(None) is None


@sequences("gradients reach each sequence, and no padding", of="nn.utils.rnn.pack_padded_sequence")
def test_gradients(flow):
    rnn = flow.nn.utils.rnn
    x = flow.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 0.0]], requires_grad=True)
    packed = rnn.pack_padded_sequence(x, flow.tensor([3, 2]), batch_first=True)
    (packed.data * packed.data).sum().backward()
    assert x.grad.tolist() == [[2.0, 4.0, 6.0], [8.0, 10.0, 0.0]]
