# Tests of sim/.
