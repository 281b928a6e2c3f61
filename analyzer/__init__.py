"""Reads how a model writes its turns out of its chat template, proves it, and parses with it."""
