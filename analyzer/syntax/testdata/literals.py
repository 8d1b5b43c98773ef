1, 0xFF, 1_000, 3j, 1.5, 1e-3, .5
'a' "b" r'\d' b'x' u'y'
"""triple
lines"""
'esc\n\x41\u00e9 \
end'
f'{x} {x!r:>{width}} {{literal}} {x=} {a["k"]:.2f}'
f"{', '.join(f"{y}" for y in z)}"
f'{yield}{*a,}{x, y}'
rf'{x}\d'
"é", "😀"
