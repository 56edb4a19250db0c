
domain1name2