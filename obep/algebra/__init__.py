"""Groups of SPARQL 1.1 (DIALECTS 2, D15 to D18), and aggregates over their rows.

In: the AST of a group or a SELECT; a `Dataset`, which the caller provides: a default graph, named graphs,
windows, and the rows of states and events. Out: rows, tuples of terms in the order of the columns.

    query = translate(group)                          # once; checks the expressions
    query.columns                                     # the names of the variables
    evaluate(query, dataset, now)                     # a bag: the rows as a list

Where facts come and leave, a live group keeps the rows, at the cost of what changes:

    is_incremental(query)                             # why not, or None
    live = LiveGroup(query, {DEFAULT_GRAPH: k})       # graphs that do not change are looked up
    live.graph(window_graph("now")).add(triple)       # and remove; a triple is there or not
    live.atom(atom_source(state)).add(row)
    live.changes(now)                                 # {row: by how much its number has changed}

Terms stay as they are written (D16): joins compare terms, FILTER compares values. An answer over a limit
raises `Refused` (OBEP645). Never here: time order of events, reasoning, the closure of a graph.
"""
