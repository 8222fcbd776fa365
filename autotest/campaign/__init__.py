"""Campaigns: hours of search by rounds of tests, which go on where they were stopped."""
