"""Every feature of the product, through the doors that its scenarios name."""

from pytest_bdd import scenarios

scenarios(".")
