"""``make mutants``: is each promise kept by a guard that something would miss?"""
