"""Audits of trees and forests, leaf by leaf."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import calibrant as cb
from calibrant.errors import InputError


def data(rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, rng.random(rows) < 1 / (1 + np.exp(-1.5 * X[:, 0] + X[:, 1] ** 2 - 1))


class TestAuditRegions:
    def test_of_a_tree_every_leaf_is_found(self):
        X, y = data(6000, 7)
        tree = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X[:3000], y[:3000])
        found = cb.audit_regions(tree, X[3000:], y[3000:])
        leaves = tree.apply(X[3000:])
        for one in found:
            if one.pooled:
                continue
            inside = leaves == one.group["region"]
            assert one.rows == inside.sum()
            assert one.observed_rate == pytest.approx(y[3000:][inside].mean())
            # within a leaf all scores are the same
            gap = abs(one.observed_rate - one.mean_prediction)
            assert one.calibration_error == pytest.approx(gap, abs=1e-12)
        assert sum(one.rows for one in found) == 3000
        assert sum(not one.pooled for one in found) >= 4

    def test_a_leaf_that_is_off_is_marked_and_only_that(self):
        rng = np.random.default_rng(8)
        X = rng.integers(0, 4, (40_000, 1)).astype(float)
        rate = np.array([0.2, 0.4, 0.6, 0.8])
        y = rng.random(40_000) < rate[X[:, 0].astype(int)]
        model = cb.PartitionClassifier(lambda rows: rows[:, 0].astype(int)).fit(X, y)
        later = rng.random(40_000) < np.array([0.2, 0.4, 0.9, 0.8])[X[:, 0].astype(int)]
        found = cb.audit_regions(model, X, later)
        assert [one.group["region"] for one in found if one.certain] == [2]

    def test_of_a_forest_every_tree(self):
        X, y = data(3000, 9)
        words = np.where(y, "yes", "no")
        forest = RandomForestClassifier(3, max_leaf_nodes=4, random_state=0)
        forest.fit(X[:1500], words[:1500])
        found = cb.audit_regions(forest, X[1500:], words[1500:])
        assert {name for one in found for name in one.columns} == {
            f"leaf of tree {number}" for number in (1, 2, 3)
        }
        assert sum(one.rows for one in found) == 3 * 1500
        other = cb.audit_regions(forest, X[1500:], words[1500:], pos_label="no")
        assert {one.rows for one in other} == {one.rows for one in found}
        assert other[0].observed_rate + found[0].observed_rate == pytest.approx(1)

    def test_certificates_of_all_trees_hold_at_once(self):
        X, y = data(3000, 10)
        trees = {
            count: RandomForestClassifier(count, max_leaf_nodes=2, random_state=0).fit(X, y)
            for count in (1, 10)
        }
        fresh, outcome = data(3000, 11)
        for count, model in trees.items():
            found = cb.audit_regions(model, fresh, outcome)
            leaves = {
                name: [one for one in found if one.columns == name]
                for name in {one.columns for one in found}
            }
            assert len(leaves) == count
            for regions in leaves.values():
                for one in regions:
                    assert one.certificate.statements == len(regions)
                    assert one.certificate.confidence == pytest.approx(1 - 0.05 / count)

    def test_models_without_regions_are_refused(self):
        from sklearn.linear_model import LogisticRegression

        X, y = data(100, 0)
        with pytest.raises(InputError, match="with apply, but LogisticRegression has none"):
            cb.audit_regions(LogisticRegression().fit(X, y), X, y)
        many = DecisionTreeClassifier().fit(X, np.arange(100) % 3)
        with pytest.raises(InputError, match="3 classes"):
            cb.audit_regions(many, X, y)
        tree = DecisionTreeClassifier().fit(X, y.astype(int))
        with pytest.raises(InputError, match=r"pos_label must hold labels.* holds 7"):
            cb.audit_regions(tree, X, y, pos_label=7)
        with pytest.raises(InputError, match=r"labels that the model knows, 0 and 1.*'yes'"):
            cb.audit_regions(tree, X, np.full(100, "yes"))
        with pytest.raises(InputError, match="fit it first"):
            cb.audit_regions(DecisionTreeClassifier(), X, y)
