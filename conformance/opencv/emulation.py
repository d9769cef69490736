"""The rules of OpenCV's goodFeaturesToTrack on a given response map, in NumPy.

Written from OpenCV's documentation and behaviour, and checked against OpenCV itself: on OpenCV's own response map it
gives OpenCV's list. `RULES` can be broken one at a time, to show that a comparison notices each.
"""

import numpy as np

# What each broken rule does instead.
RULES = {
    "equal neighbours all stay": "the first of a plateau stays",
    "of equal responses the last comes first": "the first comes first",
    "the neighbourhood is 3 x 3": "5 x 5",
    "diagonal neighbours compete": "only those at the sides do",
    "masked pixels suppress": "they do not",
    "masked pixels are no corners": "they may be",
    "masked pixels do not count for the maximum": "they do",
    "no corner within 1 pixel of an edge": "none within 2 pixels",
    "corners 1 pixel from an edge": "0 pixels",
    "pixels of the margin suppress": "they do not",
    "a corner exceeds the threshold": "it may equal it",
    "the threshold is rounded once, to f32": "a product of f32",
    "the threshold is rounded": "it is not",
    "the distance is squared in f64": "of the distance as f32",
    "the square of the distance stays f64": "the nearest integer",
    "a corner at the least distance stays": "it goes",
    "the distance is Euclidean": "the greater of dx and dy",
    "the limit counts corners that are kept": "it counts candidates",
}


def threshold(response, quality, mask=None, broken=None):
    """The threshold that a corner's response must exceed."""
    counted = response
    if mask is not None and broken != "masked pixels do not count for the maximum":
        counted = response[mask != 0]
    greatest = float(counted.max()) if counted.size else 0.0
    if broken == "the threshold is rounded once, to f32":
        return np.float32(quality) * np.float32(greatest)
    product = quality * greatest
    return product if broken == "the threshold is rounded" else np.float32(product)


def candidates(response, quality, mask=None, broken=None):
    """The candidates for corners in order, as numbers y · width + x."""
    assert response.dtype == np.float32
    height, width = response.shape
    least = threshold(response, quality, mask, broken)
    # f64 represents every f32 exactly.
    exact = response.astype(np.float64)
    exceeds = exact >= float(least) if broken == "a corner exceeds the threshold" else exact > float(least)
    left = np.where(exceeds, response, np.float32(0))
    competing = left
    if mask is not None and broken == "masked pixels suppress":
        competing = np.where(mask != 0, left, np.float32(0))
    if broken == "pixels of the margin suppress":
        competing = np.zeros_like(left)
        competing[1:-1, 1:-1] = left[1:-1, 1:-1]
    radius = 2 if broken == "the neighbourhood is 3 x 3" else 1
    padded = np.pad(competing, radius, constant_values=-np.inf)
    is_corner = left != 0
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if dx != 0 and dy != 0 and broken == "diagonal neighbours compete":
                continue
            other = padded[radius + dy : radius + dy + height, radius + dx : radius + dx + width]
            if broken == "equal neighbours all stay" and (dy, dx) < (0, 0):
                is_corner &= left > other
            elif (dy, dx) != (0, 0):
                is_corner &= left >= other
    if mask is not None and broken != "masked pixels are no corners":
        is_corner &= mask != 0
    margin = {"no corner within 1 pixel of an edge": 0, "corners 1 pixel from an edge": 2}.get(broken, 1)
    y, x = np.indices(response.shape)
    is_corner &= (x >= margin) & (x < width - margin) & (y >= margin) & (y < height - margin)
    numbers = np.flatnonzero(is_corner)
    ties = numbers if broken == "of equal responses the last comes first" else -numbers
    return numbers[np.lexsort((ties, -exact.ravel()[numbers]))]


def select(numbers, width, distance=0.0, most=0, broken=None):
    """Selects corners, as [x, y], from candidates in order: each that is far enough from all selected before."""
    if most > 0 and (distance == 0 or broken == "the limit counts corners that are kept"):
        numbers = numbers[:most]
    x, y = numbers % width, numbers // width
    if distance == 0:
        return np.stack([x, y], axis=1)
    if broken == "the distance is squared in f64":
        distance = float(np.float32(distance))
    square = float(distance) * float(distance)
    if broken == "the square of the distance stays f64":
        square = float(round(square))
    # Offsets from a selected corner that are too near, and pixels that are far from all of them.
    radius = int(distance) + 1
    dy, dx = np.indices((2 * radius + 1, 2 * radius + 1)) - radius
    apart = np.maximum(dx * dx, dy * dy) if broken == "the distance is Euclidean" else dx * dx + dy * dy
    is_far = apart > square if broken == "a corner at the least distance stays" else apart >= square
    height = int(y.max(initial=0)) + 1
    is_free = np.ones((height + 2 * radius, width + 2 * radius), bool)
    kept = []
    for u, v in zip(x.tolist(), y.tolist()):
        if is_free[v + radius, u + radius]:
            is_free[v : v + 2 * radius + 1, u : u + 2 * radius + 1] &= is_far
            kept.append((u, v))
            if len(kept) == most:
                break
    return np.array(kept, int).reshape(-1, 2)


def reversals(ours, theirs, quality, mask=None):
    """Explains why the candidates of two response maps, in equal units, differ.

    A candidate is found by comparing its response with the threshold and with its neighbours, and put in order by
    comparing it with other candidates. Returned are, for the comparisons that decide differently in the two maps, how
    far apart the two compared values are in the first map; and how many candidates differ without such a comparison,
    which is 0 if the rules are what `candidates` says.
    """
    ours, theirs = ours.astype(np.float32), theirs.astype(np.float32)
    height, width = ours.shape
    lists = [candidates(response, quality, mask) for response in (ours, theirs)]
    least = [float(threshold(response, quality, mask)) for response in (ours, theirs)]
    apart, unexplained = [], 0
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    for number in np.setxor1d(*lists):
        y, x = divmod(int(number), width)
        around = slice(max(y - 1, 0), y + 2), slice(max(x - 1, 0), x + 2)
        reversed_ = (a[around] > a[y, x]) != (b[around] > b[y, x])
        gaps = list(np.abs(a[around] - a[y, x])[reversed_])
        if (a[y, x] > least[0]) != (b[y, x] > least[1]):
            gaps.append(abs(a[y, x] - least[0]))
        apart += gaps
        unexplained += not gaps
    # Candidates of both maps in another order: each with the strongest that it changes places with.
    common = [numbers[np.isin(numbers, other)] for numbers, other in (lists, lists[::-1])]
    rank = np.empty(height * width, np.int64)
    rank[common[1]] = np.arange(common[1].size)
    ranks, values = rank[common[0]], a.ravel()[common[0]]
    greatest = np.maximum.accumulate(ranks)
    for j in np.flatnonzero(greatest > ranks):
        apart.append(values[np.searchsorted(greatest, ranks[j], side="right")] - values[j])
    return np.array(apart), unexplained
