"""Which features of a row get Gaussian noise, in words."""

SUPPORTS = {"all": "all features (the paper)", "nonzero": "present features only"}
