"""Outputs without a graph that stay on the device until a loop over the data is
over."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from tqdm import tqdm


@torch.no_grad()
def predict(model: nn.Module, loader, device):
    model.eval()
    predictions = []
    for images, _ in loader:
        logits = model(images.to(device))
        predictions.append(logits.cpu())
    return torch.cat(predictions).argmax(dim=1).cpu().numpy()


# once: dataset = [{"input_ids": randn(16)} for _ in range(4096)]
# run: embed_corpus(Model("object"), dataset)
def embed_corpus(encoder, dataset, device="cuda"):
    """The encoder is known by how it is used."""
    encoder.eval()
    loader = DataLoader(dataset, batch_size=256)
    embeddings = []
    with torch.inference_mode():
        for batch in tqdm(loader, desc="embedding"):
            batch = {name: tensor.to(device) for name, tensor in batch.items()}
            pooled = encoder(**batch).last_hidden_state.mean(dim=1)
            embeddings.append(F.normalize(pooled, dim=-1))  # want: GL201 hint values
    return torch.cat(embeddings)


# run: Evaluator(model, loader, {}).run()
class Evaluator:
    def __init__(self, model, loader, metrics):
        self.model = model.cuda()
        self.loader = loader
        self.metrics = metrics

    def run(self):
        self.model.eval()
        outputs, targets = [], []
        with torch.no_grad():
            for step, (x, y) in enumerate(self.loader):
                x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
                out = self.model(x)
                outputs += [out.sigmoid()]  # want: GL201 warning values
                targets += [y]
        scores = torch.cat(outputs, dim=0)
        return {name: metric(scores, torch.cat(targets)) for name, metric in self.metrics.items()}


def segment(model: nn.Module, loader):
    """The whole list is one expression."""
    model.to("cuda").eval()
    with torch.no_grad():
        masks = [model(x.to("cuda")) for x, _ in loader]  # want: GL201 warning values
    return torch.cat(masks).argmax(1).cpu()


def train_and_keep(model: nn.Module, loader, optimizer, device):
    """Detached, so that no graph stays, but not moved."""
    scores, labels = [], []
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scores.append(logits.detach())  # want: GL201 warning values
        labels.append(y)
    accuracy = (torch.cat(scores).argmax(1) == torch.cat(labels)).float().mean()
    return accuracy.item()


def collect_rows(detector: nn.Module, loader, device):
    """A dictionary for each batch, in a list that is read when all is done."""
    detector.eval()
    results = []
    for images, ids in loader:
        with torch.no_grad():
            boxes, scores = detector(images.to(device)), detector(images.flip(-1).to(device))
        results.append({"id": ids, "boxes": boxes, "scores": scores})  # want: GL201 warning values
    return results


def by_image(model: nn.Module, loader, device):
    features = {}
    model.eval()
    with torch.no_grad():
        for names, images in loader:
            features[names] = model(images.to(device))  # want: GL201 warning values
    return features


# run: Extractor(nn.Conv2d(3, 4, 3)).extract(feed(lambda: randn(4, 3, 8, 8)), device)
class Extractor(nn.Module):
    def __init__(self, backbone: nn.Module):
        super().__init__()
        self.backbone = backbone

    @torch.no_grad()
    def extract(self, loader, device):
        """Called from outside, so the list is all there is to see."""
        self.backbone.to(device)
        tokens = []
        for images in loader:
            tokens.append(self.backbone(images.to(device)).flatten(2))  # want: GL201 warning values
        return tokens


# once: writer = Model()
# once: writer.generate = lambda prompt, max_new_tokens: writer(prompt).argmax(-1)
# run: generate_all(writer, feed(lambda: randn(4, 16)), device)
def generate_all(model, prompts, device):
    """What a method of a model gives is a tensor as well."""
    model.eval().to(device)
    texts = []
    for prompt in prompts:
        texts.append(model.generate(prompt.to(device), max_new_tokens=64))  # want: GL201 hint values
    return texts


@torch.no_grad()
def with_each_pair(encoder: nn.Module, images, captions, device):
    embedded = []
    for image, _ in zip(images, captions):
        embedded.append(encoder(image.to(device)))  # want: GL201 warning values
    return embedded
