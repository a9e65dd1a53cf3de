"""Another query in place of one that runs: what keeps its state, what begins anew, what goes."""
