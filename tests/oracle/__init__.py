"""An evaluator written from SPEC.md that shares no code with the operators, and the random cases for it."""
