"""Slots on a Ray cluster: an actor each, whose results lie with the driver."""
