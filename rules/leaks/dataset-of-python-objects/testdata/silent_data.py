"""Data sets whose samples workers share, and loaders without workers."""

import glob
import json

import numpy as np
import pandas as pd
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Records(Dataset):
    """Objects, but nothing reads them in another process."""

    def __init__(self, path):
        self.records = json.load(open(path))

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        return self.records[index]["value"]


class Packed(Dataset):
    """One long array of bytes, and where each record begins."""

    def __init__(self, path):
        records = [json.dumps(r).encode() for r in json.load(open(path))]
        self.ends = np.cumsum([len(r) for r in records])
        self.data = np.frombuffer(b"".join(records), dtype=np.uint8)

    def __len__(self):
        return len(self.ends)

    def __getitem__(self, index):
        start = 0 if index == 0 else self.ends[index - 1]
        return json.loads(self.data[start : self.ends[index]].tobytes())


class Arrays(Dataset):
    """The records are gone when the data set is made."""

    def __init__(self, path):
        records = json.load(open(path))
        self.texts = np.array([r["text"] for r in records])
        self.labels = torch.tensor([r["label"] for r in records])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.texts[index], self.labels[index]


class Files(Dataset):
    """One name for each sample: little, until there are millions."""

    def __init__(self, root, transforms):
        self.paths = sorted(glob.glob(f"{root}/*.png"))
        self.transforms = [(t, i) for i, t in enumerate([transforms.flip, transforms.crop])]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = Image.open(self.paths[index])
        return self.transforms[0][0](image)


class Cached(Dataset):
    """Tensors: their values are not written to."""

    def __init__(self, base, encode):
        self.samples = []
        for image, label in base:
            self.samples.append((encode(image), torch.tensor(label)))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


class Table(Dataset):
    def __init__(self, path):
        self.frame = pd.read_csv(path)

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, index):
        return torch.tensor(self.frame.iloc[index].values)


class Splits(Dataset):
    """As many entries as there are splits."""

    def __init__(self, root):
        self.splits = []
        for name in ("train", "test"):
            self.splits.append({"name": name, "file": open(f"{root}/{name}.txt").name.strip()})
        self.values = torch.arange(1000)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.splits[0]["name"], self.values[index]


class Vocabulary:
    """No data set: the loader is given something else."""

    def __init__(self, path):
        self.words = json.load(open(path))

    def __getitem__(self, index):
        return self.words[index]


# once: path = written(json.dumps([{"value": i, "text": f"a sentence {i}", "label": i} for i in range(20000)]))
# run: loaders(path, 4)
def loaders(path, workers):
    vocabulary = Vocabulary(path)
    values = TensorDataset(torch.arange(len(vocabulary.words)))
    return [
        DataLoader(Records(path), batch_size=4),
        DataLoader(Records(path), num_workers=0),
        DataLoader(Packed(path), num_workers=8),
        DataLoader(Arrays(path), num_workers=8),
        DataLoader(values, num_workers=workers),
    ]


# once: base = [(i / 20000, i) for i in range(20000)]
# run: of_tensors(base, torch.tensor, 4)
# on purpose: what is copied is the head of a tensor, whatever its size
def of_tensors(base, encode, workers):
    return DataLoader(Cached(base, encode), num_workers=workers)


def of_files(root, path, transforms, workers):
    return [
        DataLoader(Files(root, transforms), num_workers=workers),
        DataLoader(Table(path), num_workers=workers),
        DataLoader(Splits(root), num_workers=workers),
    ]
