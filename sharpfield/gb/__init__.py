"""GB, the paper's method; read its files from top to bottom as the paper does.

params (section VII), kernels (every compiled loop), matches (eq. 10, 13), warp (eq. 11, 12), graph (eq. 8, 9),
problem (eq. 14 to 16), method (Algorithm 1).
"""
