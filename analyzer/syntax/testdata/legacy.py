print "x", y
print >> sys.stderr, "z"
exec "code" in scope
