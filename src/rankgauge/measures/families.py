"""Which measures each family has, in the order in which they are listed.

A family is a module of this package. It is imported when one of its measures is first asked for; a test
compares this list with what the modules register.
"""

FAMILIES: dict[str, tuple[str, ...]] = {
    "aggregates": ("mean", "gm"),
    "accuracy": ("Accuracy",),
    "precision": ("P", "Recall", "Rprec", "RR", "Success", "Judged"),
    "average_precision": ("SP", "SSP", "AP"),
    "cascade": ("ERR",),
    "judged_only": ("condensed",),
    "counts": ("NumRet", "NumRel", "NumRelRet", "NumNonRelRet", "Unjudged"),
    "cumulative_gain": ("CG", "DCG", "SDCG", "nDCG", "RNDCG", "nDCG_LETOR"),
    "diversity": ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "strec"),
    "intent_aware": ("P_IA", "AP_IA"),
    "elsewhere": ("given",),
    "overlap": ("compat",),
    "preference": ("bpref", "infAP", "CorrectPairs"),
    "q_measure": ("Q", "GAP"),
    "recall_levels": ("IPrec", "ElevenPoint"),
    "search_length": ("SearchLength", "ESL"),
    "sets": (
        "SetP",
        "SetF",
        "SetAP",
        "SetRelP",
        "F",
        "RelP",
        "Utility",
        "NonlinearUtility",
        "ScaledUtility",
    ),
    "trec_experiments": ("binG", "G", "ndcg_rel", "ndcg_levels", "yaap"),
    "user_models": ("RBP", "INSQ", "INST", "NERR8", "NERR9", "NERR10", "NERR11", "BPM"),
    "wrappers": ("lower", "upper", "ideal", "worst", "expected", "prefix_mean"),
    "normalization": ("v1", "v2", "linear", "z", "minmax"),
}

HOMES = {name: family for family, names in FAMILIES.items() for name in names}
"""The family of each measure."""
