# Tests of graph/.
