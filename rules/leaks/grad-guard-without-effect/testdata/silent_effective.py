"""Guards that do what they say."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.body(x)


def with_statement(model: Net, images):
    with torch.no_grad():
        return [model(image) for image in images]


@torch.inference_mode()
def decorated(model: Net, images):
    return [model(image) for image in images]


@torch.no_grad()
def decorated_generator(model: Net, images):
    """Each step of it runs under the guard."""
    for image in images:
        yield model(image)


def consumes_it(model: Net, images):
    return [s.argmax().item() for s in decorated_generator(model, images)]


def switched_off(model: Net, images):
    torch.set_grad_enabled(False)
    return [model(image) for image in images]


def kept_for_later(model: Net, images):
    guard = torch.no_grad()
    with guard:
        return [model(image) for image in images]


def entered_by_hand(model: Net, images):
    guard = torch.no_grad()
    guard.__enter__()
    try:
        return [model(image) for image in images]
    finally:
        guard.__exit__(None, None, None)


def on_a_stack(model: Net, images):
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        return [model(image) for image in images]


def consumed_under_the_guard(model: Net, images):
    with torch.no_grad():
        scores = (model(image) for image in images)
        return torch.stack(list(scores))


def generator_without_operations(images):
    with torch.no_grad():
        names = (name.upper() for name in images)
    return list(names)


def label(model: Net, image):
    with torch.no_grad():
        return model(image).argmax().item()


def threads_that_guard_themselves(model: Net, images):
    with torch.no_grad(), ThreadPoolExecutor() as pool:
        return list(pool.map(lambda image: label(model, image), images))


def thread_without_operations(images, log):
    with torch.no_grad():
        threading.Thread(target=log.write, args=(str(images),)).start()


async def guarded_inside(model: Net, queue):
    x = await queue.get()
    with torch.no_grad():
        return model(x)


@contextlib.contextmanager
def evaluating(model: Net):
    """The guard is meant for the caller's block."""
    model.eval()
    with torch.no_grad():
        yield model
    model.train()


def uses_it(model: Net, images):
    with evaluating(model) as m:
        return [m(image) for image in images]


def chosen(model: Net, x, train):
    with torch.enable_grad() if train else torch.no_grad():
        return model(x)


def made_in_a_thread(made: list):
    made.append(Net())


def models_from_threads():
    """Making a model records nothing."""
    made = []
    with torch.no_grad():
        thread = threading.Thread(target=made_in_a_thread, args=(made,))
        thread.start()
    thread.join()
    return made
