import logging
import traceback

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger(__name__)


def recovers_outside(loader):
    model = nn.Linear(64, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        failed = False
        try:
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        except RuntimeError as e:
            if "out of memory" not in str(e):
                raise
            failed = True
        if failed:
            torch.cuda.empty_cache()
            F.cross_entropy(model(x[:8]), y[:8]).backward()
            optimizer.step()


def skips(loader):
    model = nn.Linear(64, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    skipped = 0
    for x, y in loader:
        try:
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        except RuntimeError as e:
            if "out of memory" in str(e):
                print("skipping a batch")
                skipped += 1
                optimizer.zero_grad()
                for p in model.parameters():
                    p.grad = None
                torch.cuda.empty_cache()
                continue
            raise e
    print(skipped)


def reports(model: nn.Module, x):
    try:
        return model(x)
    except torch.cuda.OutOfMemoryError as e:
        logger.error("no memory for %s: %s", x.shape, e)
        raise


def another_failure(model: nn.Module, x):
    """Nothing says that memory was missing."""
    try:
        return model(x)
    except NotImplementedError:
        return model(x.float())


def texts(loader):
    model = nn.Linear(16, 4)
    errors = []
    for x in loader:
        try:
            print(model(x).argmax(1))
        except ValueError as e:
            errors.append(str(e))
    print(errors)


def without_traceback(loader):
    model = nn.Linear(16, 4)
    errors = []
    for i, x in enumerate(loader):
        try:
            print(model(x).argmax(1))
        except ValueError as e:
            logger.warning("batch %d", i, exc_info=True)
            errors.append((i, repr(e), traceback.format_exc()))
    return errors


def last_only(loader):
    """Each takes the place of the one before."""
    model = nn.Linear(16, 4)
    last = None
    for x in loader:
        try:
            print(model(x).argmax(1))
        except ValueError as e:
            last = e
    if last is not None:
        raise last


def files(paths):
    """No tensor is in the frames."""
    broken = []
    for path in paths:
        try:
            open(path).close()
        except OSError as e:
            broken.append(e)
    return broken, torch.__version__


def check(model, x):
    try:
        return model(x).argmax(1)
    except ValueError as e:
        problem = e
        logger.error("%s", problem)
        problem = None


def checks(loader):
    model = nn.Linear(16, 4)
    for x in loader:
        check(model, x)


def retries(model: nn.Module, x):
    for attempt in range(3):
        errors = []
        try:
            return model(x)
        except ConnectionError as e:
            errors.append(e)
