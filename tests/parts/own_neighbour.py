"""Imported by the parts of tests.parts.own."""

HALF = 0.5
