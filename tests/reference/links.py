"""Calibrators of links by name, and the parameters of a fitted one."""

import numpy as np

import calibrant as cb

KINDS = {
    "platt": cb.PlattCalibrator,
    "beta": cb.BetaCalibrator,
    "temperature": cb.TemperatureCalibrator,
}


def theta_of(link):
    return np.array([link.a, link.b, link.c])
