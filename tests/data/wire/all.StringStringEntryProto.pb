
key1value2