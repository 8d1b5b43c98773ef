"""What a metric of another file collects is told where that file is checked.

The text before its store is longer than the file that uses it: a place in this
file is none in that one. The text before its store is longer than the file that
uses it: a place in this file is none in that one. The text before its store is
longer than the file that uses it: a place in this file is none in that one. The
text before its store is longer than the file that uses it: a place in this file
is none in that one.
"""


class Scores:
    def __init__(self):
        self.clear()

    def clear(self):
        self.scores = []

    def append(self, scores):
        self.scores.append(scores.detach())

    def summary(self):
        return sum(self.scores) / len(self.scores)
