"""The features of a pair of a row and a class: their short names, and what each one means."""

from xmlcore._kernels.ds_features import N_FEATURES

# Short name of each feature -> its meaning in one sentence.
MEANINGS = {
    "log count": "Sum of log(1 + count in the label) over the terms that the row and the label have in common.",
    "log rarity": "Sum of log(1 + all counts / counts of the term) over the common terms: rare terms in common.",
    "idf": "Sum of the inverse document frequencies of the common terms.",
    "tf-idf": "Sum over the common terms of their share of the label's counts × inverse document frequency.",
    "log share": "Sum of log(1 + share of the label's counts) over the common terms.",
    "log tf-idf": "Sum of log(1 + share of the label's counts × inverse document frequency), over common terms.",
    "log lift": "Sum over the common terms of log(1 + lift): how much more frequent the label has the term "
    "than all rows together.",
    "common terms": "Number of terms that the row and the label have in common.",
    "distance": "Distance of the row to the label's centroid: small means alike.",
    "BM25": "Score of the label for the row by BM25, the rule that search engines rank documents by.",
    "idf covered": "Share of the row's inverse document frequencies that terms in common with the label make up.",
    "rarest term": "Largest inverse document frequency of a common term.",
    "largest lift": "Largest log(1 + lift) of a common term: the one that points to the label most.",
    "log likelihood": "How much likelier the row's terms are in the label, smoothed, than in all rows together, as a "
    "logarithm.",
    "damped distance": "Distance of the row to the label's direction when its counts enter by their logarithms.",
    "other distance": "Distance of the row to the label's direction with the other weights of terms: counts where "
    "centroids use tf-idf, and the reverse.",
    "tree log probability": "Logarithm of the probability that the label tree gives the label.",
}
PAPER_FEATURES = tuple(MEANINGS)[:N_FEATURES]  # those of the paper's Table 1
MORE_FEATURES = tuple(MEANINGS)[N_FEATURES:-1]  # those that features="extended" adds
TREE_FEATURE = tuple(MEANINGS)[-1]  # added as well when candidates come from a label tree


def names_of_features(features: str, has_tree: bool) -> list[str]:
    if features == "paper":
        return list(PAPER_FEATURES)
    return [*PAPER_FEATURES, *MORE_FEATURES, *([TREE_FEATURE] if has_tree else [])]
