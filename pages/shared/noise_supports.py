"""Which features of a row get Gaussian noise, in words."""

SUPPORTS = {"all": "all features (as published)", "nonzero": "present features only"}
