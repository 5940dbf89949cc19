"""Our methods and their modules, in the order in which they are listed."""

HOMES = {
    "LambdaMART": "lambdamart",
    "RandomForest": "random_forest",
    "LogisticRegression": "logistic_regression",
    "RankNet": "ranknet",
    "ListNet": "listnet",
    "RankBoost": "rankboost",
    "AdaRank": "adarank",
    "CoordinateAscent": "coordinate_ascent",
}
