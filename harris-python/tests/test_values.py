"""Configurations, keypoints and matches as values: equality, text, pickling."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import harris
from scenes import scene

CONFIGS = [harris.Config(name) for name in harris.presets()] + [
    harris.Config(
        smoothing=("gaussian", 7, 1.3),
        gradient="gaussian_derivative:5:0.9",
        window=("gaussian", np.int64(9), np.float64(2.7)),
        measure=("triggs", 0.1),
        threshold=("absolute", 1e-30),
        border="skip",
        margin=int(np.int32(3)),
        suppression_radius=4,
        plateau="all",
        ties="descending",
        min_distance=50**0.5,
        max_corners=9,
        order="raster",
        subpixel=("forstner", 5),
    ),
    harris.Config(smoothing=None, threshold=None, subpixel=None, max_corners=None),
    harris.Config(measure="shi_tomasi"),
]
BLOBS = [harris.FastHessianConfig(name) for name in harris.FastHessianConfig.presets()] + [
    harris.FastHessianConfig(octaves=3, intervals=5, step=1, threshold=0.1, max_keypoints=7)
]


@pytest.mark.parametrize("config", [*CONFIGS, *BLOBS], ids=repr)
def test_configurations_come_back(config: Any) -> None:
    text = config.to_json()
    assert type(config).from_json(text) == config
    assert json.loads(text)["color"] is False
    assert json.loads(config.to_json(color=True))["color"] is True
    assert eval(repr(config), {"harris": harris}) == config
    assert config.replace() == config
    assert type(config)(config) == config
    for again in (pickle.loads(pickle.dumps(config)), copy.deepcopy(config), copy.copy(config)):
        assert again == config
        assert hash(again) == hash(config)


def test_configurations_differ() -> None:
    assert len(set(CONFIGS)) == len(CONFIGS) - 0
    assert harris.Config() != harris.Config(margin=1)
    assert harris.Config() != "default"
    changed = harris.Config("opencv_gftt").replace(window="box:5", max_corners=20)
    assert (changed.window, changed.max_corners, changed.margin) == ("box:5", 20, 1)
    assert changed.support_radius == 3


def test_a_configuration_file_of_the_program_is_read() -> None:
    text = """{"detector": "harris", "color": true,
               "harris": {"measure": {"harris": {"k": 0.06}}, "window": {"box": {"size": 5}}}}"""
    assert harris.Config.from_json(text) == harris.Config(measure="harris:0.06", window="box:5")
    assert harris.Config.from_json("{}") == harris.Config()


def test_keypoints_are_views_of_one_table() -> None:
    found = harris.Detector(backend="cpu").detect(scene())
    table = np.asarray(found)
    assert table is found.table
    assert table.shape == (len(found), 4)
    assert table.dtype == np.float32
    for part in (found.xy, found.scale, found.response):
        assert np.shares_memory(part, table)
    assert found.xy.shape == (len(found), 2)
    assert found.scale.tolist() == [1.0] * len(found)
    assert (np.diff(found.response) <= 0).all()
    rows = list(found)
    assert rows[0] == found[0] == harris.Keypoint(*table[0].tolist())
    assert found[-1] == rows[-1]
    assert found[np.int64(2)] == rows[2]
    assert list(found[2:5]) == rows[2:5]
    assert list(found[[4, 1]]) == [rows[4], rows[1]]
    assert list(found[found.response > found.response[5]]) == rows[:5]
    with pytest.raises(IndexError):
        found[len(found)]
    assert np.asarray(found, np.float64).dtype == np.float64
    assert np.array(found, copy=True) is not table


def test_keypoints_as_values() -> None:
    found = harris.Detector(backend="cpu").detect(scene())
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again == found
        assert not np.shares_memory(again.table, found.table)
    assert found != found[1:]
    assert found != 3
    assert "in all" in repr(found)
    assert repr(found[:1]).startswith("harris.Keypoints([[")
    points = harris.Keypoints([[3, 4], [5, 6]])
    assert list(points) == [(3, 4, 1, 0), (5, 6, 1, 0)]
    empty = harris.Detector().detect(np.zeros((9, 9), np.uint8))
    assert len(empty) == 0
    assert empty.table.shape == (0, 4)
    assert empty == harris.Keypoints(np.zeros((0, 4)))
    with pytest.raises(harris.InputError, match="the shape"):
        harris.Keypoints([1, 2, 3])
    with pytest.raises(TypeError):
        hash(found)


def test_detectors_are_pickled_as_new_ones() -> None:
    image = scene()
    made: list[Any] = [
        harris.Detector("opencv_gftt", max_corners=9, threads=2),
        harris.Detector(backend="reference", window="box:5"),
        harris.FastHessian(octaves=2),
        harris.Surf(magnification=2.5, upright=True),
        harris.Features(harris.Config("lococo_2011"), magnification=2.0),
        harris.Matcher(0.8, cross_check=True),
    ]
    for one in made:
        again = pickle.loads(pickle.dumps(one))
        assert again is not one
        assert again.backend == one.backend
        for name in ("config", "upright", "magnification", "ratio", "cross_check", "detector"):
            assert getattr(again, name, None) == getattr(one, name, None)
    assert pickle.loads(pickle.dumps(made[0])).detect(image) == made[0].detect(image)


def test_matches_are_arrays() -> None:
    train = np.eye(4, 64, dtype=np.float32)
    matches = harris.Matcher().match(train[[2, 0]], train)
    assert matches.query.dtype == matches.train.dtype == np.int64
    assert matches.distance.dtype == np.float32
    assert matches.train.tolist() == [2, 0]
    empty = harris.Matcher().match(train[:0], train)
    assert [len(array) for array in empty] == [0, 0, 0]
