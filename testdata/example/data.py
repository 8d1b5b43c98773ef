"""The images: tensors saved once per split as (images, labels)."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def load(folder, split, batch_size, shuffle):
    images, labels = torch.load(f"{folder}/{split}.pt")
    return DataLoader(TensorDataset(images, labels), batch_size=batch_size, shuffle=shuffle)
