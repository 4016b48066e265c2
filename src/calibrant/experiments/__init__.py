"""The paper's experiments, done again."""
