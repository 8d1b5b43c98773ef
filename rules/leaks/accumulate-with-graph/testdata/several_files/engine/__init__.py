from .loop import evaluate, train

__all__ = ["evaluate", "train"]
