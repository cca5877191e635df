"""Slow twins, written from the definitions by another method, sharing no code."""
