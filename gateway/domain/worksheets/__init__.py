"""Worksheets: will a model fit, how long will an answer take, what will it cost.

Pure arithmetic over what somebody entered. No number here is a promise; every one says what it rests on.
"""
