"""What can be done with the data sets of the workspace, in one box: split, make other features, compare, rename."""

from pages.data import boxes, manage
from pages.data.forms import form, split, words
from pages.shared.workspaces import workspace


def show(data, fingerprint, used: dict) -> None:
    forms, only_looks = {}, workspace.only_looks()
    if data is not None and not only_looks:
        forms["Split again"] = split.FORM.busy(), lambda: form.draw(split.FORM, data, fingerprint, used)
        if data.texts_train is not None and data.texts_test is not None:
            forms["Other words"] = words.FORM.busy(), lambda: form.draw(words.FORM, data, fingerprint, used)
    opened = manage.opened()
    if opened:
        forms["Compare"] = False, lambda: manage.compare(opened, fingerprint)
        if not only_looks:
            forms["Rename, convert or remove"] = False, lambda: manage.one(opened, fingerprint)
    if forms:
        boxes.show("change", "Compare data sets" if only_looks else "Change or compare data sets", forms)
