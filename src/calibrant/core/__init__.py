"""The one idea: tally, diagram, minorant, and what is read off them. No input, no output."""
