
dim_param2ýÿÿÿÿÿÿÿÿ