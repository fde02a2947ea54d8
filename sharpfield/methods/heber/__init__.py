"""Heber and Pock: the views, warped to one of them, are a matrix of low rank plus a sparse one, at high resolution.

For every view i as the reference, L = u 1ᵀ + M being the matrix whose columns are high-resolution images, one for
each view j of a window around i, all in the geometry of i,

    minimise   θ ||M||_* + δ Σ m |s| + ½ Σⱼ Σₓ mⱼ(x) ((P_j B (u + Mⱼ))(x) + sⱼ(x) - vⱼ(x))² + α TV(u)

over 0 <= u <= 1, M and s. Here vⱼ(x) are the samples x of view j, B is the camera's blur, P_j looks at the place in
view i where the disparity of the sample says that its point is, and mⱼ(x) in [0, 1] says how much it counts; the
sparse s takes occlusions and wrong warps. The result is the column of view i, u + Mᵢ. S. Heber and T. Pock, Shape from
light field meets robust PCA, ECCV 2014, from the publication alone: min ||L||_* + μ ||S||_1 + the regularity of the
disparity, L + S the warped views, and the variant with L at high resolution seen through blur and decimation.

Where it departs from the publication, and why:

- **What all views share is not penalised.** The nuclear norm of the whole L also pulls at its largest singular value,
  which is the image itself, and darkens it; that of M, what the views have beside the shared column, does not. L has
  low rank if and only if M has.
- **A quadratic term beside the sparse one** (stable robust PCA, Zhou et al. 2010). The differences of views in 8 bits,
  warped by estimated disparities, are never exactly 0; least absolute differences alone are slow and noisier.
- **Samples are not interpolated.** The publication warps a view by interpolating it, and at low resolution it is
  aliased. Since every view is a reference in its turn, every sample has a disparity of its own; it is left where it
  lands between the pixels of the high-resolution images, and those are interpolated.
- **mⱼ.** The farther a view, the more a wrong disparity displaces its samples: it falls with the steps between views,
  and with the distance between the places that the disparities of both views give the sample.
- **Disparities from a sweep over the whole range,** coupled with total variation (Steinbrücker et al. 2009), where the
  publication linearises warps from coarse to fine with the rank as the matching term: that needs a start, and
  small things are lost on coarse levels. The cost is the sparse norm of the stack less the reference's column,
  on the side of the reference (left, right, above, below) where it is least, because things hide points on one side.
  What is left of the disparity's error, which grows with the steps between views, is taken by M: it has two singular
  values that stand apart, about one for each direction of the grid.
- **Total variation of u**, a little: where disparities are whole pixels of the low resolution, all views show the same
  samples and the rank says nothing about what is between them.
- A window of 5x5 views instead of the whole grid, luma alone, as all methods here; 0 <= u <= 1.

    params.py        options, what it needs, which views are stacked
    kernels.py       every compiled loop
    disparity.py     sweep, total variation -> disparity of a view
    low_rank.py      the stack of one reference: singular value thresholding, the shared column
    method.py        all of it
"""
