
tensor_name1
key3value4
key5value6