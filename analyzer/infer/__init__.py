"""Inference: from observations of a template to findings, and from findings to a spec."""
