"""Settings that all tests share."""

from hypothesis import settings

# No timing in tests: the first example of a test may compile what it calls.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
