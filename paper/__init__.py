"""The paper, reproduced: one module a table or figure; `python -m paper.circle` runs one.

=================  ==============================================================================
module             what it is
=================  ==============================================================================
`methods`          the rows of the paper's tables, as losses
`published`        the paper's numbers, from `published/*.csv`
`record`           our numbers, in `results/*.json`: each cell is stored when it is done
`protocol`         how parameters are chosen for each metric, and how noisy the choice is
`grid`, `scout`    which part of the paper's grids is tried for label sets
`thinning`         thinned grids beside whole ones
`verdict`          when a number agrees with the paper's
`figures`          the paper's figures, from our numbers
`page`, `tables`, `measured`, `conclusions`  the parts of the page
`render`           RESULTS.md and results.html, from the two
=================  ==============================================================================
"""
