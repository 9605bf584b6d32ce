"""The cheapest assignment of rows to columns of a matrix that is not worth importing scipy."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def cheapest_assignment(costs: Sequence[Sequence[float]]) -> list[int]:
    """The column of each row of a square matrix, every column once, at the least cost in all.

    By shortest augmenting paths (Crouse 2016), with ties broken as scipy breaks them, so that of
    equally cheap assignments it is the one that `scipy.optimize.linear_sum_assignment` returns.
    """
    size = len(costs)
    columns, rows = [-1] * size, [-1] * size  # of each row, of each column
    row_prices, column_prices = [0.0] * size, [0.0] * size
    came_from = [-1] * size
    for first in range(size):
        paths = [inf] * size
        open_columns = list(range(size - 1, -1, -1))
        seen_rows, seen_columns = [], []
        row, column, shortest = first, -1, 0.0
        while row >= 0:
            seen_rows.append(row)
            base, costs_of_row = shortest, costs[row]
            price = row_prices[row]
            shortest, nearest = inf, -1
            for place, other in enumerate(open_columns):
                path = base + costs_of_row[other] - price - column_prices[other]
                if path < paths[other]:
                    paths[other], came_from[other] = path, row
                path = paths[other]
                if path < shortest or (path == shortest and rows[other] < 0):
                    shortest, nearest = path, place
            column = open_columns[nearest]
            open_columns[nearest] = open_columns[-1]
            open_columns.pop()
            seen_columns.append(column)
            row = rows[column]
        row_prices[first] += shortest
        for seen in seen_rows[1:]:
            row_prices[seen] += shortest - paths[columns[seen]]
        for seen in seen_columns:
            column_prices[seen] -= shortest - paths[seen]
        while column >= 0:
            row = came_from[column]
            rows[column] = row
            columns[row], column = column, columns[row]
    return columns
