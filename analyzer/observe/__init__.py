"""Observing a template: needles, probes, the session that renders them, lexemes and alignment."""
