"""How good a shortlist is."""
