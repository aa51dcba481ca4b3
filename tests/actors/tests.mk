# Tests of actors/.
