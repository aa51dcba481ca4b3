# Tests of schemas/.
