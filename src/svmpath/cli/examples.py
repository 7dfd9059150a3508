"""The examples below each ``--help``; a test runs them, in this order, in a folder with the generated data."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "datasets": (
        "svmpath datasets",
        "svmpath datasets flats -o flats.csv",
        "svmpath datasets banana --rows 1000 --seed 1 -o banana.csv",
    ),
    "tune": (
        "svmpath tune flats.csv --target price --output model",
        "svmpath tune flats.csv --target sold --loss hinge --criterion kfold --cv 10 --output model",
        "svmpath tune banana.csv --target y --output banana",
        "svmpath tune --config model/config.toml --seed 1",
    ),
    "predict": (
        "svmpath predict model/model.skops new.csv -o predictions.csv",
        "svmpath predict model/model.skops new.csv --proba --interval 0.9 -o predictions.csv",
        "svmpath predict model/model.skops new.csv --keep all --novelty -o predictions.csv",
        "svmpath predict model/model.skops flats.csv --score",
    ),
    "update": ("svmpath update model/model.skops flats.csv -o model/more.skops",),
    "forget": ("svmpath forget model/model.skops --rows 3,17-20 -o model/fewer.skops",),
    "compare": (
        "svmpath compare banana.csv --target y",
        "svmpath compare banana.csv --target y --losses squared_hinge,least_squares --kernels rbf,linear --folds 3",
    ),
    "select": (
        "svmpath select twonorm.csv --target y -o features.csv",
        "svmpath select flats.csv --target sold --drop price --max-features 5",
    ),
    "novelty": (
        "svmpath novelty flats.csv new.csv --drop price,sold",
        "svmpath novelty flats.csv new.csv --drop price,sold --nu 0.05 -o novelty.csv",
    ),
    "path": (
        "svmpath path banana.csv --target y --loss hinge --over C --span 0.01:100 -o path.npz",
        "svmpath path banana.csv --target y --over gamma --span 0.1:10 --C 1 --values 20 -o path",
    ),
    "export": ("svmpath export banana/model.skops banana.onnx",),
    "report": ("svmpath report model/model.skops flats.csv -o report.html",),
    "compile": ("svmpath compile", "svmpath compile path loo"),
}
