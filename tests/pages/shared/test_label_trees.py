"""Names of the nodes of label trees."""

from tests.pages.making import train


def test_a_node_has_one_name_on_the_pages_explain_and_trees(ready):
    train(ready, arity=2, max_leaf_labels=1)
    page = ready.go("explain")
    path = page.frame("depth", "name", "factor")
    label = page.at.selectbox(key="explain.label").value
    assert len(path) >= 3 and any(" +" in name for name in path["name"])
    page.go("trees").at.selectbox(key="trees.label").set_value(label)
    buttons = [b for b in page.run().at.button if b.key.startswith("trees.label.path.")]
    named = {int(b.key.rsplit(".", 1)[1]): b.label.replace("\\", "") for b in buttons}
    assert len(named) >= 2
    of_path = dict(zip(path["node"], path["name"]))
    assert {node: of_path[node] for node in named if node in of_path} == {n: named[n] for n in named if n in of_path}
    assert set(named) & set(of_path)
