"""What scikit-learn's tools ask of an estimator, without an import of scikit-learn before one of them is used.

Its BaseEstimator would bring most of this; but to import it doubles the time of importing a model, and takes 125 MiB.
"""


class ForScikitLearn:
    """Base of estimators: their tags, their diagram, and whether they are fitted."""

    _estimator_type: str | None = None  # scikit-learn 1.5 reads this attribute, later versions read the tags

    def _repr_html_(self) -> str:
        """Return scikit-learn's diagram, for notebooks."""
        from sklearn.utils import estimator_html_repr

        return estimator_html_repr(self)

    def __sklearn_tags__(self):
        """Return the tags by which scikit-learn's tools learn what the estimator accepts."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags, TransformerTags

        is_classifier = self._estimator_type == "classifier"
        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=True),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            classifier_tags=ClassifierTags(multi_label=True) if is_classifier else None,
            regressor_tags=None,
            input_tags=InputTags(sparse=True, positive_only=self._refuses_negative()),
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether ``fit`` has been completed; scikit-learn's ``check_is_fitted`` calls this."""
        return hasattr(self, "n_features_in_")
