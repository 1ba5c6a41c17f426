"""What was measured, until it is reported."""

import statistics
from collections import defaultdict


class Samples:
    """Samples by name, one a round, of which the report takes the median."""

    def __init__(self):
        self.values = defaultdict(list)

    def add(self, name, value):
        self.values[name].append(value)

    def median(self, name):
        return statistics.median(self.values[name])

    def ratio(self, name, other):
        """The median of the ratios within each round: what was measured one after the other."""
        pairs = zip(self.values[name], self.values[other], strict=True)
        return statistics.median(value / against for value, against in pairs)

    def difference(self, name, other):
        """The median of the differences within each round."""
        pairs = zip(self.values[name], self.values[other], strict=True)
        return statistics.median(value - against for value, against in pairs)

    def range(self, name):
        return min(self.values[name]), max(self.values[name])
