"""Second attempts with less, in loops, evaluations and helpers, where the
exception is still at hand."""

import gc
import logging

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger(__name__)


class Validator:
    """The retry stands below another condition, so no fix can move it alone."""

    def __init__(self, task, model: nn.Module, cuda=True):
        self.task, self.model, self.cuda = task, model, cuda

    def valid_step(self, sample, raise_oom=False):
        with torch.no_grad():
            self.model.eval()
            try:
                loss, size = self.task.valid_step(sample, self.model)
            except RuntimeError as e:
                if "out of memory" in str(e):
                    logger.warning("no memory in a validation step")
                    if not raise_oom:
                        for p in self.model.parameters():
                            p.grad = None
                        if self.cuda:
                            torch.cuda.empty_cache()
                        return self.valid_step(sample, raise_oom=True)  # want: GL501 warning graph
                raise e
        return loss.item() / size


def embed_all(encoder: nn.Module, texts, batch_size=256):
    vectors = []
    with torch.inference_mode():
        for start in range(0, len(texts), batch_size):
            batch = texts[start : start + batch_size]
            out_of_memory = False
            try:
                vectors.append(encoder(batch).cpu())
            except torch.cuda.OutOfMemoryError:
                gc.collect()
                torch.cuda.empty_cache()
                out_of_memory = True
            if out_of_memory:
                for text in batch:
                    vectors.append(encoder(text.unsqueeze(0)).cpu())
    return torch.cat(vectors)


def find_batch_size(loader_of, epochs):
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 10))

    def attempt(size):
        for x, y in loader_of(size):
            F.cross_entropy(model(x), y).backward()

    size = 1024
    for epoch in range(epochs):
        out_of_memory = False
        try:
            attempt(size)
        except RuntimeError as error:
            if "CUDA out of memory" not in str(error):
                raise
            size //= 2
            out_of_memory = True
        if out_of_memory:
            attempt(size)


def on_the_host(net: nn.Module, images):
    """Falls back to the CPU: there the frames of the device still stand."""
    out_of_memory = False
    try:
        return net(images)
    except (torch.cuda.OutOfMemoryError, MemoryError):
        logger.exception("falling back")
        out_of_memory = True
    if out_of_memory:
        return net.cpu()(images.cpu())
