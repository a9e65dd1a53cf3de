"""The strata of a plan at one instant: what they read, what they report, and their deadlines."""
