
name1"2denotation19:
domain17name18doc_string20"
key22value23"
key24value25