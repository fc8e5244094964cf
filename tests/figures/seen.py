"""How well colours are seen, as the Web Content Accessibility Guidelines say."""

import numpy as np


def rgb(color):
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)], float)


def contrast(one, other):
    """Return the contrast of two colours of red, green and blue from 0 to 255."""
    parts = np.array([one, other]) / 255
    light = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
    return (light.max() + 0.05) / (light.min() + 0.05)
