"""Audits made visible. Renderers compute nothing: every number comes from the Audit."""
