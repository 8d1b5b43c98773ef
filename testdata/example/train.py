"""Train a flower classifier: python train.py --data flowers"""

import argparse

import torch
from torch import nn

import data
from model import FlowerNet


def train_epoch(model, loader, criterion, optimizer, device):
    model.train()
    total_loss = 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        total_loss += loss
    return total_loss / len(loader)


def evaluate(model, loader, criterion, device):
    model.eval()
    val_loss = 0.0
    scores, targets = [], []
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        logits = model(images)
        val_loss += criterion(logits, labels)
        scores.append(logits.softmax(dim=1))
        targets.append(labels)
    correct = torch.cat(scores).argmax(dim=1) == torch.cat(targets)
    return val_loss / len(loader), correct.float().mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader = data.load(args.data, "train", args.batch_size, shuffle=True)
    val_loader = data.load(args.data, "val", args.batch_size, shuffle=False)

    model = FlowerNet().to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    for epoch in range(1, args.epochs + 1):
        train_loss = train_epoch(model, train_loader, criterion, optimizer, device)
        print(f"epoch {epoch}  train loss {train_loss:.4f}")
        val_loss, accuracy = evaluate(model, val_loader, criterion, device)
        print(f"epoch {epoch}  val loss {val_loss:.4f}  accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
