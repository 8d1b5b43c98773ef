"""A meter that sums what it is given."""


class Average:
    def __init__(self):
        self.reset()
        self.history = []

    def reset(self):
        self.sum = 0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    def close(self):
        self.history.append(float(self.sum) / self.count)
        self.reset()
