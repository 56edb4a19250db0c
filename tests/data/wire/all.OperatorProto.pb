
op_type1þÿÿÿÿÿÿÿÿRdoc_string4