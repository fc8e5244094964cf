"""The map of the Data page: what is selected on it is listed, and what is ticked is marked."""

import json

import pytest


def drawn(page):
    return any("map." in one.proto.id for one in page.at.get("plotly_chart"))


def chart(page):
    return next(one for one in page.at.get("plotly_chart") if "map." in one.proto.id)


@pytest.mark.sections("Map")
@pytest.mark.parametrize("of", ["rows", "labels"])
def test_a_selection_is_listed_and_a_ticked_line_is_marked(ready, of):
    ready.set("map.of", of).until(drawn)
    marks = [{"customdata": [4]}, {"customdata": [2]}]
    ready.send(chart(ready), {"selection": {"points": marks, "point_indices": [], "box": [], "lasso": []}})
    assert "selected on the map" in ready.text()
    (table,) = (one for one in ready.at.dataframe if "map.table" in one.proto.id)
    assert table.value["row" if of == "rows" else "label"].tolist() == [2, 4]
    ready.tick(table, 1)
    assert ("training-4" if of == "rows" else "features-4") in ready.view
    ready.click("List all")
    (table,) = (one for one in ready.at.dataframe if "map.table" in one.proto.id)
    assert table.value["row" if of == "rows" else "label"].iloc[0] == 4, "nearest to itself"


@pytest.mark.sections("Map")
def test_a_column_of_the_table_colours_points(ready):
    page = ready.set("map.color", "column language").until(drawn)
    assert all(f'"name":"{kind}"' in chart(page).proto.spec for kind in ("en", "de", "Others, or none"))


@pytest.mark.sections("Map")
def test_many_points_are_drawn_alone_where_a_user_zooms_in(ready, monkeypatch):
    monkeypatch.setattr("xmlcore.figures._data.MOST_POINTS", 20)
    monkeypatch.setattr("xmlcore.figures._data.SQUARES", 3)
    page = ready.set("map.color", "test").until(drawn)
    assert "circles stand for 80 rows" in page.text()
    page.send(
        chart(page), {"selection": {"points": [{"customdata": [0]}], "point_indices": [], "box": [], "lasso": []}}
    )
    (selected,) = (one.value for one in page.at.dataframe if "map.table" in one.proto.id)
    page.click("Zoom in")
    shown = len(json.loads(chart(page).proto.spec)["data"][0]["customdata"])
    assert 0 < len(selected) <= shown < 80
    page.click("Whole map of 80 rows")
    assert "circles stand for 80 rows" in page.text()
