"""The class :class:`CatalogEntry`, and the table of published data sets that can be downloaded.

The numbers are those that the sources publish. The addresses of the Extreme Classification Repository's files and the
four checksums come from programs that download them; the other files have no published checksum.
"""

import functools
from dataclasses import dataclass


@dataclass(frozen=True)
class CatalogEntry:
    """A data set that :func:`xmlcore.datasets.load` knows; what is not known of it is None or empty."""

    name: str
    description: str
    source: str  # where it comes from, and how long it takes to get
    collection: str = "xmlcore"  # that publishes it; "xmlcore": made on this machine
    row: str = ""  # what a row is, such as "a web page"
    label: str = ""
    n_rows: int | None = None
    n_test: int | None = None  # None without a published split: test rows are drawn at random
    n_features: int | None = None
    n_labels: int | None = None
    features_per_row: float | None = None  # mean
    page: str = ""  # address of the web page that publishes it
    citation: str = ""
    addresses: tuple[str, ...] = ()  # of the file: the next one is tried when one fails; empty: fetched by hand
    checksum: str | None = None  # of the file at the first address, such as "md5:..."
    prompt: str = ""  # asks for a text to be labelled
    example: str = ""  # of such a text
    propensity: tuple[float, float] = (0.55, 1.5)  # A and B of :func:`xmlcore.metrics.inverse_propensity`

    @property
    def published(self) -> bool:
        """Whether the data set is published elsewhere, so that its file has to be fetched."""
        return bool(self.page)

    def memory(self) -> int | None:
        """Estimate the bytes that its matrices take."""
        if self.features_per_row is None:
            return None
        return int(self.n_rows * (8 * self.features_per_row + 40))


REPOSITORY = "Extreme Classification Repository"
REPOSITORY_PAGE = "http://manikvarma.org/downloads/XC/XMLRepository.html"
_REPOSITORY_ASKS = "The repository also asks to cite Bhatia et al. (2016), The extreme classification repository."
_DRIVE = "https://drive.usercontent.google.com/download?export=download&confirm=t&id="
CORDOBA = "Multi-label collection of Córdoba, with the sets of Mulan and MEKA"
CORDOBA_PAGE = "https://www.uco.es/kdis/mllresources/"
_CORDOBA_FILES = "http://www.uco.es/grupos/kdis/MLLResources/ucobigfiles/Datasets/Full/"
_MEKA_FILES = "https://downloads.sourceforge.net/project/meka/Datasets/"

_PROPENSITY = {"amazon-670k": (0.6, 2.6)}  # of the repository; 0.55 and 1.5 elsewhere
# name, a row, a label, (rows, test rows, features, labels, features per row), citation, id at Google Drive, checksum
_REPOSITORY_SETS = (
    ("bibtex", "a bookmarked publication", "a tag given by users", (7_395, 2_515, 1_836, 159, 68.7),
     "Katakis et al. (2008), Multilabel text classification for automated tag suggestion",
     "0B3lPMIHmG6vGcy1xM2pJZ09MMGM", "md5:78db23bd26486d4188502abf6a39b856"),
    ("mediamill", "a shot of a news video", "a concept seen in it", (43_907, 12_914, 120, 101, 120.0),
     "Snoek et al. (2006), The challenge problem for automated detection of 101 semantic concepts in multimedia",
     "0B3lPMIHmG6vGY3B4TXRmZnZBTkk", "md5:11cfdb9269ae5a301bb0c6f333cc6999"),
    ("delicious", "a bookmarked web page", "a tag given by users", (16_105, 3_185, 500, 983, 18.2),
     "Tsoumakas et al. (2008), Effective and efficient multilabel classification in domains with large number of "
     "labels",
     "0B3lPMIHmG6vGdG1jZ19VS2NWRVU", "md5:e73730438e67ad179d724503e6770b1a"),
    ("eurlex-4k", "a document of European Union law", "a subject of the EUROVOC thesaurus",
     (19_348, 3_809, 5_000, 3_993, 236.7),
     "Loza Mencía and Fürnkranz (2008), Efficient pairwise multilabel classification for large-scale problems in the "
     "legal domain",
     "0B3lPMIHmG6vGU0VTR1pCejFpWjg&resourcekey=0-SurjZ4z_5Tr38jENzf2Iwg", "md5:ec8feb2a9a0bd0f32d8f4c2b00725524"),
    ("rcv1-2k", "a Reuters news story", "a category", (779_809, 155_962, 47_236, 2_456, None),
     "Lewis et al. (2004), RCV1: A new benchmark collection for text categorization research",
     "0B3lPMIHmG6vGdnEzRWZWQWJMRnc", None),
    ("amazoncat-13k", "a product sold by Amazon", "a category", (1_493_021, 306_782, 203_882, 13_330, 71.0),
     "McAuley and Leskovec (2013), Hidden factors and hidden topics",
     "0B3lPMIHmG6vGa2tMbVJGdDNSMGc", None),
    ("wiki10-31k", "a Wikipedia article", "a tag given by users", (20_762, 6_616, 101_938, 30_938, 673.0),
     "Zubiaga (2009), Enhancing navigation on Wikipedia with social tags",
     "0B3lPMIHmG6vGaDdOeGliWF9EOTA", None),
    ("amazon-670k", "a product sold by Amazon", "a product that goes with it",
     (643_474, 153_025, 135_909, 670_091, 76.0),
     "McAuley and Leskovec (2013), Hidden factors and hidden topics",
     "0B3lPMIHmG6vGdUJwRzltS1dvUVk", None),
)  # fmt: skip

# name, name at Córdoba, a row, a label, (rows, features, labels), citation, file of MEKA
_CORDOBA_SETS = (
    ("mulan-bibtex", "Bibtex", "a bookmarked publication", "a tag given by users", (7_395, 1_836, 159),
     "Katakis et al. (2008)", None),
    ("mulan-birds", "Birds", "ten seconds of sound in a forest", "a species heard in it", (645, 260, 19),
     "Briggs et al. (2012)", None),
    ("mulan-bookmarks", "Bookmarks", "a bookmarked web page", "a tag given by users", (87_856, 2_150, 208),
     "Katakis et al. (2008)", None),
    ("mulan-cal500", "CAL500", "a song", "a word that describes it", (502, 68, 174), "Turnbull et al. (2008)", None),
    ("mulan-corel5k", "Corel5k", "a photograph", "a thing seen in it", (5_000, 499, 374),
     "Duygulu et al. (2002)", None),
    ("mulan-delicious", "Delicious", "a bookmarked web page", "a tag given by users", (16_105, 500, 983),
     "Tsoumakas et al. (2008)", None),
    ("mulan-emotions", "Emotions", "a piece of music", "an emotion it evokes", (593, 72, 6),
     "Wieczorkowska et al. (2006)", None),
    ("mulan-enron", "Enron", "an e-mail", "a subject or a tone", (1_702, 1_001, 53),
     "Klimt and Yang (2004)", "ENRON-F.arff"),
    ("mulan-flags", "Flags", "a flag of a country", "a colour in it", (194, 19, 7),
     "Gonçalves et al. (2013)", None),
    ("mulan-genbase", "Genbase", "a protein", "a protein family", (662, 1_186, 27), "Diplaris et al. (2005)", None),
    ("mulan-mediamill", "Mediamill", "a shot of a news video", "a concept seen in it", (43_907, 120, 101),
     "Snoek et al. (2006)", None),
    ("mulan-medical", "Medical", "a radiology report", "a code of a disease", (978, 1_449, 45),
     "Crammer et al. (2007)", None),
    ("mulan-rcv1-subset1", "rcv1subset1", "a Reuters news story", "a category", (6_000, 47_236, 101),
     "Lewis et al. (2004)", None),
    ("mulan-scene", "Scene", "a photograph", "a kind of scene", (2_407, 294, 6), "Boutell et al. (2004)", None),
    ("mulan-tmc2007", "tmc2007", "a report on aviation safety", "a problem", (28_596, 49_060, 22),
     "Srivastava and Zane-Ulman (2005)", None),
    ("mulan-tmc2007-500", "tmc2007-500", "a report on aviation safety", "a problem", (28_596, 500, 22),
     "Srivastava and Zane-Ulman (2005)", None),
    ("mulan-yeast", "Yeast", "a gene of yeast", "a function of it", (2_417, 103, 14),
     "Elisseeff and Weston (2001)", None),
    ("meka-20ng", "20NG", "a message", "a newsgroup", (19_300, 1_006, 20), "Lang (1995)", None),
    ("meka-imdb", "Imdb", "the plot of a film", "a genre", (120_919, 1_001, 28),
     "Read et al. (2011)", "IMDB-F.arff"),
    ("meka-langlog", "Langlog", "an article of the Language Log", "a topic", (1_460, 1_004, 75),
     "Read (2010)", "LLOG-F.arff"),
    ("meka-ohsumed", "Ohsumed", "a medical abstract", "a group of diseases", (13_929, 1_002, 23),
     "Joachims (1998)", None),
    ("meka-reuters-k500", "Reuters-K500", "a Reuters news story", "a category", (6_000, 500, 103),
     "Read (2010)", None),
    ("meka-slashdot", "Slashdot", "an article of Slashdot", "a subject", (3_782, 1_079, 22),
     "Read et al. (2011)", "SLASHDOT-F.arff"),
)  # fmt: skip


@functools.cache
def of_sizes(n_rows: int, n_features: int, n_labels: int) -> CatalogEntry | None:
    """Return the published data set that has so many rows in all, features and labels."""
    sizes = (n_rows, n_features, n_labels)
    return next((one for one in published() if (one.n_rows, one.n_features, one.n_labels) == sizes), None)


def propensity_of(n_train: int, n_test: int, n_features: int, n_labels: int) -> tuple[float, float]:
    """Return A and B of :func:`xmlcore.metrics.inverse_propensity` for a data set of these sizes."""
    return (of_sizes(n_train + n_test, n_features, n_labels) or CatalogEntry).propensity


def published() -> list[CatalogEntry]:
    """Return the published data sets, smaller ones first within each collection."""
    entries = []
    for name, row, label, (*sizes, per_row), citation, drive, checksum in _REPOSITORY_SETS:
        entries.append(
            CatalogEntry(
                name, _described(row, label, *sizes), "Downloaded once, from Google Drive.", REPOSITORY, row, label,
                *sizes, per_row, REPOSITORY_PAGE, f"{citation}. {_REPOSITORY_ASKS}", (_DRIVE + drive,), checksum,
                **({"propensity": _PROPENSITY[name]} if name in _PROPENSITY else {}),
            )
        )  # fmt: skip
    for name, theirs, row, label, (n_rows, n_features, n_labels), citation, meka in _CORDOBA_SETS:
        sizes = (n_rows, None, n_features, n_labels)
        addresses = (f"{_CORDOBA_FILES}{theirs}_Mulan.zip", *([] if meka is None else [_MEKA_FILES + meka]))
        source = "Downloaded once, from the University of Córdoba" + (" or SourceForge." if meka else ".")
        entries.append(
            CatalogEntry(
                name, _described(row, label, *sizes), source, CORDOBA, row, label, *sizes, None, CORDOBA_PAGE,
                f"{citation}.", addresses
            )
        )  # fmt: skip
    return entries


def _described(row, label, n_rows, n_test, n_features, n_labels) -> str:
    split = "" if n_test is None else f", of which {n_test:,} are test rows"
    sizes = f"{n_rows:,} rows{split}, {n_features:,} features and {n_labels:,} labels"
    return f"A row is {row}, a label is {label}. {sizes}."
