
f