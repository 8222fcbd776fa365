"""Recurrent layers and cells: outputs and states, of one and two layers, in one and two directions."""

from __future__ import annotations

from forms import modules

from autotest import autotest, random, random_bool, random_device, random_tensor, torch


@modules({"torch.nn.RNN": {}, "torch.nn.GRU": {}, "torch.nn.LSTM": {}})
@autotest(n=20, check_graph=True)
def test_layer(module):
    device = random_device()
    features = random(1, 5)
    m = module(
        features,
        random(1, 5),
        num_layers=random(1, 3),
        bias=random_bool(),
        batch_first=random_bool(),
        bidirectional=random_bool(),
    ).to(device)
    x = random_tensor(ndim=3, dim0=random(1, 4), dim1=random(1, 4), dim2=features).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_lstm_with_state():
    device = random_device()
    features, hidden, batch = random(1, 5), random(1, 5), random(1, 4)
    m = torch.nn.LSTM(features, hidden).to(device)
    x = random_tensor(ndim=3, dim0=random(1, 4), dim1=batch, dim2=features).to(device)
    h = random_tensor(ndim=3, dim0=1, dim1=batch, dim2=hidden).to(device)
    c = random_tensor(ndim=3, dim0=1, dim1=batch, dim2=hidden).to(device)
    output, (last_h, last_c) = m(x, (h, c))
    return output, last_h, last_c


@modules({"torch.nn.RNNCell": {}, "torch.nn.GRUCell": {}})
@autotest(n=20, check_graph=True)
def test_cell(module):
    device = random_device()
    features, hidden, batch = random(1, 5), random(1, 5), random(1, 4)
    m = module(features, hidden, bias=random_bool()).to(device)
    x = random_tensor(ndim=2, dim0=batch, dim1=features).to(device)
    h = random_tensor(ndim=2, dim0=batch, dim1=hidden).to(device)
    return m(x, h)


@autotest(n=20, check_graph=True)
def test_lstm_cell():
    device = random_device()
    features, hidden, batch = random(1, 5), random(1, 5), random(1, 4)
    m = torch.nn.LSTMCell(features, hidden, bias=random_bool()).to(device)
    x = random_tensor(ndim=2, dim0=batch, dim1=features).to(device)
    h = random_tensor(ndim=2, dim0=batch, dim1=hidden).to(device)
    c = random_tensor(ndim=2, dim0=batch, dim1=hidden).to(device)
    return m(x, (h, c))
