"""Loops over data that is already there, a batch at a time."""
import torch
from torch import nn


# run: embed(model, randn(1024, 16), 64)
@torch.no_grad()
def embed(model: nn.Module, rows, size):
    model.cuda().eval()
    out = []
    for start in range(0, len(rows), size):
        out.append(model(rows[start:start + size].cuda()))  # want: GL201 warning values
    return torch.cat(out)


# run: embed_batches(model, randn(4096, 16))
@torch.no_grad()
def embed_batches(model: nn.Module, rows):
    model.cuda().eval()
    batches = [rows[i:i + 256] for i in range(0, rows.shape[0], 256)]
    out = []
    for number, batch in enumerate(batches):
        out.append(model(batch.cuda()))  # want: GL201 warning values
    return torch.cat(out)


# run: embed_on_the_host(model, randn(1024, 16))
@torch.no_grad()
def embed_on_the_host(model: nn.Module, rows):
    model.cuda().eval()
    out = []
    for start in range(0, len(rows), 64):
        out.append(model(rows[start:start + 64].cuda()).cpu())
    return torch.cat(out)


@torch.no_grad()
def some_scales(model: nn.Module, image):
    """As many as the literal says."""
    model.cuda().eval()
    out = []
    for scale in range(1, 9, 2):
        out.append(model(image.cuda() * scale))
    return torch.cat(out)


@torch.no_grad()
def chosen_batches(model: nn.Module, rows, wanted):
    """Which of them is not known."""
    model.cuda().eval()
    batches = [rows[i] for i in range(0, len(rows), 64) if i in wanted]
    return torch.cat([model(batch.cuda()) for batch in batches])


# once: parts = {"build": lambda self: Model(), "encode": lambda self, rows: self.model(rows), "tokens": lambda self, rows: len(rows)}
# once: ranker = type("ByName", (Ranker,), parts)(given(gpu=False))
# run: ranker.encode_all(randn(4096, 16))
class Ranker:
    """What encodes the candidates is up to the classes derived from it."""

    def __init__(self, options):
        self.model = self.build()
        if options.gpu:
            self.model.cuda()

    def build(self) -> nn.Module:
        """Makes the model."""
        raise NotImplementedError

    def encode(self, candidates):
        """Encodes candidates."""
        raise NotImplementedError("for derived classes")

    def describe(self, candidates):
        return self.tokens(candidates)

    def tokens(self, candidates):
        return [c.split() for c in candidates]

    def encode_all(self, candidates):
        found, described = [], []
        self.model.eval()
        with torch.no_grad():
            for batch in [candidates[i:i + 256] for i in range(0, len(candidates), 256)]:
                found.append(self.encode(batch))  # want: GL201 hint values
                described.append(self.describe(batch))
        return torch.cat(found), described

    def encode_for_the_host(self, candidates):
        found = []
        self.model.eval()
        with torch.no_grad():
            for start in range(0, len(candidates), 256):
                found.append(self.encode(candidates[start:start + 256]).cpu())
        return torch.cat(found)
