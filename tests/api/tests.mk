# Tests of api/.
