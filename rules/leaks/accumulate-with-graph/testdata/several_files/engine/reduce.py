"""Averages over processes, in place and not."""

WORLD_SIZE = 4


def average(value):
    return value / WORLD_SIZE


def average_value(value):
    return average(value.item())
