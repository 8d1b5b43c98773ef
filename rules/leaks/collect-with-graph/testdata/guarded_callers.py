"""Methods that a flag keeps from being called here."""

import torch
from torch import nn

detailed = False


class Pipeline:
    """One of the callers records graphs."""

    def __init__(self, encoder: nn.Module):
        self.encoder = encoder

    def encode(self, images):
        encoded = []
        for image in images:
            encoded.append(self.encoder(image))  # want: GL102 error graph
        print(len(encoded))

    @torch.no_grad()
    def show(self, images):
        if detailed:
            self.encode(images)

    def check(self, images):
        if detailed:
            self.encode(images)
