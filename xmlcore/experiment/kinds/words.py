"""Other words as features: a data set whose rows are made anew from its texts."""

import time
from dataclasses import dataclass

from xmlcore import store
from xmlcore.datasets import save_dataset, with_words
from xmlcore.experiment.engine.task import DATASETS, Estimate, register
from xmlcore.experiment.kinds.prepare import MakesDataset
from xmlcore.experiment.kinds.read_texts import VECTORIZER, note_on_words, vectorizer_of, with_vectorizer
from xmlcore.progress import silent

START, BYTE = 0.3, 3e-8  # seconds to begin, and for a byte of the data set, of which most are texts


@dataclass(frozen=True)
class Words:
    """A data set that was made from the texts of another one and is kept."""

    dataset: str
    notes: list


@register
class OtherWords(MakesDataset):
    """Make the features of a data set anew from its texts, and keep the data set that has them. Inputs: ``dataset``."""

    kind, folder, result, needs = "words", "words", Words, ("dataset",)
    doing = "Making words of {dataset} features"
    on_cluster = False  # it keeps a data set besides its result

    PARAMETERS = (VECTORIZER,)

    def complete(self, params):
        return with_vectorizer(params)

    def estimate(self) -> Estimate:
        n_bytes = store.info(DATASETS, self.fingerprint)["bytes"]
        return Estimate(START + BYTE * n_bytes, 6 * n_bytes)

    def run(self, progress=silent, files=None):
        data, start = self.dataset(progress), time.perf_counter()
        made = with_words(data, vectorizer_of(self.params["vectorizer"]), progress=progress)
        notes = [made.notes[-1], note_on_words(made, time.perf_counter() - start)]
        progress("Saving", 0.0)
        object.__setattr__(made, "notes", ())  # the class is frozen; this data set is ours
        object.__setattr__(made, "name", "data with other words")
        return {"dataset": save_dataset(made, self.made_by()), "notes": notes}
