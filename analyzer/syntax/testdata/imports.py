from __future__ import annotations
import os, torch.nn as nn
from torch import optim as o, Tensor
from torch.nn import (
    Linear,  # a comment
    Conv2d,
)
from . import sibling
from ..pkg.mod import name
from torch.nn.functional import *
