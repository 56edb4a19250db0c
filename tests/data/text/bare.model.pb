:gZ
xb
y