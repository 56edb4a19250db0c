ÿÿÿÿÿÿÿÿÿ"2denotation19:
domain17name18