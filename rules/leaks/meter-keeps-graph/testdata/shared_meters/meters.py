"""Meters that several scripts use."""


class Average:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    def compute(self):
        return self.total / self.count


class DetachingAverage(Average):
    def update(self, value, n=1):
        super().update(float(value), n)


class Board:
    def __init__(self):
        self.rows = []

    def log(self, step, values):
        self.rows.append((step, values))
