"""The description of a server is that of its addresses, and the answers have the form that it says."""

import re


def test_every_described_address_answers(client):
    told = client.get("/openapi.json").json()
    for path, methods in told["paths"].items():
        place = path.replace("{name}", "sizes")
        if "get" in methods:
            assert client.get(place).status_code == 200, place
    asking = told["paths"]["/v1/models/{name}/predict"]["post"]
    schema = asking["requestBody"]["content"]["application/json"]["schema"]
    example = schema["properties"]["row"]["example"]
    answer = client.post("/v1/models/sizes/predict", json={"row": example, "k": 2, "unknown": "ignore"})
    described = asking["responses"]["200"]["content"]["application/json"]["schema"]["properties"]
    assert answer.json().keys() <= described.keys() and len(answer.json()["predictions"][0]) == 2
    refused = client.post("/v1/models/sizes/predict", json={name: 1 for name in schema["properties"]} | {"x": 1})
    assert refused.status_code == 422 and str(refused.status_code) in asking["responses"]


def test_the_page_to_try_asks_addresses_of_this_server_only(client):
    page = client.get("/try").text
    assert "Predict" in page and not re.search(r"https?://|src=", page)
