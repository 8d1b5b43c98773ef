import json

from torch.utils.data import Dataset


class Captions(Dataset):
    def __init__(self, path, tokenizer):
        self.tokenizer = tokenizer
        self.items = []
        for image, texts in json.loads(open(path).read()).items():
            self.items.extend([{"image": image, "text": text} for text in texts.split("|")])

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.tokenizer(self.items[i]["text"])


class Tokens(Dataset):
    """Numbers in one array."""

    def __init__(self, path):
        import numpy as np

        self.tokens = np.fromfile(path, dtype="uint16")

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return self.tokens[i]
