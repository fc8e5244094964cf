"""Mistakes that a type checker has to find, each in a line that ends with ``# wrong``; never run."""

import xmlcore
from xmlcore import PLT, load_model, metrics, selection

print(xmlcore.PTL)  # wrong
print(selection.Falls)  # wrong
plt = PLT(n_jobs="two")  # wrong
plt = PLT(C=None)  # wrong
plt = PLT(C="big")  # wrong
plt = PLT(c=1.0)  # wrong
plt.fit_transform([[0.0]], [[0]])  # wrong
ranking = plt.fit([[0.0]], [[0]]).predict_topk([[0.0]], k="5")  # wrong
print(ranking.label)  # wrong
plt.predict([[0.0]], threshold="half")  # wrong
load_model(5)  # wrong
metrics.precision_at_k([[0]], ranking, k=[1])  # wrong
