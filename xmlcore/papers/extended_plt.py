"""Claims of the paper on ExtendedPLT."""

from xmlcore.papers.claim import FAILS, HOLDS, OTHER, AtMost, Claim, Paper, Repeat

PAPER = Paper("ExtendedPLT", 5, 6, "Date and Mehar, Adversarial robustness and explainability in extreme multi-label "
              "classification with extended probabilistic label trees, 2025")  # fmt: skip
_ID = "extended_plt"
_RESULTS, _NOISE = "docs/methods/robustness.md#results", "benchmarks/results/robustness.md#noise-the-papers-model"
CLEAN, NOISY = "trained on clean rows", "trained on noisy copies, too"
TREES = (
    (CLEAN, "PLT", "napkinxc", {}),
    (NOISY, "PLT", "napkinxc", {"noise_sigma": 0.05, "noise_support": "all"}),
)
NOISE = Repeat(
    "robustness",
    TREES,
    {"kind": "gaussian", "levels": (0.01, 0.05, 0.1), "options": {"support": "all"}, "n_repeats": 3},
)
TIMES = Repeat("robustness", TREES, NOISE.params | {"time_each_k": True})
TRAINED = Repeat("train", TREES)
_SPARSE, _DENSE = (AtMost("density", 0.05),), (AtMost(0.5, "density"),)
_TENTH = AtMost(f"P@1 lost of {CLEAN}", 0.24), AtMost(0.06, f"P@1 lost of {CLEAN}")  # a tenth, within a factor of two
_HALF = AtMost(f"P@1 lost of {NOISY}", f"P@1 lost of {CLEAN}", 0.6)

CLAIMS = (
    Claim(_ID, ("Table 1",), "Sizes of Eurlex-4K and Mediamill.", "eurlex-4k: 15,539 + 3,809 rows, 5,000 features, "
          "4,000 labels; mediamill: 30,993 + 12,914, 121, 101", HOLDS, "The catalog has the same rows; it counts 3,993 "
          "labels of the first and 120 features of the second.", "docs/catalog.md", Repeat("description"), page="Data"),
    Claim(_ID, ("Table 2", "Table 4"), "On sparse tf-idf rows, noise of 0.1 on all features costs nothing.",
          "eurlex-4k, P@1 at σ = 0 and 0.1: 81.04 and 81.28 %; with noisy copies 81.46 and 81.31 %", HOLDS, "On "
          "eurlex4k-dev, other rows of the collection, P@1 falls from 53.9 to 53.3 % (by 1.2 ± 1.6 % of it), and by "
          "0.6 ± 0.8 % when trained on noisy copies, too. These change P@1 without noise by 1.1 ± 2.4 points. "
          "eurlex-4k itself was not measured here.", _NOISE, NOISE, "robustness_curves", "Robustness",
          "extended-plt-eurlex", ("P@1",), tuple(AtMost(f"P@1 lost of {name}", 0.01) for name in (CLEAN, NOISY)),
          _SPARSE),
    Claim(_ID, ("Section 5.1",), "Without noise, training on noisy copies, too, gains a little on sparse rows and "
          "costs a little on dense ones.", "P@1, eurlex-4k 81.04 and 81.46 %, mediamill 82.10 and 81.20 %", OTHER,
          "P@1 changes by +1.1 points on eurlex4k-dev and by −0.9 to 0.0 on dense data: the signs of the paper, but "
          "within the spread of seeds, of which the paper has one.", _RESULTS, TRAINED, "measures_compared", "Compare",
          shows=("P@1",), decided=(AtMost(f"P@1 of {NOISY}", f"P@1 of {CLEAN}"),), only=_DENSE),
    Claim(_ID, ("Section 5.2",), "PSDCG@k falls more than the other measures under noise, as rare labels are harder.",
          "mediamill, k = 5: 11.27 % in the text; by Table 5 12.10 % (P@5 12.98 %, nDCG@5 12.95 %)", FAILS, "By the "
          "paper's own tables PSDCG@k falls less than P@k for each k, with noisy copies, too (k = 1: 10.8 and 11.8 %), "
          "and the number in the text is another one. Here it falls more on delicious (18.6 and 15.0 %, k = 1) and "
          "bibtex (6.2 and 4.8 %), and as the others within half a point on yeast, scene and aloi.", _NOISE, NOISE, "",
          "Robustness"),
    Claim(_ID, ("Table 3", "Table 5"), "On few dense features, noise of 0.1 costs a tenth, and half as much after "
          "training on noisy copies.", "mediamill, loss of P@1 at σ = 0.1: 11.79 %; with noisy copies 6.33 %", FAILS,
          "The paper's model loses 2.5 % on scene, 2.0 % on yeast, 4.3 % on made-up data of Mediamill's shape, 4.9 % "
          "on bibtex, 14 % on delicious and 35 % on aloi; noisy copies multiply these losses by 1.24, 1.42, 0.97, "
          "1.03, 0.90 and 0.82. The change exceeds that between seeds on aloi and, for the worse, on scene. mediamill "
          "itself was not measured here.", _RESULTS, NOISE, "robustness_curves", "Robustness",
          "extended-plt-mediamill", ("P@1",), (*_TENTH, _HALF), _DENSE),
    Claim(_ID, ("Figure 1", "Figure 2", "Figure 3"), "P@k, nDCG@k and PSDCG@k over σ: flat on Eurlex-4K; on Mediamill "
          "the curve of noisy copies falls half as steeply.", "as Tables 2 to 5, and σ = 0.01 and 0.05", FAILS, "The "
          "curves are flat on eurlex4k-dev and fall on dense data, but on none of six data sets half as steeply.",
          _NOISE, NOISE, "robustness_curves", "Robustness", shows=("P@1",), decided=(_HALF,), only=_DENSE),
    Claim(_ID, ("Figure 4",), "Noise makes the prediction of sparse rows some ten times slower, of dense rows hardly.",
          "eurlex-4k, k = 5: 5.1 s, and 45.1 s at σ = 0.1; mediamill: 0.31 and 0.25 s (16 cores)", OTHER, "Another "
          "machine and program: noise on 5,000 features of 3,809 rows and the five best of 4,000 labels take 0.3 s on "
          "two cores here.", _RESULTS, TIMES, "prediction_times", "Robustness", shows=("predict_s",),
          decided=(AtMost(f"predict_s of {CLEAN}", f"predict_s at σ = 0.1 of {CLEAN}", 0.2),), only=_SPARSE),
    Claim(_ID, ("Section 4.3",), "Training on noisy copies, too, takes 14 times as long on Eurlex-4K, twice on "
          "Mediamill.", "eurlex-4k 39.2 and 543.0 s, mediamill 25.3 and 56.9 s (16 cores)", HOLDS, "15,539 rows and as "
          "many noisy copies take 24 s here, within 4 GB; the machine is another one. With noisy copies training takes "
          "14 times the processor time on eurlex4k-dev, and 2.1 times on data of Mediamill's shape: the paper's "
          "ratios.", _NOISE, TRAINED, "", "Train", shows=("fit_s",), decided=(AtMost(f"fit_s of {CLEAN}",
          f"fit_s of {NOISY}", 0.55),)),
    Claim(_ID, ("Figure 5", "Section 5.3"), "The five largest values of a row explain the prediction, equally for both "
          "models.", "eurlex-4k, first test row: feature 1149 (64.6); mediamill: feature 49 (0.73)", FAILS, "The list "
          "does not look at the model, so it is the same for every model. Without the three largest values the label "
          "keeps 49.4 % probability on bibtex (51.5 before), without three at random 48.6, and without the three "
          "largest contributions 20.3.", _RESULTS, TRAINED, "magnitude_bars", "Explain"),
    Claim(_ID, ("Figure 6",), "Noise hardly changes large feature values, and visibly changes small ones.",
          "eurlex-4k: values up to 64.6; mediamill: up to 0.73; σ = 0.1", HOLDS, "It follows from the sizes: rows of "
          "eurlex4k-dev are 163 long, and noise of 0.1 on 5,000 features 7.", _RESULTS, NOISE, "noisy_features",
          "Robustness"),
    Claim(_ID, ("Algorithm 1",), "Robustness is measured by predicting rows with Gaussian noise at each level.",
          "k = 1, 3, 5; σ = 0.01, 0.05, 0.1; one draw", HOLDS, "ExtendedPLT.adversarial_evaluation does so, with one "
          "noise for every k where the paper draws it anew: each value is distributed alike, and all k rank the same "
          "rows. A single draw says nothing about chance, so draws are repeated here, with intervals.",
          "docs/methods/robustness.md#perturbations", NOISE, "robustness_curves", "Robustness", shows=("P@1",)),
)  # fmt: skip
