ÿÿÿÿÿÿÿÿÿ6

dim_param5denotation6

dim_param8denotation9