"""Eight small models, as people write them."""

from __future__ import annotations

from autotest import torch

nn, F = torch.nn, torch.nn.functional


class MLP(nn.Module):
    """Two hidden layers."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.last(F.relu(self.second(torch.tanh(self.first(x)))))


class LeNet(nn.Module):
    """Convolutions and pooling, then a classifier."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(3, 4, 3), nn.Tanh(), nn.AvgPool2d(2)
        )
        self.classifier = nn.Linear(4, 3)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class ResidualBlock(nn.Module):
    """Two convolutions with batch norm around a shortcut."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 4, 3, padding=1, bias=False), nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.norm, self.renorm = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.shortcut, self.last = nn.Conv2d(2, 4, 1), nn.Linear(4, 3)

    def forward(self, x):
        y = self.renorm(self.second(F.relu(self.norm(self.first(x)))))
        return self.last(F.relu(y + self.shortcut(x)).mean((2, 3)))


class VAE(nn.Module):
    """An encoder to mean and variance, and a decoder; the noise is given."""

    def __init__(self):
        super().__init__()
        self.encoder, self.mean, self.spread = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.decoder, self.last = nn.Linear(2, 8), nn.Linear(8, 6)

    def forward(self, x, noise):
        hidden = torch.tanh(self.encoder(x))
        mean, spread = self.mean(hidden), self.spread(hidden)
        latent = mean + torch.exp(spread * 0.5) * noise
        return torch.sigmoid(self.last(torch.tanh(self.decoder(latent)))), mean, spread


class LanguageModel(nn.Module):
    """An LSTM that predicts the next token."""

    def __init__(self):
        super().__init__()
        self.embedding, self.lstm, self.last = nn.Embedding(7, 4), nn.LSTM(4, 5, batch_first=True), nn.Linear(5, 7)

    def forward(self, tokens):
        hidden, _ = self.lstm(self.embedding(tokens))
        return self.last(hidden)


def attend(query, key, value, mask):
    """Attention of one head; what the mask forbids weighs nothing."""
    scores = torch.matmul(query, key.transpose(-2, -1)) / query.shape[-1] ** 0.5
    return torch.matmul(torch.softmax(scores.masked_fill(mask, -1e9), dim=-1), value)


class Encoder(nn.Module):
    """A layer of a transformer's encoder, with a mask of what is padding."""

    def __init__(self, width=6):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.norm, self.renorm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x, mask):
        x = self.norm(x + attend(self.query(x), self.key(x), self.value(x), mask))
        return self.renorm(x + self.narrow(F.gelu(self.wide(x))))


class GPT(nn.Module):
    """A block with causal attention, whose last layer is its embedding."""

    def __init__(self, width=6):
        super().__init__()
        self.embedding, self.block = nn.Embedding(7, width), Encoder(width)

    def forward(self, tokens, mask):
        hidden = self.block(self.embedding(tokens), mask)
        return torch.matmul(hidden, self.embedding.weight.t())


class UNet(nn.Module):
    """One step down and one up, with the fine features beside the coarse ones."""

    def __init__(self):
        super().__init__()
        self.down, self.middle = nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 4, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(4, 3, 2, stride=2), nn.Conv2d(6, 1, 1)

    def forward(self, x):
        fine = F.relu(self.down(x))
        coarse = F.relu(self.middle(F.max_pool2d(fine, 2)))
        return self.last(torch.cat([fine, F.relu(self.up(coarse))], dim=1))


class DLRM(nn.Module):
    """Dense features and bags of sparse ones, and their products."""

    def __init__(self):
        super().__init__()
        self.dense, self.users, self.items = nn.Linear(5, 4), nn.Embedding(6, 4), nn.Embedding(6, 4)
        self.last = nn.Linear(7, 1)

    def forward(self, x, users, items):
        features = [F.relu(self.dense(x)), self.users(users).sum(1), self.items(items).sum(1)]
        pairs = [(features[i] * features[j]).sum(1, keepdim=True) for i in range(3) for j in range(i)]
        return self.last(torch.cat([features[0], *pairs], dim=1))
