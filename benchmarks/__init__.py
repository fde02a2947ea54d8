"""Measurements of speed, memory and quality; timings live here and never in a test's assertions."""
