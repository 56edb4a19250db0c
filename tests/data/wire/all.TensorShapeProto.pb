

dim_param3denotation4

dim_param6denotation7