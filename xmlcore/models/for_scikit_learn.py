"""The interface of scikit-learn's estimators; scikit-learn is imported only when its tools are used.

Its BaseEstimator would bring most of this; but to import it doubles the time of importing a model, and takes 125 MiB.
"""

import copy
from typing import Any, Self


class ForScikitLearn:
    """Base of estimators: their tags, their diagram, and whether they are fitted."""

    _estimator_type: str | None = None  # scikit-learn 1.5 reads this attribute, later versions read the tags

    def _repr_html_(self) -> str | None:
        """Return scikit-learn's diagram, for notebooks, unless ``sklearn.set_config(display="text")`` asks for none."""
        from sklearn import get_config
        from sklearn.utils import estimator_html_repr

        return estimator_html_repr(self) if get_config()["display"] == "diagram" else None

    def _get_params_html(self, *args, **kwargs):
        """Return the parameters for scikit-learn's diagram, which asks for them by this name since version 1.7."""
        from sklearn.base import BaseEstimator

        return BaseEstimator._get_params_html(self, *args, **kwargs)

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


class RoutesWeights:
    """Base of models whose ``fit`` takes weights, which scikit-learn's metadata routing can pass on."""

    _WEIGHTS = ("sample_weight", "label_weight")

    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Say which weights scikit-learn's metadata routing passes to :meth:`fit`.

        Parameters
        ----------
        **requests : bool, str or None
            By the name of the argument, such as ``sample_weight``. True: pass it; False: do not; None:
            refuse it; a text: the name that it has in the call of the outer estimator.

        Returns
        -------
        Estimator
            The same model.

        Raises
        ------
        TypeError
            ``fit`` has no such argument.
        """
        if unknown := set(requests) - set(self._WEIGHTS):
            raise TypeError(f"fit of {type(self).__name__} takes {' and '.join(self._WEIGHTS)}, not {sorted(unknown)}")
        routing = self.get_metadata_routing()
        for name, alias in requests.items():
            routing.fit.add_request(param=name, alias=alias)
        self._metadata_request = routing  # scikit-learn's clone copies what has this name
        return self

    def get_metadata_routing(self) -> Any:
        """Return the requests of :meth:`set_fit_request` as scikit-learn's MetadataRequest."""
        from sklearn.utils.metadata_routing import MetadataRequest

        if "_metadata_request" in vars(self):
            return copy.deepcopy(self._metadata_request)
        routing = MetadataRequest(owner=type(self).__name__)
        for name in self._WEIGHTS:
            routing.fit.add_request(param=name, alias=None)
        return routing
