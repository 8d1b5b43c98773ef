"""The data sets are in another file."""

from torch.utils.data import DataLoader

from data import Captions, Tokens


# once: texts = {f"{i}.jpg": f"a caption|and another one, number {i}" for i in range(20000)}
# once: config = given(path=written(json.dumps(texts)), tokens=written("0123" * 20000), batch=4, workers=2)
# run: build(config, len)
def build(config, tokenizer):
    captions = Captions(config.path, tokenizer)
    tokens = Tokens(config.tokens)
    train = DataLoader(captions, batch_size=config.batch, num_workers=config.workers)  # want: GL601 hint values
    again = DataLoader(dataset=captions, shuffle=False, num_workers=1)  # want: GL601 hint values
    return train, again, DataLoader(tokens, num_workers=config.workers)
