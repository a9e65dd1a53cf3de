"""Guards: what the IF of an event asks of its occurrences (SPEC §5).

In: the AST of a linked query, the occurrences of one item with their graphs. Out: the solutions of each
alias's block (`asks`), conditions as Python closures (`expressions`), and the filters over several aliases
for the plan (`filters_over`). Never here: reasoning, time order, joins between occurrences.
"""
