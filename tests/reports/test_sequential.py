"""The sequential test: its bounds, answers and errors of design. Error rates are in test_calibration."""

import math

import pytest

from reports.sequential import AfterTest, Design, DesignError, decide, estimate_after

LOOKS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)


def at(mean, looks, variance=0.25, **rates):
    return decide(Design(0.02, LOOKS, **rates), [mean] * looks, [variance] * looks)


def test_the_log_likelihood_ratio_is_that_of_two_normal_means():
    d = at(0.005, 1)
    assert d.up == pytest.approx(1_000 * 0.02 * (2 * 0.005 - 0.02) / (2 * (0.25 + 0.001)))
    assert d.down == pytest.approx(1_000 * -0.02 * (2 * 0.005 + 0.02) / (2 * (0.25 + 0.001)))


def test_the_bounds_are_walds_with_alpha_in_two_parts():
    assert Design(0.02, LOOKS).bounds == pytest.approx((math.log(0.05 / 0.975), math.log(0.95 / 0.025)))


@pytest.mark.parametrize(("mean", "answer"), [(0.03, "better"), (-0.03, "worse"), (0.0, "neither")])
def test_answers(mean, answer):
    d = at(mean, 6)
    assert d.answer == answer
    assert d.blocks < 32_000


def test_better_and_worse_mirror_each_other():
    for mean in (0.001, 0.008, 0.012, 0.02, 0.05):
        for looks in range(1, 7):
            a, b = at(mean, looks), at(-mean, looks)
            assert {a.answer, b.answer} in ({"better", "worse"}, {"neither"}, {"undecided"})
            assert (a.up, a.down, a.not_better, a.not_worse) == (b.down, b.up, b.not_worse, b.not_better)


def test_undecided_is_an_answer_that_tells_what_is_settled():
    d = at(0.01, 6)  # half-way: the ratio for the upper side stays at 0
    assert d.answer == "undecided"
    assert d.blocks == 32_000
    assert d.not_worse
    assert not d.not_better


def test_a_side_that_has_decided_does_not_change_its_mind():
    design = Design(0.02, LOOKS)
    # after 4,000 blocks A is surely not better by 0.02; what follows looks as if it were
    d = decide(design, [-0.01, -0.01, -0.015, 0.05, 0.05, 0.05], [0.25] * 6)
    assert d.answer == "neither"
    # and looks after the deciding one change nothing
    assert decide(design, [0.09, -0.9, -0.9], [0.25] * 3) == decide(design, [0.09], [0.25])


def test_blocks_that_all_went_alike_are_not_infinite_evidence():
    d = decide(Design(0.02, (10, 100)), [1.0], [0.0])
    assert math.isfinite(d.up)
    assert d.answer == "undecided"


def test_an_estimate_after_a_test_is_wider_and_says_so():
    d = at(0.03, 6)
    after = estimate_after(Design(0.02, LOOKS), d, draws=4_000)
    assert isinstance(after, AfterTest)
    assert after.label == "after a sequential test"
    assert after.estimate.value == 0.03
    assert 1.05 < after.factor < 1.3
    assert after.estimate.high - 0.03 == pytest.approx(after.factor * 1.961 * after.estimate.se, rel=1e-3)
    # a test that looks once only stops where an ordinary interval does
    single = Design(0.02, (1_000,))
    assert estimate_after(single, decide(single, [0.03], [0.25])).factor == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"d": 0.0}, "d = 0: a difference of win share"),
        ({"d": 1.5}, "d = 1.5"),
        ({"alpha": 0.5}, "alpha = 0.5: an error rate lies between 0 and 0.5"),
        ({"beta": 0.0}, "beta = 0"),
        ({"looks": ()}, r"looks \(\)"),
        ({"looks": (10, 10)}, "block counts rise"),
    ],
)
def test_designs_that_can_not_be(bad, message):
    with pytest.raises(DesignError, match=message):
        Design(**{"d": 0.02, "looks": LOOKS, **bad})


def test_more_looks_than_planned_are_refused():
    with pytest.raises(ValueError, match="2 means and 2 variances for 1 looks"):
        decide(Design(0.02, (100,)), [0.0, 0.0], [1.0, 1.0])
