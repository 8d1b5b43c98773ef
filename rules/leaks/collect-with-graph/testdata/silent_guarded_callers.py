"""Methods that a flag keeps from being called here. Where they would be, no graph
is recorded."""

import torch
from torch import nn

detailed = False


class Pipeline:
    def __init__(self, encoder: nn.Module):
        self.encoder = encoder

    def encode_one(self, image):
        states = []
        for _ in range(len(image)):
            states.append(self.encoder(image))
        print(len(states))

    def encode(self, images):
        encoded = []
        for image in images:
            encoded.append(self.encoder(image))
            self.encode_one(image)
        print(len(encoded))

    @torch.no_grad()
    def show(self, images):
        if detailed:
            self.encode(images)


class Backbone(nn.Module):
    """Its constructor freezes a part, which says nothing of the rest."""

    def __init__(self, layers, frozen, last):
        super().__init__()
        self.layers, self.last = layers, last
        for layer in layers[:frozen]:
            layer.eval()

    def levels(self, x):
        out = []
        for layer in self.layers:
            x = layer(x)
            out.append(self.last(x))
        return tuple(out)
