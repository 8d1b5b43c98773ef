"""Data sets that hold a few Python objects for each sample, read by worker
processes."""

import csv
import json
import os
from pathlib import Path

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset, random_split
from torchvision.datasets import VisionDataset


class Annotations(Dataset):
    def __init__(self, path, transform):
        with open(path) as f:
            self.records = json.load(f)["annotations"]
        self.transform = transform

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        record = self.records[index]
        return self.transform(Image.open(record["file"])), record["label"]


class Rows(Dataset):
    def __init__(self, path):
        self.rows = []
        with open(path, newline="") as f:
            for row in csv.DictReader(f):
                self.rows.append({"text": row["text"], "label": int(row["label"])})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        return row["text"], row["label"]


class Folders(VisionDataset):
    """Pairs, as many as there are files."""

    def __init__(self, root, transform=None):
        super().__init__(root, transform=transform)
        samples = []
        for number, folder in enumerate(sorted(os.listdir(root))):
            for name in os.listdir(os.path.join(root, folder)):
                samples.append((os.path.join(root, folder, name), number))
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self.transform(Image.open(path)), target


class Sentences(Dataset):
    """A base class fills, another reads."""

    def __init__(self, path):
        self.pairs = [line.rstrip().split("\t") for line in open(path)]

    def __len__(self):
        return len(self.pairs)


class Translations(Sentences):
    def __init__(self, path, vocabulary):
        super().__init__(path)
        self.vocabulary = vocabulary

    def __getitem__(self, index):
        source, target = self.pairs[index]
        return self.vocabulary.encode(source), self.vocabulary.encode(target)


class Log(IterableDataset):
    def __init__(self, path):
        self.lines = Path(path).read_text().splitlines()

    def __iter__(self):
        for line in self.lines:
            yield json.loads(line)


class ByName(Dataset):
    """By key, from a method."""

    def __init__(self, root):
        self.root = root
        self.names, self.boxes = [], {}
        self._scan()

    def _scan(self):
        for path in Path(self.root).rglob("*.txt"):
            self.boxes[path.stem] = [[float(v) for v in line.split()] for line in open(path)]
            self.names.append(path.stem)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        return Image.open(f"{self.root}/{name}.jpg"), torch.tensor(self.boxes[name])


# once: records = [{"file": f"{i}.jpg", "label": i} for i in range(20000)]
# once: args = given(annotations=written(json.dumps({"annotations": records})), batch=4, workers=2)
# once: args.rows = written("text,label\n" + "a sentence,1\n" * 20000)
# run: loaders(args, print)
def loaders(args, transform):
    annotations = DataLoader(Annotations(args.annotations, transform), batch_size=64, num_workers=8)  # want: GL601 hint values
    rows = DataLoader(Rows(args.rows), args.batch, True, None, None, args.workers)  # want: GL601 hint values
    return annotations, rows


# run: of_images(given(root=".", workers=2), print)
def of_images(args, transform):
    folders = Folders(args.root, transform)
    images = torch.utils.data.DataLoader(folders, shuffle=True, num_workers=args.workers, pin_memory=True)  # want: GL601 hint values
    return images


# once: corpus = written("a sentence\tits translation\n" * 20000)
# once: events = written('{"text": "a sentence", "label": 1}\n' * 20000)
# run: texts(corpus, events, given(encode=len))
def texts(corpus, events, vocabulary, workers=4):
    pairs = DataLoader(Translations(corpus, vocabulary), num_workers=workers, persistent_workers=True)  # want: GL601 hint values
    log = DataLoader(
        Log(events),
        batch_size=None,
        num_workers=2,  # want: GL601 hint values
    )
    return pairs, log


# once: boxes = written("1 2 3 4\n" * 10, "boxes.txt")
# run: Experiment(os.path.dirname(boxes)).loader()
class Experiment:
    def __init__(self, root):
        self.data = ByName(root)

    def loader(self):
        return DataLoader(self.data, batch_size=8, num_workers=os.cpu_count() // 2)  # want: GL601 hint values


class Dialogues(Dataset):
    """Turns of conversations, from many files."""

    def __init__(self, folder):
        self.turns = []
        for path in sorted(Path(folder).glob("*.json")):
            for turn in json.loads(path.read_text()):
                self.turns.append((turn["speaker"], turn["text"]))

    def __len__(self):
        return len(self.turns)

    def __getitem__(self, index):
        speaker, text = self.turns[index]
        return {"speaker": speaker, "length": len(text)}


# once: turns = written(json.dumps([{"speaker": f"s{i}", "text": f"sentence {i}"} for i in range(20000)]), "turns.json")
# run: parted(os.path.dirname(turns))
def parted(folder, held_out=0.1, workers=4):
    whole = Dialogues(folder)
    count = int(len(whole) * held_out)
    train, rest = random_split(whole, [len(whole) - count, count])
    return (
        DataLoader(train, batch_size=32, shuffle=True, num_workers=workers),  # want: GL601 hint values
        DataLoader(rest, batch_size=32),
    )
