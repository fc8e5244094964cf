"""The rival of `xmlcore serve`: a scikit-learn pipeline behind a web server, as one writes it in a few lines.

python -m benchmarks.library.plain_server PIPELINE.joblib PORT
"""

import sys

import joblib
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


def make_app(path):
    """Return an application that answers with the pipeline: tf-idf of scikit-learn, then a model of xmlcore."""
    vectorizer, model, names = joblib.load(path)

    async def predict(request):
        """Return labels of texts."""
        asked = await request.json()
        rows = zip(*model.predict_topk(vectorizer.transform(asked["texts"]), asked["k"]))
        found = [[{"label": names[j], "score": float(score)} for j, score in zip(*row)] for row in rows]
        return JSONResponse({"predictions": found})

    return Starlette(routes=[Route("/predict", predict, methods=["POST"])])


if __name__ == "__main__":
    uvicorn.run(make_app(sys.argv[1]), port=int(sys.argv[2]), log_level="warning", access_log=False)
