# Tests of model/.
