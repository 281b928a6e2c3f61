"""Verification: every spec proves itself by round trips through the template and the runtime."""
