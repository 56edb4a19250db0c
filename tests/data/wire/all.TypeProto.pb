2denotation40:
domain38name39