"""The rows of the paper's tables, as losses."""

from __future__ import annotations

from typing import Any, NamedTuple

from shortlist import losses


class Method(NamedTuple):
    """A row: the key in our files, the name that is shown, and the loss."""

    key: str
    name: str
    loss: Any


_OVA = [
    Method("ova_svm", "SVM OVA", losses.ova_svm()),
    Method("ova_logistic", "LR OVA", losses.ova_logistic()),
]
_SVM = Method("svm", "SVM multi", losses.svm())
_SMOOTH_SVM = Method("svm_smooth", "smooth SVM multi", losses.svm(1.0))
_SOFTMAX = Method("softmax", "softmax", losses.softmax())


def _topk(k: int) -> dict[str, Method]:
    return {
        "svm": Method(f"top{k}_svm", f"top-{k} SVM", losses.topk_svm_alpha(k)),
        "smooth": Method(
            f"top{k}_svm_smooth", f"smooth top-{k} SVM", losses.topk_svm_alpha(k, 1.0)
        ),
        "entropy": Method(f"top{k}_entropy", f"top-{k} entropy", losses.topk_entropy(k)),
        "truncated": Method(
            f"top{k}_truncated", f"truncated top-{k} entropy", losses.truncated_topk_entropy(k)
        ),
    }


def _by_kind(ks: tuple[int, ...]) -> list[Method]:
    kinds = {k: _topk(k) for k in ks}
    return [
        *(kinds[k]["svm"] for k in ks),
        _SMOOTH_SVM,
        *(kinds[k][kind] for kind in ("smooth", "entropy", "truncated") for k in ks),
    ]


#: Table "all", in its order.
MULTICLASS = [*_OVA, _SVM, _SOFTMAX, *_by_kind((3, 5, 10))]
#: Table "toy".
CIRCLE = [*_OVA, _SVM, _SOFTMAX, *_by_kind((2,))]
#: Tables "ml-small-cv".
MULTILABEL = [
    Method("multilabel_softmax", "multilabel softmax", losses.multilabel_softmax()),
    Method("multilabel_svm", "multilabel SVM", losses.multilabel_svm()),
    Method("multilabel_svm_smooth", "smooth multilabel SVM", losses.multilabel_svm(1.0)),
]
#: Tables "voc" and "coco": methods that see one label an example; k is tuned as C is.
SINGLE_LABEL = [
    _SOFTMAX,
    Method("topk_entropy", "top-k entropy", losses.topk_entropy),
    _SVM,
    Method("topk_svm_alpha", "top-k SVM (alpha)", losses.topk_svm_alpha),
    Method("topk_svm_beta", "top-k SVM (beta)", losses.topk_svm_beta),
    _SMOOTH_SVM,
    Method(
        "topk_svm_alpha_smooth", "smooth top-k SVM (alpha)", lambda k: losses.topk_svm_alpha(k, 1.0)
    ),
    Method(
        "topk_svm_beta_smooth", "smooth top-k SVM (beta)", lambda k: losses.topk_svm_beta(k, 1.0)
    ),
]
