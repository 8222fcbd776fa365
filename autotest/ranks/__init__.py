"""Runs of several ranks: their launcher, and how they agree."""
