"""Targets in every form, and the options of `torch.nn.CrossEntropyLoss`."""

import nn.needs_torch  # noqa: I001
import copy
import inspect
import pickle
import shutil

import numpy as np
import pytest
import torch
from torch.nn import functional

from nn.cases import EVERY, IDS, batch
from shortlist import losses, nn

every = pytest.mark.parametrize(("name", "loss"), EVERY, ids=IDS)
OF_ONE = [
    (name, loss) for name, loss in EVERY if not name.startswith(("multilabel", "ova", "soft"))
]
U, Y = batch("one", n=12, m=7)
SETS = torch.tensor([[0, 3], [2, -1], [-1, -1], [6, 1]])
INDICATORS = torch.tensor([[y in row for y in range(7)] for row in SETS.tolist()])


@every
def test_dimensions_behind_the_classes(name, loss):
    u, labels = batch(name, n=12)
    expected = nn.value(loss, u, labels, reduction="none")
    m = u.shape[1]
    deep = u.reshape(2, 2, 3, m).movedim(-1, 1)
    target = labels.reshape(2, 2, 3, *labels.shape[1:])
    target = target if labels.ndim == 1 else target.movedim(-1, 1)
    values = nn.value(loss, deep, target, reduction="none")
    assert values.shape == (2, 2, 3)
    torch.testing.assert_close(values.flatten(), expected)
    one = nn.value(loss, u[0], labels[0], reduction="none")
    assert one.shape == ()
    torch.testing.assert_close(one, expected[0])


@every
def test_reductions(name, loss):
    u, labels = batch(name)
    values = nn.value(loss, u, labels, reduction="none")
    torch.testing.assert_close(nn.value(loss, u, labels, reduction="sum"), values.sum())
    torch.testing.assert_close(nn.value(loss, u, labels), values.mean())


@pytest.mark.parametrize(("name", "loss"), OF_ONE, ids=str)
def test_weights_and_ignored_examples(name, loss):
    weight = torch.linspace(0.5, 2.0, 7)
    target = Y.clone()
    target[3] = -7
    values = nn.value(loss, U, Y, reduction="none") * weight[Y].double()
    values[3] = 0.0
    options = {"weight": weight, "ignore_index": -7}
    torch.testing.assert_close(nn.value(loss, U, target, reduction="none", **options), values)
    counted = weight[Y].double().sum() - weight[Y[3]]
    torch.testing.assert_close(nn.value(loss, U, target, **options), values.sum() / counted)
    scores = U.clone().requires_grad_()
    nn.value(loss, scores, target, **options).backward()
    assert not scores.grad[3].any()


@pytest.mark.parametrize("label_smoothing", [0.0, 0.3])
@pytest.mark.parametrize("weight", [None, torch.linspace(0.5, 2.0, 7).double()])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_softmax_is_torchs_cross_entropy(label_smoothing, weight, reduction):
    target = Y.clone()
    target[3] = -100
    options = {"weight": weight, "label_smoothing": label_smoothing, "reduction": reduction}
    torch.testing.assert_close(
        nn.SoftmaxLoss(**options)(U, target), functional.cross_entropy(U, target, **options)
    )


def test_label_sets_in_every_form():
    for name in ("multilabel_softmax", "multilabel_svm", "ova_svm", "ova_logistic"):
        expected = nn.value(name, U[:4], INDICATORS)
        for target in (SETS, INDICATORS.float(), SETS.int()):
            torch.testing.assert_close(nn.value(name, U[:4], target), expected)
        one = functional.one_hot(Y, 7).bool()
        torch.testing.assert_close(nn.value(name, U, Y), nn.value(name, U, one))


def test_weights_of_classes_are_those_of_their_terms():
    weight = torch.linspace(0.0, 3.0, 7).double()
    shares = INDICATORS / INDICATORS.sum(1, keepdim=True).clamp(min=1)
    logarithms = torch.log_softmax(U[:4], 1)
    torch.testing.assert_close(
        nn.value("multilabel_softmax", U[:4], INDICATORS, weight=weight, reduction="none"),
        -(shares * weight * logarithms).sum(1),
    )
    sign = INDICATORS * 2.0 - 1.0
    torch.testing.assert_close(
        nn.value("ova_svm", U[:4], INDICATORS, weight=weight, reduction="none"),
        (weight * (1 - sign * U[:4]).relu()).sum(1),
    )
    torch.testing.assert_close(
        nn.value("ova_logistic", U[:4], INDICATORS, weight=weight, reduction="none"),
        (weight * functional.softplus(-sign * U[:4])).sum(1),
    )


def test_label_smoothing_of_sets():
    smooth = 0.9 * INDICATORS + 0.05
    torch.testing.assert_close(
        nn.value("ova_logistic", U[:4], INDICATORS, label_smoothing=0.1, reduction="sum"),
        functional.binary_cross_entropy_with_logits(U[:4], smooth.double(), reduction="sum"),
    )
    shares = INDICATORS[:2] / INDICATORS[:2].sum(1, keepdim=True) * 0.9 + 0.1 / 7
    torch.testing.assert_close(
        nn.value("multilabel_softmax", U[:2], INDICATORS[:2], label_smoothing=0.1),
        functional.cross_entropy(U[:2], shares.double()),
    )


@every
def test_no_examples(name, loss):
    u, labels = batch(name)
    scores = u[:0].clone().requires_grad_()
    nn.value(loss, scores, labels[:0], reduction="sum").backward()
    assert scores.grad.shape == (0, u.shape[1])


@every
def test_the_meta_device(name, loss):
    """Nothing looks at a number where that would make a device wait."""
    u, labels = batch(name, m=300)
    scores = u.to("meta").requires_grad_()
    value = nn.value(loss, scores, labels.to("meta"))
    value.backward()
    assert value.device.type == scores.grad.device.type == "meta"
    assert value.shape == ()
    assert scores.grad.shape == u.shape


@every
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")  # by dynamo
def test_compiled_in_one_graph(name, loss):
    torch._dynamo.reset()
    u, labels = batch(name, m=300)
    criterion = nn.Loss(loss)
    compiled = torch.compile(criterion, fullgraph=True, backend="aot_eager")
    one, other = u.clone().requires_grad_(), u.clone().requires_grad_()
    compiled(one, labels).backward()
    criterion(other, labels).backward()
    torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.skipif(not shutil.which("g++"), reason="inductor needs a C++ compiler: g++")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # by dynamo and inductor
@pytest.mark.parametrize("loss", [losses.topk_svm_beta(2, 1.0), nn.LapSum(2)], ids=str)
def test_compiled_by_inductor(loss):
    torch._dynamo.reset()
    one, other = U.float().requires_grad_(), U.float().requires_grad_()
    torch.compile(nn.Loss(loss), fullgraph=True)(one, Y).backward()
    nn.Loss(loss)(other, Y).backward()
    torch.testing.assert_close(one.grad, other.grad)


@every
def test_autocast(name, loss):
    u, labels = batch(name, torch.float32, n=6, m=8)
    layer = torch.nn.Linear(8, 8)
    with torch.autocast("cpu", torch.bfloat16):
        scores = layer(u)
        assert scores.dtype == torch.bfloat16
        value = nn.value(loss, scores, labels)
    assert value.dtype == torch.float32
    value.backward()
    assert layer.weight.grad.isfinite().all()


MODULES = [
    nn.SVMLoss(1.0),
    nn.TopKSVMLoss(2, 0.5, "beta"),
    nn.ConsistentTopKSVMLoss(2),
    nn.SoftmaxLoss(),
    nn.TopKEntropyLoss(3),
    nn.TruncatedTopKEntropyLoss(2),
    nn.OneVsAllSVMLoss(),
    nn.OneVsAllLogisticLoss(),
    nn.MultilabelSVMLoss(1.0),
    nn.MultilabelSoftmaxLoss(),
    nn.LSEPLoss(),
    nn.SmoothTopKSVMLoss(2),
    nn.CalibratedTopKSVMLoss(2),
    nn.LapSumLoss(2),
]


def test_every_loss_is_tried():
    """What is public here is among the modules, and their losses among those of the laws."""
    public = [getattr(nn, name) for name in nn.__all__]
    modules = {item for item in public if inspect.isclass(item) and issubclass(item, nn.Loss)}
    assert {type(module) for module in MODULES} == modules - {nn.Loss}
    tried = {type(loss) for _, loss in EVERY}
    assert {type(module.loss) for module in MODULES} <= tried
    assert {item for item in public if inspect.isclass(item) and hasattr(item, "_fields")} <= tried


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_modules_hold_a_loss_and_nothing_else(module):
    expected = nn.value(module.loss, U, Y)
    for same in (module, pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        torch.testing.assert_close(same(U, Y), expected)
    assert not list(module.parameters())
    assert str(module.loss) in repr(module)


def test_buffers_move_with_the_module():
    counts = torch.tensor([1, 16, 81, 256, 1, 1, 1])
    module = nn.CalibratedTopKSVMLoss(2, margin=nn.class_margins(counts), weight=torch.ones(7))
    expected = module(U, Y)
    torch.testing.assert_close(module.double()(U, Y), expected)
    assert module.margin.dtype == module.weight.dtype == torch.float64
    assert module.to("meta").margin.device.type == "meta"


REFUSED = {
    "scores is a list; pass a torch.Tensor.": lambda: nn.value("svm", [[0.0]], Y),
    "scores have shape (12, 7) and dtype torch.int64; pass floats": lambda: nn.value(
        "svm", U.long(), Y
    ),
    "target has shape (12,) and dtype torch.float64, scores have (12, 7): pass integers of shape "
    "(12,), indicators": lambda: nn.value("svm", U, Y.double()),
    "target has shape (11,)": lambda: nn.value("svm", U, Y[:11]),
    "target has the scores' shape (4, 7) and dtype torch.int64: pass target.bool()": (
        lambda: nn.value("multilabel_svm", U[:4], INDICATORS.long())
    ),
    "target has the label 9; labels run from 0 to 6, and -100 is ignored.": lambda: nn.value(
        "svm", U, Y.new_full((12,), 9)
    ),
    "target has the label -1; labels run": lambda: nn.value("svm", U, Y - Y - 1),
    "TopKSvmAlpha is a loss of exactly one label; pass its number": lambda: nn.value(
        "svm", U[:4], INDICATORS
    ),
    "TopKEntropy with k = 7 needs at least 8 classes, not 7.": lambda: nn.value(
        losses.topk_entropy(7), U, Y
    ),
    "weight has shape (3,); pass one number for each of 7 classes.": lambda: nn.value(
        "svm", U, Y, weight=torch.ones(3)
    ),
    "MultilabelSvm has no weights of classes": lambda: nn.value(
        "multilabel_svm", U[:4], SETS, weight=torch.ones(7)
    ),
    "TopKSvmAlpha has no label_smoothing": lambda: nn.value("svm", U, Y, label_smoothing=0.1),
    "label_smoothing is 2.0; it must be in [0, 1].": lambda: nn.value(
        "softmax", U, Y, label_smoothing=2.0
    ),
    "reduction is 'average'; choose one of none, mean, sum.": lambda: nn.Loss(
        "svm", reduction="average"
    ),
    "variant is 'gamma'; choose one of alpha, beta.": lambda: nn.TopKSVMLoss(2, 0, "gamma"),
    "(1, 2) has no implementation in torch": lambda: nn.value((1, 2), U, Y),
    "temperature is 0; it must be positive.": lambda: nn.SmoothTopKSVMLoss(2, 0),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_refused_with_one_sentence(sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)


def test_a_network_is_trained():
    """The losses train: a linear layer on separable data ends with all labels in the top k."""
    torch.manual_seed(0)
    X = torch.randn(200, 10)
    target = (X @ torch.randn(10, 6)).argmax(1)
    for module in (nn.TopKSVMLoss(2, 1.0), nn.TopKEntropyLoss(2), nn.ConsistentTopKSVMLoss(2)):
        layer = torch.nn.Linear(10, 6)
        optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=50)

        def closure(layer=layer, optimizer=optimizer, module=module):
            optimizer.zero_grad()
            loss = module(layer(X), target)
            loss.backward()
            return loss

        before = closure().item()
        optimizer.step(closure)
        assert closure().item() < 0.3 * before
        accuracy = nn.TopKAccuracy(2)
        accuracy.update(layer(X), target)
        assert accuracy.compute() > 0.97


def test_as_many_others_as_k():
    """All others are at the cap: the hinge's projection has no free element."""
    u = torch.tensor([[0.0, 5.0, 4.0, 3.0]], dtype=torch.float64)
    for g in (1e-3, 1.0, 100.0):
        loss = losses.topk_svm_alpha(3, g)
        expected = losses.value(loss, np.asarray(u), [0])
        np.testing.assert_allclose(nn.value(loss, u, torch.tensor([0])), expected[0])
