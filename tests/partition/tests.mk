# Tests of partition/.
