"""The data sets are in another file."""

from torch.utils.data import DataLoader

from data import Captions, Tokens


def build(config, tokenizer):
    captions = Captions(config.path, tokenizer)
    tokens = Tokens(config.tokens)
    train = DataLoader(captions, batch_size=config.batch, num_workers=config.workers)  # want: GL601 hint values
    again = DataLoader(dataset=captions, shuffle=False, num_workers=1)  # want: GL601 hint values
    return train, again, DataLoader(tokens, num_workers=config.workers)
