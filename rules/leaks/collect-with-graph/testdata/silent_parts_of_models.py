"""Lists of one call of a model, handed down its parts."""
import torch
from torch import nn


class Root(nn.Module):
    def __init__(self, features, out, shortcut):
        super().__init__()
        self.conv = nn.Conv2d(features, out, 1)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = shortcut

    def forward(self, children):
        x = self.conv(torch.cat(children, 1))
        if self.shortcut:
            x += children[0]
        return self.relu(x)


class Tree(nn.Module):
    """Each node adds to the list that its own call or the one above it made."""

    def __init__(self, levels, block, features, out, of_root=0, shortcut=False, **more):
        super().__init__()
        self.down = nn.MaxPool2d(2)
        if of_root == 0:
            of_root = 2 * out
        if levels == 1:
            self.left = block(features, out, **more)
            self.right = block(out, out, **more)
            self.root = Root(of_root, out, shortcut)
        else:
            self.left = Tree(levels - 1, block, features, out, of_root=0, **more)
            self.right = Tree(levels - 1, block, out, out, of_root=of_root + out, **more)
            self.root = None

    def forward(self, x, shortcut=None, children=None):
        if children is None:
            children = []
        bottom = self.down(x)
        left = self.left(x, bottom)
        if self.root is not None:
            right = self.right(left)
            x = self.root([right, left] + children)
        else:
            children.append(left)
            x = self.right(left, None, children)
        return x


def one_after_the_other(inputs, parts):
    for part in parts:
        if isinstance(part, nn.BatchNorm2d):
            shapes = [i.shape for i in inputs]
            x = part(torch.cat([i.flatten(2) for i in inputs], dim=2)).split([s[2] * s[3] for s in shapes], dim=2)
            inputs = [i.view(s) for s, i in zip(shapes, x)]
        else:
            inputs = [part(i) for i in inputs]
    return inputs


class Head(nn.Module):
    """The layers are the loop, and its list is that of one call."""

    def forward(self, features):
        scores = one_after_the_other(features, list(self.classes) + [self.score])
        return scores, one_after_the_other(features, list(self.boxes) + [self.box])
