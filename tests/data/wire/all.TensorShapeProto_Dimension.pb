
dim_param2denotation3