"""TextVectorizer gives what TfidfVectorizer of scikit-learn gives, says where words stand, is saved without pickle."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

from xmlcore.datasets import DatasetWarning
from xmlcore.datasets.texts import TextVectorizer, vectorizer, words

ROOT = Path(__file__).parents[3]
WORDS = "the a cat Cat dog élan ELAN naïve hause straße x y1 y_2 über of and 東京 tōkyō i̇stanbul ΣΑΣ".split()


def some_texts(seed=0, n=60, longest=14):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0, longest))) for _ in range(n)]


def scikit_learn(ngrams=(1, 1), min_df=2, pattern=r"(?u)\b\w\w+\b", sublinear=True, **others):
    return TfidfVectorizer(ngram_range=ngrams, min_df=min_df, token_pattern=pattern, sublinear_tf=sublinear, **others)


SETTINGS = [
    {},
    {"ngrams": (1, 2)},
    {"ngrams": (1, 4), "min_df": 3},
    {"ngrams": (2, 3), "stop_words": "english"},
    {"ngrams": (1, 2), "stop_words": ["cat", "xx"]},
    {"min_df": 0.1, "max_df": 0.5},
    {"min_df": 1, "max_df": 20, "sublinear": False},
    {"lowercase": False, "strip_accents": "unicode"},
    {"strip_accents": "ascii", "ngrams": (1, 2)},
    {"pattern": r"(\w)\w*", "min_df": 1, "strip_accents": "unicode"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_weights_are_those_of_scikit_learn(settings, monkeypatch):
    monkeypatch.setattr(vectorizer, "SLICE", 3)  # of words that are counted at once
    texts, new = some_texts(), some_texts(seed=1)
    own, other = TextVectorizer(**settings), scikit_learn(**settings)
    for X, Z in ((own.fit_transform(texts), other.fit_transform(texts)), (own.transform(new), other.transform(new))):
        Z.sort_indices()
        assert X.dtype == np.float32 and X.has_canonical_format
        np.testing.assert_array_equal(X.indptr, Z.indptr)
        np.testing.assert_array_equal(X.indices, Z.indices)
        np.testing.assert_allclose(X.data, Z.data, rtol=2e-7)
    assert list(own.get_feature_names_out()) == list(other.get_feature_names_out())
    assert own.n_features_ == X.shape[1] and own.n_rows_ == len(texts)


def test_most_features_are_those_that_occur_most_often():
    texts = ["one one one two two three", "one two", "three four", "four two"]
    found = TextVectorizer(max_features=2, min_df=1).fit(texts)
    assert list(found.get_feature_names_out()) == ["one", "two"]
    other = scikit_learn(max_features=2, min_df=1).fit(texts)
    np.testing.assert_array_equal(found.transform(texts).toarray(), other.transform(texts).toarray().astype("f4"))


def test_words_without_a_feature_are_in_no_pair():
    vectorizer = TextVectorizer(ngrams=(2, 2), min_df=1).fit(["red cat", "cat sat"])
    assert vectorizer.transform(["red big cat sat"]).toarray().astype(bool).tolist() == [[True, False]]
    assert list(vectorizer.get_feature_names_out()) == ["cat sat", "red cat"]


def test_many_blocks_give_what_one_block_gives(monkeypatch):
    texts = some_texts()
    whole = TextVectorizer(ngrams=(1, 2)).fit_transform(texts)
    hashed = TextVectorizer(ngrams=(1, 2), hashing_bits=12).fit_transform(texts)
    monkeypatch.setattr("xmlcore.datasets.texts.vectorizer.BLOCK", 7)
    assert (TextVectorizer(ngrams=(1, 2)).fit_transform(texts) != whole).nnz == 0
    assert (TextVectorizer(ngrams=(1, 2), hashing_bits=12).fit_transform(texts) != hashed).nnz == 0


def test_hashed_features_are_the_listed_ones_in_another_order():
    texts = some_texts()
    listed = TextVectorizer(ngrams=(1, 3), min_df=2, max_df=0.9).fit_transform(texts)
    vectorizer = TextVectorizer(ngrams=(1, 3), min_df=2, max_df=0.9, hashing_bits=22)
    hashed = vectorizer.fit_transform(texts)
    assert hashed.shape == (len(texts), 2**22) and hashed.nnz == listed.nnz
    for row in range(len(texts)):
        np.testing.assert_array_equal(
            *(np.sort(X.data[X.indptr[row] : X.indptr[row + 1]]) for X in (listed, hashed)), strict=True
        )
    assert (vectorizer.transform(texts) != hashed).nnz == 0


def test_a_hash_is_the_same_on_every_machine():
    found = TextVectorizer(min_df=1, ngrams=(1, 2), hashing_bits=16).fit_transform(["red cat"])
    assert found.indices.tolist() == [12184, 41800, 42336]
    assert list(TextVectorizer(min_df=1, hashing_bits=1).fit(["red"]).get_feature_names_out()) == ["hash 0", "hash 1"]


def test_spans_say_where_each_feature_stands():
    vectorizer = TextVectorizer(ngrams=(1, 2), stop_words=["of"], min_df=1).fit(["House of Cards", "cards house"])
    names = vectorizer.get_feature_names_out()
    text = "A HOUSE of\ncards, house!"
    starts, ends, features = vectorizer.spans(text)
    assert [(text[a:b], names[j]) for a, b, j in zip(starts, ends, features)] == [
        ("HOUSE", "house"),
        ("HOUSE of\ncards", "house cards"),
        ("cards", "cards"),
        ("cards, house", "cards house"),
        ("house", "house"),
    ]
    assert [part.size for part in vectorizer.spans("")] == [0, 0, 0]


@pytest.mark.parametrize("hashing_bits", [None, 20])
@pytest.mark.parametrize("strip_accents", [None, "unicode", "ascii"])
def test_spans_are_in_the_text_as_it_was_given(strip_accents, hashing_bits):
    """Lower case and accents change the number of characters: "İ" becomes two, "é" of two characters one, "ﬃ" three."""
    text = "İstanbul e\u0301lan naïve \ufb03x Straße 東京都 ΣΑΣ end"
    finder = TextVectorizer(min_df=1, strip_accents=strip_accents, hashing_bits=hashing_bits).fit([text, "words " * 99])
    starts, ends, features = finder.spans(text)
    found = [text[a:b] for a, b in zip(starts, ends)]
    expected = ["İstanbul", "e\u0301lan", "naïve", "\ufb03x", "Straße", "東京都", "ΣΑΣ", "end"]
    if strip_accents == "ascii":
        expected = ["İstanbul", "e\u0301lan", "naïve", "\ufb03x", "Straße", "end"]
    if strip_accents is None:  # the accent that stands alone is no letter, and so no part of a word
        expected[:2] = ["stanbul", "lan"]
    assert found == expected
    assert sorted(features) == sorted(finder.transform([text]).indices)


# The first and the last letter of scripts without blanks between words, and a mark that combines with letters.
UNSPACED = {"Han": "一鿿\u302a", "kana": "ぁヺ\u3099", "Thai": "กฮ\u0e49", "Lao": "ກຢ\u0ec9", "Tibetan": "ཀཬ\u0f72",
            "Burmese": "ကဪ\u102d", "Khmer": "កឳ\u17b7"}  # fmt: skip


def unspaced(script, n=40):
    first, last, mark = UNSPACED[script]
    rng = np.random.default_rng(0)
    letters = [letter for letter in map(chr, range(ord(first), ord(last))) if letter.isalpha()]
    letters = rng.choice(letters, 20).tolist() + [rng.choice(letters) + mark for _ in range(5)]
    return [rng.choice(letters, 15).tolist() for _ in range(n)]


@pytest.mark.parametrize("script", UNSPACED)
def test_single_letters_are_words_between_blanks(script):
    found = TextVectorizer(min_df=1).fit([" \u3000"[i % 2].join(row) for i, row in enumerate(unspaced(script))])
    assert set(found.names_) == {letter for row in unspaced(script) for letter in row}
    with pytest.raises(ValueError, match="how letters are found"):
        TextVectorizer(min_df=40).fit([" ".join(row) for row in unspaced(script)])


@pytest.mark.parametrize("script", UNSPACED)
def test_letters_and_pairs_are_words_where_blanks_are_lacking(script):
    texts = ["".join(letters) for letters in unspaced(script)]
    found = TextVectorizer(min_df=1).fit(texts)
    assert found.analyzer_ == "letters" and np.diff(TextVectorizer().fit_transform(texts).indptr).min() > 5
    restored = TextVectorizer.from_plain(*found.to_plain())  # whose new texts need not be of such a script
    for text, letters in zip(texts, unspaced(script)):
        starts, ends, features = found.spans(text)
        words = [text[a:b] for a, b in zip(starts, ends)]
        assert sorted(words) == sorted([*letters, *map("".join, zip(letters, letters[1:]))])
        assert words == [found.names_[j] for j in features]
        assert set(restored.transform([text + " with words" * 99]).indices) == set(features)


def test_a_long_text_without_blanks_is_not_cut_in_a_letter():
    text = "".join(map("".join, unspaced("Thai", 1000)))
    found = TextVectorizer(min_df=1).fit([text])
    weights = 1 + np.log(np.bincount(found.spans(text)[2], minlength=found.n_features_))
    assert len(text) > 3 * words.PIECE
    np.testing.assert_allclose(found.transform([text]).toarray()[0], weights / np.linalg.norm(weights), rtol=1e-6)


def test_words_of_other_scripts_are_the_same_beside_letters():
    found = TextVectorizer(min_df=1, lowercase=False).fit(["我用 iPhone手机 A股。x 東京, Ünïcode12"])
    assert sorted(found.names_) == sorted("我 用 我用 iPhone 手 机 手机 股 東 京 東京 Ünïcode12".split())


KOREAN = "한국어 문장은 띄어 씁니다 大韓民國"


@pytest.mark.parametrize(
    "text",
    [KOREAN, "हिन्दी में शब्द", "слово за словом", "plain words", "我们 今天 去 北京", "ภาษา ไทย ศาล", "ចំណង  រដ្ឋសភា ច្បាប់"],
)
def test_scripts_with_blanks_are_analysed_as_before(text):
    texts = [text] * 20 + ["東京"]
    found = TextVectorizer().fit(texts)
    assert found.analyzer_ == "words" and found.names_ == scikit_learn().fit(texts).get_feature_names_out().tolist()


@pytest.mark.parametrize("chosen", [{"analyzer": "words"}, {"pattern": r"\w+"}])
def test_a_choice_of_the_user_stays_and_lacking_blanks_are_said(chosen):
    with pytest.warns(DatasetWarning, match="analyzer='letters'"):
        assert TextVectorizer(min_df=1, **chosen).fit(["東京都"]).names_ == ["東京都"]
    assert TextVectorizer(min_df=1, analyzer="letters").fit(["a word " * 99 + "東"]).names_ == ["word", "東"]


def test_unknown_words_are_counted_and_stop_words_are_not():
    for bits in (None, 16):
        vectorizer = TextVectorizer(ngrams=(1, 2), min_df=2, stop_words=["the"], hashing_bits=bits)
        vectorizer.fit(["the cat sat", "the cat ran", "a dog"])
        terms, unknown = vectorizer.count_unknown(["the cat sat", "", "cat cat the"])
        assert terms.tolist() == [3, 0, 3] and unknown.tolist() == [2, 0, 1]
    assert [part.tolist() for part in vectorizer.count_unknown([])] == [[], []]


@pytest.mark.parametrize("settings", [*SETTINGS, {"hashing_bits": 10, "stop_words": "english"}], ids=str)
def test_it_is_saved_as_json_and_arrays(settings):
    texts = some_texts()
    fitted = TextVectorizer(**settings).fit(texts)
    plain, arrays = fitted.to_plain()
    again = TextVectorizer.from_plain(json.loads(json.dumps(plain)), arrays)
    assert (again.transform(texts) != fitted.transform(texts)).nnz == 0
    assert list(again.get_feature_names_out()) == list(fitted.get_feature_names_out())
    assert all(array.dtype != object for array in arrays.values())
    again_settings, again_arrays = again.to_plain()
    assert again_settings == plain and all((again_arrays[name] == arrays[name]).all() for name in arrays)


def test_a_loaded_vectoriser_needs_no_scikit_learn(tmp_path):
    plain, arrays = TextVectorizer(stop_words="english").fit(some_texts()).to_plain()
    np.savez(tmp_path / "arrays.npz", **arrays)
    (tmp_path / "settings.json").write_text(json.dumps(plain))
    code = (
        "import json, os, sys, numpy as np\n"
        "from xmlcore.datasets.texts import TextVectorizer\nos.chdir(sys.argv[1])\n"
        "settings, arrays = json.load(open('settings.json')), dict(np.load('arrays.npz', allow_pickle=False))\n"
        "print(TextVectorizer.from_plain(settings, arrays).transform(['the cat and dog']).data.tolist())\n"
        "assert 'sklearn' not in sys.modules"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    expected = TextVectorizer.from_plain(plain, arrays).transform(["the cat and dog"]).data.tolist()
    assert json.loads(shown.stdout) == expected and len(expected) == 2


def harmed(**changes):
    plain, arrays = TextVectorizer(ngrams=(1, 2)).fit(["one two", "one two"]).to_plain()
    for name, change in changes.items():
        parts = arrays if name in arrays else plain
        parts[name] = change(parts[name]) if callable(change) else change
    return plain, arrays


@pytest.mark.parametrize("changes", [
    {"format": 9},
    {"params": {"ngrams": [1, 2], "never": 3}},
    {"params": {"ngrams": [1, 2], "pattern": "("}},
    {"params": {"ngrams": [1, 2], "hashing_bits": 4}},
    {"idf": lambda idf: idf * np.nan},
    {"idf": lambda idf: idf[:0]},
    {"names": lambda names: names[1:]},
    {"name_ends": lambda ends: ends[::-1].copy()},
    {"name_ends": lambda ends: ends[:-1].copy()},
    {"n_rows": "many"},
])  # fmt: skip
def test_damaged_parts_are_refused(changes):
    with pytest.raises(ValueError, match="the vectoriser"):
        TextVectorizer.from_plain(*harmed(**changes))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "texts is one str: give a list of texts"),
        (b"bytes", "texts is one bytes"),
        (["one", None], r"texts\[1\] is None: texts are strings"),
        (pd.Series(["one", float("nan")]), r"texts\[1\] is nan"),
        ([b"one"], r"texts\[0\] is b'one'"),
        (7, "texts must be a list of strings, not int"),
        (pd.DataFrame({"a": ["one"], "b": ["two"]}), r"texts has the shape \(1, 2\): give one column"),
    ],
    ids=str,
)
def test_what_is_no_text_is_named(texts, message):
    with pytest.raises(TypeError, match=message):
        TextVectorizer().fit(texts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "no word is in at least 2 and at most 2 of the 2 texts"),
        ({"min_df": 2, "max_df": 1}, "at most 1 texts with a word are fewer than at least 2"),
        ({"ngrams": (2, 1)}, r"ngrams is \(2, 1\): the second number must be at least the first"),
        ({"ngrams": 2}, r"ngrams must be two whole numbers, such as \(1, 2\), not 2"),
        ({"ngrams": (0, 1)}, "ngrams must be"),
        ({"pattern": "("}, "is no regular expression"),
        ({"pattern": "(a)(b)"}, "has 2 groups"),
        ({"stop_words": "german"}, "stop_words must be one of english, a list, a tuple, not 'german'"),
        ({"stop_words": [1]}, "stop_words has 1: words are strings"),
        ({"hashing_bits": 8, "max_features": 3}, "needs the list of words"),
        ({"min_df": 0}, "min_df"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_used_are_named(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TextVectorizer(**settings).fit(["one", "two"])


def test_series_arrays_and_generators_are_read_as_lists_are():
    texts = some_texts()
    expected = TextVectorizer().fit_transform(texts)
    for given in (pd.Series(texts, index=range(60, 0, -1)), np.array(texts), tuple(texts), iter(texts)):
        assert (TextVectorizer().fit_transform(given) != expected).nnz == 0
    assert TextVectorizer().fit(texts).transform([]).shape == (0, expected.shape[1])
    with pytest.raises(ValueError, match="there are no texts"):
        TextVectorizer().fit([])


def test_it_is_not_fitted_until_all_has_succeeded():
    from sklearn.exceptions import NotFittedError

    vectorizer = TextVectorizer()
    with pytest.raises(ValueError, match="no word"):
        vectorizer.fit(["one", "two"])
    for use in (vectorizer.transform, vectorizer.spans, lambda _: vectorizer.get_feature_names_out()):
        with pytest.raises(NotFittedError):
            use("one")
    fitted = TextVectorizer(min_df=1).fit(["one"])
    fitted.sublinear = fitted.lowercase = False  # does not change what was fitted
    assert fitted.transform(["ONE one one"]).nnz == 1 and fitted.to_plain()[0]["params"]["lowercase"] is True
    assert not hasattr(clone(fitted), "idf_")


def test_progress_rises_to_the_number_of_texts():
    seen = []
    TextVectorizer().fit(some_texts(), progress=lambda *facts: seen.append(facts))
    assert seen[0] == ("Reading words", 0.0, "0 of 60 texts")
    assert [share for _, share, _ in seen] == sorted(share for _, share, _ in seen)


def test_letters_weigh_as_those_of_scikit_learn():
    texts, new = some_texts(), some_texts(seed=1)
    texts, new = ([text.replace("i̇", "i") for text in part] for part in (texts, new))
    found = TextVectorizer(features="letters", pattern=r"\S+").fit(texts)
    other = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), min_df=2, sublinear_tf=True).fit(texts)
    assert [name.strip("…").replace("_", " ") for name in found.names_] != []
    for own, theirs in zip(found.transform(new).toarray(), other.transform(new).toarray()):
        np.testing.assert_allclose(np.sort(own[own > 0]), np.sort(theirs[theirs > 0]), rtol=1e-5)


@pytest.mark.parametrize("hashing_bits", [None, 12])
@pytest.mark.parametrize(("features", "ngrams", "expected"), [
    ("stems", (1, 2), {"Running": "run", "Running cats": "run cat", "cats": "cat"}),
    ("letters", (1, 1), {"Ru": "_ru…", "unn": "…unn…", "ing": "…ing_", "cats": "_cats…"}),
    ("words+letters", (1, 1), {"Running": "running", "ats": "…ats_"}),
])  # fmt: skip
def test_blocks_stand_in_the_text_and_are_saved(features, ngrams, expected, hashing_bits):
    texts = ["Running cats", "the running of cats", "cats in a house", ""] * 2
    found = TextVectorizer(features=features, ngrams=ngrams, language="english", hashing_bits=hashing_bits)
    X, names = found.fit_transform(texts), found.get_feature_names_out()
    starts, ends, features = found.spans(texts[0])
    assert set(features) == set(X[[0]].indices)
    stand = {(texts[0][a:b], names[j]) for a, b, j in zip(starts, ends, features)}
    assert hashing_bits or stand >= set(expected.items())
    np.testing.assert_allclose(np.sqrt(X.power(2).sum(axis=1)), np.array([1, 1, 1, 0] * 2), atol=1e-6)
    plain, arrays = found.to_plain()
    other = TextVectorizer.from_plain(json.loads(json.dumps(plain)), arrays)
    assert (other.transform(texts) != X).nnz == 0 and other.settings_ == found.settings_


def test_stems_of_an_unknown_language_are_refused():
    with pytest.raises(ValueError, match="language") as raised:
        TextVectorizer(features="stems").fit(["zzz yyy"] * 3)
    assert raised.value.fault.argument == "language"
    assert (
        TextVectorizer(features="stems").fit(["das Haus und die Häuser mit der Tür"] * 3).settings_["language"]
        == "german"
    )
