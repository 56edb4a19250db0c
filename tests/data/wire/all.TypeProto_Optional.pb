
"2denotation18:
domain16name17